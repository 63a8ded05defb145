import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import './tabs.css';

export interface Tab<Name extends string> {
  readonly name: Name;
  readonly text: ComponentChildren;
}

/** Shows one of several panels; the arrows move between them, and the parent gives the chosen one. */
export function Tabs<Name extends string>({
  label,
  tabs,
  current,
  onChange,
  children,
}: {
  readonly label: string;
  readonly tabs: readonly Tab<Name>[];
  readonly current: Name;
  readonly onChange: (name: Name) => void;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (list.current === null) return undefined;
    const { current: element } = list;
    const sign = (): void => signMore(element);
    // Also when the page becomes narrower.
    const observer = new ResizeObserver(() => {
      showChosen(element);
      sign();
    });
    observer.observe(element);
    element.addEventListener('scroll', sign, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', sign);
    };
  }, [current]);
  function move(event: KeyboardEvent): void {
    const at = tabs.findIndex(({ name }) => name === current);
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: (at + 1) % tabs.length,
      ArrowLeft: (at + tabs.length - 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    const next = steps[event.key];
    const tab = next === undefined ? undefined : tabs[next];
    if (tab === undefined) return;
    event.preventDefault();
    onChange(tab.name);
    list.current?.querySelectorAll('button')[next ?? 0]?.focus();
  }
  return (
    <div class="tabs">
      <div ref={list} class="tabs-list" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name, text }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === current}
            aria-controls={`${id}-panel`}
            tabIndex={name === current ? 0 : -1}
            onClick={() => onChange(name)}
          >
            {text}
          </button>
        ))}
      </div>
      <div
        class="tabs-panel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${current}`}
        tabIndex={0}
      >
        {children}
      </div>
    </div>
  );
}

/** Pixels of the next tab that are seen beside the chosen one. */
const PEEK = 40;

/** Scrolls a list of tabs sideways until the chosen one is in sight, and a part of the next one. */
function showChosen(list: Element): void {
  const tab = list.querySelector('[aria-selected="true"]')?.getBoundingClientRect();
  if (tab === undefined) return;
  const { left, right } = list.getBoundingClientRect();
  list.scrollLeft += Math.min(tab.left - left - PEEK, Math.max(0, tab.right + PEEK - right));
}

/** Marks at which ends there are more tabs than have room. */
function signMore(list: Element): void {
  list.toggleAttribute('data-before', list.scrollLeft > 1);
  list.toggleAttribute('data-after', list.scrollLeft + list.clientWidth < list.scrollWidth - 1);
}
