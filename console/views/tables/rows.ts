import { useEffect, useMemo, useState } from 'preact/hooks';
import { contact } from '../../data/contact.ts';
import { useStore } from '../../data/store.ts';
import { client, type Preview, type WhereFilter } from '../../data/client.ts';

/** Which rows of a table are shown, in which order. */
export interface Selection {
  readonly filters: readonly WhereFilter[];
  readonly search: string;
  readonly sort?:
    | { readonly column: string; readonly isDown: boolean; readonly isNumeric: boolean }
    | undefined;
}

export interface Cell {
  readonly text: string;
  /** There is more of it. */
  readonly isCut: boolean;
}

export function queryOf({ filters, search, sort }: Selection) {
  return {
    whereFilters: filters.length === 0 ? undefined : filters,
    search: search === '' ? undefined : search,
    ...(sort === undefined
      ? {}
      : {
          orderBy: [
            {
              column: sort.column,
              order: sort.isDown ? ('DESC' as const) : ('ASC' as const),
              dataType: sort.isNumeric ? 'DOUBLE' : undefined,
            },
          ],
        }),
  };
}

/** Scrolling goes no further: browsers know no higher pages, and nobody reads them. */
export const MOST_ROWS = 200_000;
/** Characters of a cell that the list shows. */
const CELL_LENGTH = 300;
const COLUMNS = 25;
const MOST_BLOCKS = 120;
const AT_ONCE = 2;
/** Blocks that someone has scrolled past are not asked for any more. */
const MOST_WAITING = 6;

/** What is seen of the rows of a table, fetched in blocks of rows and columns as one scrolls. */
export interface Rows {
  readonly count: number;
  /** Whether {@link count} is all; else there may be more. */
  readonly isCounted: boolean;
  readonly isEmpty: boolean;
  readonly error: unknown;
  /** Undefined while it is on its way. */
  cell(row: number, column: number): Cell | undefined;
  retry(): void;
}

interface Options {
  readonly id: string;
  readonly columns: readonly string[];
  readonly selection: Selection;
  /** Rows of the whole table, where that is known. */
  readonly rowsCount: number | null;
  readonly sizeBytes: number | null;
  /** Changes when the rows do. */
  readonly version: string;
}

export function useRows(options: Options): { readonly rows: Rows; readonly version: number } {
  const { id, columns, selection, rowsCount, version } = options;
  const [count, setCount] = useState(0);
  const key = JSON.stringify([id, columns, selection, rowsCount, version]);
  const blocks = useMemo(() => new Blocks(options, () => setCount((before) => before + 1)), [key]);
  useEffect(() => () => blocks.stop(), [blocks]);
  const isThere = useStore(contact) === 'there';
  useEffect(() => {
    if (isThere && blocks.error !== undefined) blocks.retry();
  }, [isThere, blocks]);
  return { rows: blocks, version: count };
}

class Blocks implements Rows {
  readonly #options: Options;
  readonly #onChange: () => void;
  readonly #rowsPerBlock: number;
  readonly #found = new Map<string, { readonly cells: Preview['rows']; readonly cut: ReadonlySet<string> }>();
  readonly #waiting = new Map<string, readonly [row: number, column: number]>();
  readonly #asked = new Set<string>();
  readonly #ended = new AbortController();
  #end: number | undefined;
  #seen = 0;
  error: unknown;

  constructor(options: Options, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
    const { rowsCount, sizeBytes, selection } = options;
    // Of rows with long values fewer are fetched at a time: the service reads all of a cell to give its beginning.
    const rowBytes = rowsCount === null || sizeBytes === null || rowsCount === 0 ? 0 : sizeBytes / rowsCount;
    this.#rowsPerBlock = Math.round(Math.min(100, Math.max(10, 4_000_000 / (rowBytes + 1))));
    if (selection.filters.length === 0 && selection.search === '' && rowsCount !== null)
      this.#end = rowsCount;
  }

  get isCounted(): boolean {
    return this.#end !== undefined && this.#end <= MOST_ROWS;
  }

  get isEmpty(): boolean {
    return this.#end === 0;
  }

  get count(): number {
    return Math.min(this.#end ?? this.#seen + this.#rowsPerBlock, MOST_ROWS);
  }

  cell(row: number, column: number): Cell | undefined {
    const [r, c] = [Math.floor(row / this.#rowsPerBlock), Math.floor(column / COLUMNS)];
    const key = `${r}:${c}`;
    const block = this.#found.get(key);
    if (block === undefined) {
      this.#want(key, [r, c]);
      return undefined;
    }
    const [y, x] = [row - r * this.#rowsPerBlock, column - c * COLUMNS];
    const text = block.cells[y]?.[x];
    return text === undefined ? { text: '', isCut: false } : { text, isCut: block.cut.has(`${y}:${x}`) };
  }

  retry(): void {
    this.error = undefined;
    this.#onChange();
  }

  stop(): void {
    this.#ended.abort();
    this.#waiting.clear();
  }

  #want(key: string, place: readonly [number, number]): void {
    if (this.#asked.has(key) || this.error !== undefined) return;
    // The one that is wanted last is fetched first.
    this.#waiting.delete(key);
    this.#waiting.set(key, place);
    if (this.#waiting.size > MOST_WAITING) {
      const [first] = this.#waiting.keys();
      if (first !== undefined) this.#waiting.delete(first);
    }
    // When all of what is seen has been asked for.
    queueMicrotask(() => this.#next());
  }

  #next(): void {
    while (this.#asked.size < AT_ONCE && this.#waiting.size > 0) {
      const [key, place] = [...this.#waiting].at(-1) ?? [];
      if (key === undefined || place === undefined) return;
      this.#waiting.delete(key);
      this.#asked.add(key);
      void this.#load(key, place).finally(() => {
        this.#asked.delete(key);
        if (this.#ended.signal.aborted) return;
        this.#onChange();
        this.#next();
      });
    }
  }

  async #load(key: string, [row, column]: readonly [number, number]): Promise<void> {
    const { id, columns, selection } = this.#options;
    const offset = row * this.#rowsPerBlock;
    try {
      const { rows, cut } = await client().tables.preview(id, {
        ...queryOf(selection),
        columns: columns.slice(column * COLUMNS, (column + 1) * COLUMNS),
        offset,
        limit: this.#rowsPerBlock,
        cellLength: CELL_LENGTH,
      });
      this.#found.set(key, { cells: rows, cut: new Set(cut.map((at) => `${at.row}:${at.column}`)) });
      const [oldest] = this.#found.keys();
      if (this.#found.size > MOST_BLOCKS && oldest !== undefined) this.#found.delete(oldest);
      this.#seen = Math.max(this.#seen, offset + rows.length);
      if (rows.length < this.#rowsPerBlock) this.#end = offset + rows.length;
    } catch (error) {
      if (!this.#ended.signal.aborted) this.error = error;
    }
  }
}
