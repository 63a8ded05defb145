import { relation, type TablePlace } from './catalog.ts';
import { TEXTS, type ColumnForms } from '../column-types.ts';
import { textsOf } from './cells.ts';
import { CHANGED_AT, column, columnList, literal, ROW } from './names.ts';
import { keepLastOfKey, longestKey } from './table.ts';
import type { PostgresSession } from './connection.ts';
import type { SqlRows } from './sql-rows.ts';

/** Rows of a file that are for a table: with its columns, a change time, and their numbers from 1. */
export interface StagedRows {
  readonly columns: readonly string[];
  readonly records: number;
  /** The text of the change time is in a column of its own. */
  readonly hasTimes: boolean;
  /** Table that they are in, when it can take the place of the target. */
  readonly replacement: TablePlace | undefined;
  /** They are in memory, and go to the database with the statements that need them. */
  readonly isHeld: boolean;
  source(): SqlRows;
  /** Empties the cells that hold one of these values. */
  emptyValues(values: readonly string[]): Promise<void>;
  /** Keeps the last of the rows that share a key; gives how many went. */
  keepLast(key: readonly string[]): Promise<number>;
  /** Bytes of the longest key. */
  longestKey(key: readonly string[]): Promise<number>;
  /** Lets the database know how the values of the key are spread. */
  analyze(key: readonly string[]): Promise<void>;
  drop(): Promise<void>;
}

/** Name of the column with the text of the change time. */
export const TIME_TEXT = '"_time"';

/** Rows in a table of their own. */
export function stagedInTable(
  session: PostgresSession,
  place: TablePlace,
  rows: Pick<StagedRows, 'columns' | 'hasTimes' | 'records'> & {
    readonly canReplace: boolean;
    /** How the table stores its cells. Default: all are texts. */
    readonly forms?: ColumnForms;
  },
): StagedRows {
  const { columns, records, hasTimes, canReplace, forms = TEXTS } = rows;
  return {
    columns,
    records,
    hasTimes,
    replacement: canReplace ? place : undefined,
    isHeld: false,
    source: () => ({
      // Others give it an alias of their own.
      from:
        forms.types.size === 0
          ? relation(place)
          : `(SELECT * FROM ${textsOf(relation(place), columns, forms)})`,
      values: [],
    }),
    async emptyValues(values) {
      const list = values
        .filter((value) => value !== '' && !value.includes('\0'))
        .map(literal)
        .join(', ');
      if (list === '') return;
      const cells = columns.map(column);
      const emptied = cells.map(
        (cell) => `${cell} = CASE WHEN ${cell} IN (${list}) THEN '' ELSE ${cell} END`,
      );
      const isMeant = cells.map((cell) => `${cell} IN (${list})`).join(' OR ');
      await session.run(`UPDATE ${relation(place)} SET ${emptied.join(', ')} WHERE ${isMeant}`);
    },
    keepLast: async (key) => await keepLastOfKey(session, place, key),
    longestKey: async (key) => await longestKey(session, place, key, forms),
    analyze: async (key) => void (await session.run(`ANALYZE ${relation(place)} (${columnList(key)})`)),
    drop: async () => void (await session.run(`DROP TABLE ${relation(place)}`)),
  };
}

/** Cells of a record, by the column that they belong to. */
export interface CellPlan {
  readonly columns: readonly { readonly name: string; readonly cell: number }[];
  readonly timestampCell: number | undefined;
}

/** Rows in memory. @param changeTime of all without a time of their own, in SQL */
export function stagedInMemory(
  records: readonly (readonly string[])[],
  { columns: planned, timestampCell }: CellPlan,
  changeTime: string,
): StagedRows {
  const columns = planned.map(({ name }) => name);
  const hasTimes = timestampCell !== undefined;
  let rows = records.map((record, index) => ({
    cells: planned.map(({ cell }) => record[cell] ?? ''),
    time: hasTimes ? (record[timestampCell] ?? '') : '',
    number: index + 1,
  }));
  const keyOf = (key: readonly string[]): ((cells: readonly string[]) => string[]) => {
    const places = key.map((name) => columns.indexOf(name));
    return (cells) => places.map((place) => cells[place] ?? '');
  };

  return {
    columns,
    records: records.length,
    hasTimes,
    replacement: undefined,
    isHeld: true,
    source() {
      const arrays = [...columns.map(() => 'text'), ...(hasTimes ? ['text'] : []), 'bigint'];
      const names = [...columns.map(column), ...(hasTimes ? [TIME_TEXT] : []), ROW];
      const parameters = arrays.map((type, i) => `$${i + 1}::${type}[]`).join(', ');
      const changedAt = `${changeTime} AS ${CHANGED_AT}`;
      return {
        from: `(SELECT *, ${changedAt} FROM unnest(${parameters}) AS held (${names.join(', ')}))`,
        values: [
          ...columns.map((_, i) => rows.map(({ cells }) => cells[i])),
          ...(hasTimes ? [rows.map(({ time }) => time)] : []),
          rows.map(({ number }) => number),
        ],
      };
    },
    async emptyValues(values) {
      const emptied = new Set(values);
      rows = rows.map((row) => ({ ...row, cells: row.cells.map((cell) => (emptied.has(cell) ? '' : cell)) }));
      await Promise.resolve();
    },
    async keepLast(key) {
      if (key.length === 0) return await Promise.resolve(0);
      const before = rows.length;
      const cellsOf = keyOf(key);
      const last = new Map(rows.map((row) => [JSON.stringify(cellsOf(row.cells)), row]));
      rows = rows.filter((row) => last.get(JSON.stringify(cellsOf(row.cells))) === row);
      return before - rows.length;
    },
    async longestKey(key) {
      const cellsOf = keyOf(key);
      const lengths = rows.map(({ cells }) => Buffer.byteLength(cellsOf(cells).join('')));
      return await Promise.resolve(Math.max(0, ...lengths));
    },
    analyze: async () => await Promise.resolve(),
    drop: async () => await Promise.resolve(),
  };
}
