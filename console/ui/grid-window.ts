import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The part of a table that is drawn: what is seen of it, and a little more around. */
export interface GridWindow {
  readonly row: number;
  readonly rows: number;
  readonly column: number;
  readonly columns: number;
}

export interface GridSize {
  readonly rows: number;
  readonly rowHeight: number;
  /** Left edges of the columns, and then the right edge of the last one. */
  readonly edges: readonly number[];
  /** Width of the visible part in pixels, without the head. */
  readonly width: number;
  readonly height: number;
}

/** Rows and columns around what is seen: a step of the wheel finds them drawn. */
const ROWS_AROUND = 4;
const COLUMNS_AROUND = 1;
/** The rows move on by so many: not for every single one. */
const ROW_STEP = 2;

/** Returns the part of a table to be drawn, and renders again when it changes. */
export function useGridWindow(scroll: { readonly current: HTMLElement | null }, size: GridSize): GridWindow {
  const [, setCount] = useState(0);
  const at = useRef({ top: 0, left: 0 });
  const last = useRef<GridWindow>(NOTHING);
  const latest = useRef(size);
  latest.current = size;
  last.current = windowOf(size, at.current, last.current);
  useLayoutEffect(() => {
    const element = scroll.current;
    if (element === null) return undefined;
    const look = (): void => {
      at.current = { top: element.scrollTop, left: element.scrollLeft };
      if (windowOf(latest.current, at.current, last.current) !== last.current) setCount((count) => count + 1);
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [scroll]);
  return last.current;
}

const NOTHING: GridWindow = { row: 0, rows: 0, column: 0, columns: 0 };

function windowOf(
  { rows, rowHeight, edges, width, height }: GridSize,
  { top, left }: { readonly top: number; readonly left: number },
  last: GridWindow,
): GridWindow {
  // The number of rows is the same everywhere, so that rows which scroll out are reused for those that scroll in.
  const most = Math.ceil(height / rowHeight) + 1 + ROW_STEP + 2 * ROWS_AROUND;
  const wanted = Math.floor(top / rowHeight / ROW_STEP) * ROW_STEP - ROWS_AROUND;
  const row = Math.max(0, Math.min(wanted, rows - most));
  const column = Math.max(0, columnAt(edges, left) - COLUMNS_AROUND);
  const end = Math.min(edges.length - 1, columnAt(edges, left + width) + 1 + COLUMNS_AROUND);
  const next = { row, rows: Math.min(most, rows - row), column, columns: Math.max(0, end - column) };
  const isSame =
    next.row === last.row &&
    next.rows === last.rows &&
    next.column === last.column &&
    next.columns === last.columns;
  return isSame ? last : next;
}

/** Finds the column at a place by bisection: there may be thousands. */
function columnAt(edges: readonly number[], place: number): number {
  let [low, high] = [0, Math.max(0, edges.length - 2)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((edges[middle] ?? Infinity) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

export interface Room {
  readonly width: number;
  readonly height: number;
}

/** Returns the visible size, and renders again when it changes. */
export function useRoom(scroll: { readonly current: HTMLElement | null }): Room {
  const [room, setRoom] = useState<Room>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = scroll.current;
    if (element === null) return undefined;
    const look = (): void => {
      const { clientWidth: width, clientHeight: height } = element;
      setRoom((before) => (before.width === width && before.height === height ? before : { width, height }));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroll]);
  return room;
}
