import type { Token } from '../../data/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Banner } from '../../ui/states.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Text } from '../../ui/values.tsx';

/** Shows the token itself. Only its button closes it, since there is no way back. */
export function SecretOnce({ token, onClose }: { readonly token: Token; readonly onClose: () => void }) {
  return (
    <Dialog title="Copy the token now">
      <p>
        This is the only time that <Text>{token.description}</Text> is shown: the service keeps no copy that
        could be read.
      </p>
      {token.token === undefined ? (
        <Banner kind="warn">The service gave no token. Refresh it to get one.</Banner>
      ) : (
        <Secret text={token.token} label="Copy the token" />
      )}
      <div>
        <Button kind="primary" onPress={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}
