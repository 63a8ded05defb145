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
    // Also when the page becomes narrower.
    const observer = new ResizeObserver(([entry]) => entry && showChosen(entry.target));
    observer.observe(list.current);
    return () => observer.disconnect();
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

/** Scrolls a list of tabs sideways until the chosen one is in sight. */
function showChosen(list: Element): void {
  const tab = list.querySelector('[aria-selected="true"]')?.getBoundingClientRect();
  if (tab === undefined) return;
  const { left, right } = list.getBoundingClientRect();
  list.scrollLeft += Math.min(tab.left - left, Math.max(0, tab.right - right));
}
