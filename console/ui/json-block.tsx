import { shownLines } from '../../src/lib/shown-text.ts';
import { CopyButton } from './values.tsx';
import './json-block.css';

/** More of it would keep the browser busy; it can be copied whole. */
const MOST = 200_000;

/** Shows a value as JSON, to be read and copied. */
export function JsonBlock({ label, value }: { readonly label: string; readonly value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? 'null';
  const isCut = text.length > MOST;
  return (
    <div class="json-block">
      <div class="json-block-copy">
        <CopyButton text={text} label={`Copy: ${label}`} />
      </div>
      <pre tabIndex={0} aria-label={label}>
        <bdi>{shownLines(isCut ? `${text.slice(0, MOST)}\n…` : text)}</bdi>
      </pre>
    </div>
  );
}
