import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';
import { Button, IconButton } from './button.tsx';
import './menu.css';

export interface MenuItem {
  readonly text: string;
  readonly icon: IconName;
  readonly act: () => void;
}

/** Shows a button that opens a list of actions. The arrows move in it, Esc closes it. */
export function Menu({
  label,
  icon,
  isLabelShown = false,
  isBusy = false,
  isDisabled = false,
  about,
  items,
}: {
  readonly label: string;
  readonly icon: IconName;
  /** Shows the label beside the icon. Default: false, it is a tooltip. */
  readonly isLabelShown?: boolean;
  /** Shows that an action is at work, and opens no list; for one with a shown label. */
  readonly isBusy?: boolean;
  /** Opens no list, as there is nothing to act on yet; for one with a shown label. */
  readonly isDisabled?: boolean;
  /** Shown above the actions. */
  readonly about?: ComponentChildren;
  readonly items: readonly MenuItem[];
}) {
  const [isOpen, setOpen] = useState(false);
  const around = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    itemsIn(list.current)[0]?.focus();
    const leave = ({ target }: Event): void => {
      if (target instanceof Node && around.current?.contains(target) !== true) setOpen(false);
    };
    document.addEventListener('pointerdown', leave);
    return () => document.removeEventListener('pointerdown', leave);
  }, [isOpen]);

  const toggle = (): void => setOpen(!isOpen);

  function close(): void {
    setOpen(false);
    around.current?.querySelector('button')?.focus();
  }

  function move(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
      return;
    }
    if (event.key === 'Tab') setOpen(false);
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const all = itemsIn(list.current);
    const at = all.findIndex((item) => item === document.activeElement);
    all[(at + step + all.length) % all.length]?.focus();
  }

  return (
    <div class="menu" ref={around}>
      {isLabelShown ? (
        <Button {...{ icon, isBusy, isDisabled }} hasPopup isExpanded={isOpen} onPress={toggle}>
          {label}
        </Button>
      ) : (
        <IconButton {...{ icon, label }} hasPopup isExpanded={isOpen} onPress={toggle} />
      )}
      {isOpen && (
        <div class="menu-card card" onKeyDown={move}>
          {about !== undefined && <div class="menu-about muted small">{about}</div>}
          <div ref={list} role="menu" aria-label={label}>
            {items.map(({ text, icon: shown, act }) => (
              <button
                key={text}
                type="button"
                role="menuitem"
                class="menu-item"
                tabIndex={-1}
                onClick={() => {
                  close();
                  act();
                }}
              >
                <Icon name={shown} size={16} />
                {text}
              </button>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}

function itemsIn(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
}
