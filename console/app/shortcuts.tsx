import { useEffect } from 'preact/hooks';
import { navigate } from '../route/router.ts';
import { Dialog } from '../ui/dialog.tsx';
import { VIEWS } from './views.ts';

/** The time between `g` and the letter behind it. */
const PAIR_MS = 1200;

/** Handles the keys that open views and dialogs, unless the user is typing. */
export function useShortcuts({
  onHelp,
  onPalette,
}: {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
}): void {
  useEffect(() => {
    let goneAt = 0;
    const press = (event: KeyboardEvent): void => {
      const { key, target } = event;
      // Also while something is typed: the browser has no use of its own for it that one would miss.
      if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'k' && !event.altKey && !event.shiftKey) {
        if (document.querySelector('dialog[open]') !== null) return;
        event.preventDefault();
        onPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      if (Date.now() - goneAt < PAIR_MS) {
        goneAt = 0;
        const view = VIEWS.find((each) => each.key === key);
        if (view === undefined) return;
        event.preventDefault();
        navigate(`/${view.place}`);
      } else if (key === 'g') goneAt = Date.now();
      else if (key === '?') onHelp();
      else if (key === '/') {
        // Lists without a search are narrowed by a choice.
        const field = document.querySelector('[data-search]') ?? document.querySelector('main select');
        if (!(field instanceof HTMLElement)) return;
        event.preventDefault();
        field.focus();
      }
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [onHelp, onPalette]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        <dt>
          <kbd>Ctrl</kbd>
          <kbd>K</kbd>
        </dt>
        <dd>Go anywhere by its name, or do something</dd>
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>Search in this view</dd>
        {VIEWS.map(({ name, key, title }) => [
          <dt key={`${name}-key`}>
            <kbd>g</kbd>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={name}>{title}</dd>,
        ])}
        <dt>
          <kbd>↑</kbd>
          <kbd>↓</kbd>
        </dt>
        <dd>Move in a table; Enter opens</dd>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>Close what is in front</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>This list</dd>
      </dl>
    </Dialog>
  );
}
