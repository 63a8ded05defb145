import { useLayoutEffect, useMemo, useState } from 'preact/hooks';

/** Widths at which nothing of what is drawn in a column is cut, by its id. */
type Needs = Readonly<Record<string, number>>;

interface Fitting {
  readonly id: string;
  readonly width?: number | undefined;
  readonly align?: 'right' | undefined;
  readonly grow?: number | undefined;
}

/**
 * Returns edges of columns: as wide as they want to be, less where nothing in them needs it, more where something does,
 * and wider if there is room.
 */
export function useEdges(columns: readonly Fitting[], room: number, needs: Needs): readonly number[] {
  return useMemo(() => {
    const widths = columns.map(({ id, width = 160 }) => Math.min(width, needs[id] ?? width));
    let free = Math.max(0, room - sum(widths));
    // Room for cut content comes first, and of that names and times before long texts.
    const lacks = columns.map(({ id }, i) => (needs[id] ?? 0) - (widths[i] ?? 0));
    for (const i of [...lacks.keys()].toSorted((one, other) => (lacks[one] ?? 0) - (lacks[other] ?? 0))) {
      const more = Math.min(free, Math.max(0, lacks[i] ?? 0));
      widths[i] = (widths[i] ?? 0) + more;
      free -= more;
    }
    // Numbers are as wide as they are anywhere: names get the room that is left.
    const shares = columns.map(({ width = 160, align, grow = 1 }) => (align === 'right' ? 0 : width * grow));
    const share = free / Math.max(1, sum(shares));
    let end = 0;
    return [0, ...widths.map((width, i) => (end += width + (shares[i] ?? 0) * share)).map(Math.floor)];
  }, [columns, room, needs]);
}

const sum = (all: readonly number[]): number => all.reduce((total, each) => total + each, 0);

/** Width of a cell without its text. */
const PADDING = 26;
/** Room for the sign of the sorting. */
const SIGN = 18;

/**
 * Returns how wide the columns are to show all that is drawn of them, by the id of a column. They grow, and never shrink:
 * a list that is followed does not jump.
 */
export function useNeeds(
  scroll: { readonly current: HTMLElement | null },
  columns: readonly Fitting[],
  rows: readonly unknown[],
  room: number,
): Needs {
  const [needs, setNeeds] = useState<Needs>({});
  useLayoutEffect(() => {
    const found: Record<string, number> = {};
    for (const cell of scroll.current?.querySelectorAll('[data-column]') ?? []) {
      const text = cell.querySelector(':scope > span, :scope > button > span');
      const id = cell.getAttribute('data-column') ?? '';
      const more = PADDING + (cell.getAttribute('role') === 'columnheader' ? SIGN : 0);
      found[id] = Math.max(found[id] ?? 0, (text?.scrollWidth ?? 0) + more);
    }
    setNeeds((before) =>
      Object.entries(found).every(([id, width]) => width <= (before[id] ?? 0))
        ? before
        : Object.fromEntries(
            Object.entries(found).map(([id, width]) => [id, Math.max(width, before[id] ?? 0)]),
          ),
    );
  }, [scroll, columns, rows, room]);
  return needs;
}

/** Marks a list of which columns are out of sight to the right. */
export function useMoreSign(
  scroll: { readonly current: HTMLElement | null },
  width: number,
  room: number,
): void {
  useLayoutEffect(() => {
    const element = scroll.current;
    if (element === null) return undefined;
    const look = (): void =>
      void element.toggleAttribute('data-more', element.scrollLeft + element.clientWidth < width - 1);
    look();
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [scroll, width, room]);
}
