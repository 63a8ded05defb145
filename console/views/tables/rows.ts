import { useEffect, useMemo, useState } from 'preact/hooks';
import { contact } from '../../data/contact.ts';
import { useStore } from '../../data/store.ts';
import { client, type Preview, type Table, type WhereFilter } from '../../data/client.ts';
import type { GridWindow } from '../../ui/grid-window.ts';

/** Which rows of a table are shown, in which order. */
export interface Selection {
  readonly filters: readonly WhereFilter[];
  readonly search: string;
  readonly sort?:
    | {
        readonly column: string;
        readonly isDown: boolean;
        /** Numbers are sorted as texts, too: by default they come first, by their size. */
        readonly isText: boolean;
      }
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
          orderBy: (sort.isText ? [undefined] : ['DOUBLE', undefined]).map((dataType) => ({
            column: sort.column,
            order: sort.isDown ? ('DESC' as const) : ('ASC' as const),
            dataType,
          })),
        }),
  };
}

/** Tells whether not all rows are shown. */
export const isChosen = ({ filters, search }: Selection): boolean => filters.length > 0 || search !== '';

/** Reads the selection from an address. */
export function readSelection(query: URLSearchParams, table: Table): Selection {
  const known = new Set(table.columns);
  const sorted = query.get('sort') ?? '';
  return {
    search: query.get('find') ?? '',
    filters: readFilters(query.get('filters')).filter(({ column }) => known.has(column)),
    ...(known.has(sorted)
      ? {
          sort: {
            column: sorted,
            isDown: query.get('down') === '1',
            isText: query.get('as') === 'text',
          },
        }
      : {}),
  };
}

const OPERATORS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'contains'] as const;

/** Parses the filters of an address, in which a user may have written anything. */
function readFilters(text: string | null): WhereFilter[] {
  let given: unknown;
  try {
    given = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(given)) return [];
  return given.flatMap((item: unknown): WhereFilter[] => {
    if (typeof item !== 'object' || item === null) return [];
    const { column, operator, values, dataType } = item as { readonly [key: string]: unknown };
    if (typeof column !== 'string' || !Array.isArray(values)) return [];
    return [
      {
        column,
        operator: OPERATORS.find((known) => known === operator),
        values: values.filter((value) => typeof value === 'string'),
        dataType: dataType === 'DOUBLE' ? dataType : undefined,
      },
    ];
  });
}

/** Returns the columns that an address names; undefined when it names none that the table has. */
export function columnsIn(query: URLSearchParams, { columns }: Table): readonly string[] | undefined {
  const known = new Set(columns);
  const found =
    query
      .get('columns')
      ?.split(',')
      .filter((name) => known.has(name)) ?? [];
  return found.length === 0 ? undefined : found;
}

/** Scrolling goes no further: browsers know no higher pages, and nobody reads them. */
export const MOST_ROWS = 200_000;
/** Characters of a cell that the list shows. */
const CELL_LENGTH = 160;
/** A block is small enough that reading its answer keeps nobody waiting. */
const ROWS = 50;
const COLUMNS = 20;
const MOST_BLOCKS = 300;
const AT_ONCE = 3;
/** So far around what is seen is fetched as well. */
const ROWS_AROUND = 20;
const COLUMNS_AROUND = 3;
/** While one scrolls past, no more often than this is begun to fetch. */
const PAUSE_MS = 80;

/** Visible rows of a table, fetched in blocks of rows and columns while scrolling. */
export interface Rows {
  readonly count: number;
  /** True when {@link count} is all; else there may be more. */
  readonly isCounted: boolean;
  readonly isEmpty: boolean;
  readonly error: unknown;
  /** Returns a cell; undefined while it is loading. */
  cell(row: number, column: number): Cell | undefined;
  /** Fetches what is needed for this part, and calls off what is not needed any more. */
  look(part: GridWindow): void;
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

/** Returns the rows, and renders the component again when more of them arrive. */
export function useRows(options: Options): Rows {
  const { id, columns, selection, rowsCount, version } = options;
  const [, setCount] = useState(0);
  const key = JSON.stringify([id, columns, selection, rowsCount, version]);
  const blocks = useMemo(() => new Blocks(options, () => setCount((before) => before + 1)), [key]);
  useEffect(() => () => blocks.stop(), [blocks]);
  const isThere = useStore(contact) === 'there';
  useEffect(() => {
    if (isThere && blocks.error !== undefined) blocks.retry();
  }, [isThere, blocks]);
  return blocks;
}

type Block = readonly [row: number, column: number];

class Blocks implements Rows {
  readonly #options: Options;
  readonly #onChange: () => void;
  readonly #rowsPerBlock: number;
  /** Those that were needed last are at the end. */
  readonly #found = new Map<string, { readonly cells: Preview['rows']; readonly cut: ReadonlySet<string> }>();
  readonly #asked = new Map<string, AbortController>();
  #looked: GridWindow = { row: 0, rows: 0, column: 0, columns: 0 };
  #end: number | undefined;
  #seen = 0;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;
  error: unknown;

