import { useState } from 'preact/hooks';
import { shownLines } from '../../src/lib/shown-text.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { bytesText, CopyButton } from './values.tsx';

/** A page of it: more at once would keep the browser busy. */
const STEP = 50_000;

/** Shows a long text at the side that does not fit into its cell. */
export function WholeText({
  title,
  text,
  onClose,
}: {
  readonly title: string;
  readonly text: string;
  readonly onClose: () => void;
}) {
  const [shown, setShown] = useState(STEP);
  return (
    <Dialog title={title} onClose={onClose} form="side">
      <div class="spread">
        <span class="muted small">{bytesText(new Blob([text]).size)}</span>
        <CopyButton text={text} />
      </div>
      <pre class="whole-text" tabIndex={0} aria-label={title}>
        <bdi>{shownLines(text.slice(0, shown))}</bdi>
      </pre>
      {shown < text.length && (
        <Button onPress={() => setShown(shown + 4 * STEP)}>
          Show more: {bytesText(text.length - shown)} are left
        </Button>
      )}
    </Dialog>
  );
}
