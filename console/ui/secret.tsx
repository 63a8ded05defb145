import { CopyButton } from './values.tsx';
import './secret.css';

/** Shows a secret, which is on the page once, with a button that copies it. */
export function Secret({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="secret">
      <code>{text}</code>
      <CopyButton text={text} label={label} />
    </div>
  );
}
