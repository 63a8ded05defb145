import { cellText } from '../duckdb/cells.ts';
import { balanced } from '../duckdb/identifiers.ts';
import { TableError } from '../table-error.ts';
import { tableAt } from './export.ts';
import type { DuckSession } from '../duckdb/session.ts';
import type { TableId, RowDifference, VersionDifference } from '../engine.ts';
import type { LakeTable } from './catalogue.ts';
import type { LakeStore } from './store.ts';

/** Rows of both versions together that are compared; more is work for an export. */
const MOST_ROWS = 2_000_000;

/** Characters of a cell that are given; one that is longer ends with `…`. */
const CELL_LENGTH = 1000;

interface Versions {
  /** Undefined: the table was not there. */
  readonly before: LakeTable | undefined;
  readonly after: LakeTable;
  /** Rows of each kind that are given at most. */
  readonly limit: number;
}

/** Compares two versions of a table. Rows that no file of either version has alone are equal, and not read. */
export async function differenceOf(
  store: LakeStore,
  table: TableId,
  { before, after, limit }: Versions,
): Promise<VersionDifference> {
  const columns = [
    ...after.columns,
    ...(before?.columns ?? []).filter((name) => !after.columns.includes(name)),
  ];
  const isSameKey =
    JSON.stringify(before?.primaryKey ?? after.primaryKey) === JSON.stringify(after.primaryKey);
  const primaryKey = isSameKey ? after.primaryKey : [];
  const [from, to] = [before, after].map((entry) =>
    entry === undefined ? '' : tableAt(store, table, entry),
  );
  const names = [from, to].filter((name) => name !== undefined && name !== '') as string[]; // without the empty one
  return await store.database().read(names, async (session) => {
    // Numbers of rows belong to one table: one that was made again begins with 0.
    const isSame = before?.id === after.id;
    const alone = (name = '', other = ''): string =>
      isSame ? `${name} WHERE rowid NOT IN (SELECT rowid FROM ${other})` : name;
    const gone = before === undefined ? undefined : alone(from, to);
    const came = alone(to, from);
    const count = async (rows?: string): Promise<number> =>
      rows === undefined ? 0 : await session.number(`SELECT count(*) FROM ${rows}`);
    const rows = (await count(gone)) + (await count(came));
    if (rows > MOST_ROWS)
      throw new TableError(
        'storage.tables.differenceTooLarge',
        `The versions differ in ${rows} rows, and ${MOST_ROWS} are compared at most. Export both versions, and compare them there.`,
      );
    await stage(session, 'gone', { columns, entry: before, rows: gone });
    await stage(session, 'came', { columns, entry: after, rows: came });
    const key = primaryKey.map((name) => columns.indexOf(name));
    const cells = columns.map((_, i) => `c${i}`);
    const found =
      key.length === 0
        ? { ...(await withoutKey(session, cells, limit)), changed: NO_ROWS }
        : await byKey(session, { key, cells, limit });
    return {
      columns,
      primaryKey,
      added: found.added.count,
      removed: found.removed.count,
      changed: found.changed.count,
      rows: [...found.changed.rows, ...found.added.rows, ...found.removed.rows],
    };
  });
}

interface Part {
  readonly count: number;
  readonly rows: readonly RowDifference[];
}

const NO_ROWS: Part = { count: 0, rows: [] };

async function stage(
  session: DuckSession,
  name: 'came' | 'gone',
  part: {
    readonly columns: readonly string[];
    readonly entry: LakeTable | undefined;
    readonly rows: string | undefined;
  },
): Promise<void> {
  const { columns, entry, rows } = part;
  const cells = columns.map((column, i) =>
    entry?.columns.includes(column) === true
      ? `coalesce(${cellText(column, entry.forms)}, '') AS c${i}`
      : `'' AS c${i}`,
  );
  const source = rows === undefined ? `(SELECT 0 AS rowid) WHERE false` : rows;
  await session.run(`CREATE TEMP TABLE ${name} AS SELECT rowid AS n, ${cells.join(', ')} FROM ${source}`);
}

async function byKey(
  session: DuckSession,
  {
    key,
    cells,
    limit,
  }: { readonly key: readonly number[]; readonly cells: readonly string[]; readonly limit: number },
): Promise<Record<'added' | 'changed' | 'removed', Part>> {
  const sameKey = key.map((i) => `came.c${i} = gone.c${i}`).join(' AND ');
  const others = cells.filter((_, i) => !key.includes(i));
  const differs =
    others.length === 0
      ? 'false'
      : balanced(
          others.map((cell) => `came.${cell} <> gone.${cell}`),
          ' OR ',
        );
  const both = `came JOIN gone ON ${sameKey} AND ${differs}`;
  const changed = await session.rows(
    `SELECT ${[...shown('gone', cells), ...shown('came', cells)].join(', ')} FROM ${both} ORDER BY came.n LIMIT ${limit}`,
  );
  const only = async (which: 'came' | 'gone', other: 'came' | 'gone'): Promise<Part> => {
    const source = `${which} WHERE NOT EXISTS (SELECT 1 FROM ${other} WHERE ${sameKey})`;
    return await partOf(session, which, { source, cells, limit, order: 'n' });
  };
  return {
    changed: {
      count: await session.number(`SELECT count(*) FROM ${both}`),
      rows: changed.map((row) => ({
        before: texts(row.slice(0, cells.length)),
        after: texts(row.slice(cells.length)),
      })),
    },
    added: await only('came', 'gone'),
    removed: await only('gone', 'came'),
  };
}

/** Compares rows as a whole; of rows that are equal, as many as one version has more. */
async function withoutKey(
  session: DuckSession,
  cells: readonly string[],
  limit: number,
): Promise<Record<'added' | 'removed', Part>> {
  const list = cells.join(', ');
  const only = async (which: 'came' | 'gone', other: 'came' | 'gone'): Promise<Part> => {
    const source = `(SELECT ${list} FROM ${which} EXCEPT ALL SELECT ${list} FROM ${other}) AS ${which}`;
    return await partOf(session, which, { source, cells, limit, order: 'ALL' });
  };
  return { added: await only('came', 'gone'), removed: await only('gone', 'came') };
}

async function partOf(
  session: DuckSession,
  which: 'came' | 'gone',
  part: {
    readonly source: string;
    readonly cells: readonly string[];
    readonly limit: number;
    readonly order: string;
  },
): Promise<Part> {
  const { source, cells, limit, order } = part;
  const count = await session.number(`SELECT count(*) FROM ${source}`);
  const rows = await session.rows(
    `SELECT ${shown(which, cells).join(', ')} FROM ${source} ORDER BY ${order} LIMIT ${limit}`,
  );
  const side = which === 'came' ? 'after' : 'before';
  return { count, rows: rows.map((row) => ({ [side]: texts(row) })) };
}

/** The driver drops U+FEFF at the start of a text: the sign in front keeps it. */
function shown(table: string, cells: readonly string[]): string[] {
  return cells.map((cell) => `'=' || left(${table}.${cell}, ${CELL_LENGTH + 1})`);
}

function texts(row: readonly unknown[]): string[] {
  return row.map((cell) => {
    const text = String(cell).slice(1);
    return text.length > CELL_LENGTH ? `${text.slice(0, CELL_LENGTH).toWellFormed()}…` : text;
  });
}