  constructor(options: Options, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
    const { rowsCount, sizeBytes, selection } = options;
    // Blocks have fewer rows if their values are long: the service reads all of a cell to return its beginning.
    const rowBytes = rowsCount === null || sizeBytes === null || rowsCount === 0 ? 0 : sizeBytes / rowsCount;
    this.#rowsPerBlock = Math.round(Math.min(ROWS, Math.max(10, 4_000_000 / (rowBytes + 1))));
    if (!isChosen(selection) && rowsCount !== null) this.#end = rowsCount;
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
    const block = this.#found.get(`${r}:${c}`);
    if (block === undefined) return undefined;
    const [y, x] = [row - r * this.#rowsPerBlock, column - c * COLUMNS];
    const text = block.cells[y]?.[x];
    return text === undefined ? { text: '', isCut: false } : { text, isCut: block.cut.has(`${y}:${x}`) };
  }

  look(part: GridWindow): void {
    this.#looked = part;
    // Dragging the scroll bar passes more rows than could be fetched, so there is a pause between fetches.
    if (this.#pause === undefined) this.#fetch();
  }

  retry(): void {
    this.error = undefined;
    this.#onChange();
    this.#fetch();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#pause);
    for (const request of this.#asked.values()) request.abort();
  }

  #fetch(): void {
    if (this.error !== undefined || this.#isStopped) return;
    const needed = new Map(this.#needed().map((block) => [block.join(':'), block]));
    for (const [key, request] of this.#asked) if (!needed.has(key)) request.abort();
    for (const key of needed.keys()) this.#touch(key);
    for (const [key, block] of needed) {
      if (this.#asked.size >= AT_ONCE) break;
      if (this.#found.has(key) || this.#asked.has(key)) continue;
      void this.#load(key, block);
      this.#pause ??= setTimeout(() => {
        this.#pause = undefined;
        this.#fetch();
      }, PAUSE_MS);
    }
  }

  /** Returns the visible blocks first, then those around them. */
  #needed(): Block[] {
    const { row, rows, column, columns } = this.#looked;
    if (rows === 0 || columns === 0) return [];
    const blocks = (rowsAround: number, columnsAround: number): Block[] => {
      const lastRow = Math.min(row + rows + rowsAround, this.count) - 1;
      const lastColumn = Math.min(column + columns + columnsAround, this.#options.columns.length) - 1;
      const found: Block[] = [];
      for (const r of numbers(row - rowsAround, lastRow, this.#rowsPerBlock))
        for (const c of numbers(column - columnsAround, lastColumn, COLUMNS)) found.push([r, c]);
      return found;
    };
    return [...blocks(0, 0), ...blocks(ROWS_AROUND, COLUMNS_AROUND)];
  }

  #touch(key: string): void {
    const found = this.#found.get(key);
    if (found === undefined) return;
    this.#found.delete(key);
    this.#found.set(key, found);
  }

  async #load(key: string, [row, column]: Block): Promise<void> {
    const { id, columns, selection } = this.#options;
    const offset = row * this.#rowsPerBlock;
    const request = new AbortController();
    this.#asked.set(key, request);
    try {
      const { rows, cut } = await client().tables.preview(
        id,
        {
          ...queryOf(selection),
          columns: columns.slice(column * COLUMNS, (column + 1) * COLUMNS),
          offset,
          limit: this.#rowsPerBlock,
          cellLength: CELL_LENGTH,
        },
        { signal: request.signal },
      );
      this.#found.set(key, { cells: rows, cut: new Set(cut.map((at) => `${at.row}:${at.column}`)) });
      const [oldest] = this.#found.keys();
      if (this.#found.size > MOST_BLOCKS && oldest !== undefined) this.#found.delete(oldest);
      this.#seen = Math.max(this.#seen, offset + rows.length);
      if (rows.length < this.#rowsPerBlock) this.#end = offset + rows.length;
    } catch (error) {
      if (!request.signal.aborted) this.error = error;
    }
    this.#asked.delete(key);
    if (this.#isStopped) return;
    if (!request.signal.aborted) this.#onChange();
    this.#fetch();
  }
}

/** Returns the numbers of the parts of this size that contain the range. */
function numbers(first: number, last: number, size: number): number[] {
  const from = Math.floor(Math.max(0, first) / size);
  return Array.from({ length: Math.max(0, Math.floor(last / size) - from + 1) }, (_, i) => from + i);
}
