import { useState } from 'preact/hooks';
import { useAction } from '../data/query.ts';
import { signIn } from '../data/session.ts';
import { Button } from '../ui/button.tsx';
import { Input } from '../ui/field.tsx';
import { ErrorBanner } from '../ui/states.tsx';

/** Signs in with a pasted token; it is sent once, and not kept in the page. */
export function SignInForm({ failed }: { readonly failed?: unknown }) {
  const [token, setToken] = useState('');
  const action = useAction(async (given: string) => {
    await signIn({ token: given });
    setToken('');
  });
  const error = action.error ?? failed;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== '') void action.run(token.trim());
      }}
    >
      <p class="muted">
        On the machine of the service, <code>gex ui</code> opens this page signed in. Or paste a token: the
        first start of <code>gex serve</code> prints one.
      </p>
      <Input label="Token" type="password" value={token} onInput={setToken} isMono hasFocus />
      {error !== undefined && <ErrorBanner error={error} />}
      <div>
        <Button kind="primary" type="submit" isBusy={action.isRunning} isDisabled={token.trim() === ''}>
          Sign in
        </Button>
      </div>
    </form>
  );
}

export function SignInPage({ failed }: { readonly failed?: unknown }) {
  return (
    <main class="sign-in">
      <div class="card sign-in-card">
        <h1>Sign in</h1>
        <SignInForm failed={failed} />
      </div>
    </main>
  );
}
