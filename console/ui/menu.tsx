import { useEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import './menu.css';

export interface MenuItem {
  readonly text: string;
  readonly icon?: IconName;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly onChoose: () => void;
}

/** What else can be done: the arrows move, a letter jumps, Escape closes. */
export function Menu({ label, items }: { readonly label: string; readonly items: readonly MenuItem[] }) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const buttons = (): HTMLButtonElement[] => [
    ...(root.current?.querySelectorAll<HTMLButtonElement>('[role="menuitem"]:not(:disabled)') ?? []),
  ];
  const close = (): void => {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  };
  useEffect(() => {
    if (!isOpen) return undefined;
    buttons()[0]?.focus();
    const leave = (event: Event): void => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) setOpen(false);
    };
    document.addEventListener('pointerdown', leave);
    document.addEventListener('focusin', leave);
    return () => {
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('focusin', leave);
    };
  }, [isOpen]);
  function move(event: KeyboardEvent): void {
    if (!isOpen) return;
    const all = buttons();
    const at = all.findIndex((button) => button === document.activeElement);
    const letter = all.find((button) =>
      button.textContent?.toLowerCase().startsWith(event.key.toLowerCase()),
    );
    const steps: Readonly<Record<string, HTMLButtonElement | undefined>> = {
      ArrowDown: all[(at + 1) % all.length],
      ArrowUp: all[(at + all.length - 1) % all.length],
      Home: all[0],
      End: all.at(-1),
    };
    if (event.key === 'Escape') close();
    else if (event.key in steps) steps[event.key]?.focus();
    else if (event.key.length === 1 && event.key !== ' ' && letter !== undefined) letter.focus();
    else return;
    event.preventDefault();
  }
  return (
    <div class="menu" ref={root} onKeyDown={move}>
      <IconButton icon="more" label={label} hasPopup isExpanded={isOpen} onPress={() => setOpen(!isOpen)} />
      {isOpen && (
        <div class="menu-items" role="menu" aria-label={label}>
          {items.map(({ text, icon, isDanger, isDisabled, onChoose }) => (
            <button
              key={text}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={isDanger === true ? 'menu-danger' : undefined}
              disabled={isDisabled === true}
              onClick={() => {
                close();
                onChoose();
              }}
            >
              {icon && <Icon name={icon} size={16} />}
              {text}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
