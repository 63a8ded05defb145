import { hash } from 'node:crypto';
import { PARENT_COLUMN } from '../../../engine/records/chunk-lines.ts';
import { columnName } from '../../../engine/records/names.ts';
import { sqlite } from '../../../lib/sqlite.ts';
import { looseForm, looseName } from './cell-forms.ts';
import { PLACE_KEY } from './read-records.ts';
import { linesOf, type OpenedTable } from './table-file.ts';

/** Examples of a kind of difference that are shown. */
const EXAMPLES = 3;
const SHOWN_CHARACTERS = 80;

/** A row that one side lacks, or a cell that both have differently. */
export interface RowExample {
  /** `users.jsonl:12`; the row of the table, from 1, where it is ours. */
  readonly place: string;
  /** In words: values of the row, or both values of the cell. */
  readonly text: string;
}

/** Comparison of a table with what another tool has. */
export interface TableComparison {
  readonly here: number;
  readonly there: number;
  /** Rows that are equal to the last sign. */
  readonly equal: number;
  /** Rows whose times or decimals are written in another way, and are the same. */
  readonly otherwise: number;
  /** Rows with the same key of which some columns differ. */
  readonly changed: number;
  /** Rows that are there and not here. */
  readonly missing: number;
  /** Rows that are here and not there. */
  readonly more: number;
  /** Columns of the changed rows, and in how many of them each differs. */
  readonly differing: Readonly<Record<string, number>>;
  /** Columns with a value there, and none here. */
  readonly missingColumns: readonly string[];
  /** Columns with a value here, and none there. */
  readonly moreColumns: readonly string[];
  /** Columns that are called in another way there. */
  readonly renamed: Readonly<Record<string, string>>;
  readonly examples: {
    readonly changed: readonly RowExample[];
    readonly missing: readonly RowExample[];
    readonly more: readonly RowExample[];
  };
  /** Columns by which rows were matched. */
  readonly key: readonly string[];
}

export interface CompareTablesOptions {
  readonly ours: OpenedTable;
  readonly theirs: OpenedTable;
  /** Columns of the primary key, where it is known. */
  readonly key: readonly string[];
  /** File for what does not fit into memory. */
  readonly scratch: string;
}

type Side = 0 | 1;
const [OURS, THEIRS]: readonly [Side, Side] = [0, 1];
const PLACE = columnName([PLACE_KEY]);

/** Column of a scalar in the table of a list, here and in dlt. */
const SCALAR = { here: 'data', there: 'value' };

/** A column that both tables have. */
interface CommonColumn {
  readonly name: string;
  readonly ours: number;
  readonly theirs: number;
}

/**
 * Compares the rows of two tables, in whatever order they stand. Digests of the rows are matched in a database on the
 * disk, so that memory stays the same however many there are.
 */
export async function compareTables(options: CompareTablesOptions): Promise<TableComparison> {
  const { ours, theirs, scratch } = options;
  const { common, renamed } = columnsOf(ours, theirs);
  const key = keyOf(options.key, common);
  const { DatabaseSync } = sqlite();
  const database = new DatabaseSync(scratch);
  try {
    database.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000; PRAGMA temp_store = FILE;
       CREATE TABLE list (side INTEGER, file TEXT, parent TEXT, digest TEXT, PRIMARY KEY (side, file, parent)) WITHOUT ROWID;
       CREATE TABLE item (file TEXT, parent TEXT, digest TEXT);
       CREATE TABLE link (file TEXT, parent TEXT, rows INTEGER, PRIMARY KEY (file, parent)) WITHOUT ROWID;
       CREATE TABLE line (id INTEGER PRIMARY KEY, side INTEGER, place TEXT, exact TEXT, loose TEXT, k TEXT, cells TEXT);`,
    );
    const filled = [new Set<string>(), new Set<string>()] as const;
    const counts: [number, number] = [0, 0];
    for (const side of [OURS, THEIRS] as const) {
      const table = side === OURS ? ours : theirs;
      const lists = new ListDigests(database, side);
      await lists.addBelow(table);
      counts[side] = await addLines(database, side, { table, common, key, filled: filled[side], lists });
    }
    database.exec('CREATE INDEX by_exact ON line (exact, side)');
    const equal = drop(database, 'exact');
    database.exec('DROP INDEX by_exact; CREATE INDEX by_loose ON line (loose, side)');
    const otherwise = drop(database, 'loose');
    const changes = changedRows(database, common);
    const rest = (side: Side): { count: number; examples: readonly RowExample[] } =>
      restOf(database, side, common);
    const [more, missing] = [rest(OURS), rest(THEIRS)];
    const names = new Set(common.map(({ name }) => name));
    const known = new Set(Object.values(renamed));
    return {
      here: counts[OURS],
      there: counts[THEIRS],
      equal,
      otherwise,
      changed: changes.count,
      missing: missing.count,
      more: more.count,
      differing: Object.fromEntries(changes.columns),
      missingColumns: theirs.columns.filter(
        (name) => filled[THEIRS].has(name) && !names.has(name) && !known.has(name) && !isOwn(name),
      ),
      moreColumns: ours.columns.filter(
        (name) => filled[OURS].has(name) && !names.has(name) && !isOwn(name) && !ours.lists.has(name),
      ),
      renamed,
      examples: { changed: changes.examples, missing: missing.examples, more: more.examples },
      key: key.map(({ name }) => name),
    };
  } finally {
    database.close();
  }
}

type Database = InstanceType<ReturnType<typeof sqlite>['DatabaseSync']>;

function isOwn(name: string): boolean {
  return name === PARENT_COLUMN || name === PLACE;
}

function columnsOf(
  ours: OpenedTable,
  theirs: OpenedTable,
): { readonly common: readonly CommonColumn[]; readonly renamed: Readonly<Record<string, string>> } {
  const exact = new Map(theirs.columns.map((name, index) => [name, index]));
  const loose = new Map<string, string | undefined>();
  for (const name of theirs.columns)
    if (!ours.columns.includes(name))
      loose.set(looseName(name), loose.has(looseName(name)) ? undefined : name);
  const renamed: Record<string, string> = {};
  const common = ours.columns.flatMap((name, index) => {
    if (isOwn(name)) return [];
    const other = exact.has(name)
      ? name
      : (loose.get(looseName(name)) ?? (name === SCALAR.here ? loose.get(SCALAR.there) : undefined));
    const at = other === undefined ? undefined : exact.get(other);
    if (other === undefined || at === undefined) return [];
    if (other !== name) renamed[name] = other;
    return [{ name, ours: index, theirs: at }];
  });
  return { common, renamed };
}

function keyOf(wanted: readonly string[], common: readonly CommonColumn[]): readonly CommonColumn[] {
  const found = wanted.flatMap((name) => common.find((column) => column.name === name) ?? []);
  if (wanted.length > 0 && found.length === wanted.length) return found;
  return common.filter(({ name }) => name === 'id');
}

/** Digests of the lists of one side, by their links: lists with the same items are equal whatever their links are. */
class ListDigests {
  readonly #database: Database;
  readonly #side: Side;
  readonly #find: ReturnType<Database['prepare']>;

  constructor(database: Database, side: Side) {
    this.#database = database;
    this.#side = side;
    this.#find = database.prepare('SELECT digest FROM list WHERE side = ? AND file = ? AND parent = ?');
  }

  /** Adds the lists of a table. */
  async addBelow(table: OpenedTable): Promise<void> {
    if (table.lists.size === 0) return;
    await this.#countLinks(table);
    for (const list of table.lists.values()) await this.#add(list);
  }

  /** Counts the rows that have a list: rows that are the same have the same link, with the items of each of them. */
  async #countLinks(table: OpenedTable): Promise<void> {
    const insert = this.#database.prepare(
      'INSERT INTO link VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET rows = rows + 1',
    );
    this.#database.exec('BEGIN');
    for await (const cells of linesOf(table.file))
      for (const [column, { file }] of table.lists)
        insert.run(file, cells[table.columns.indexOf(column)] ?? '');
    this.#database.exec('COMMIT');
  }

  /** Adds the items of a list, those of lists below them first. */
  async #add(table: OpenedTable): Promise<void> {
    await this.addBelow(table);
    const database = this.#database;
    const insert = database.prepare('INSERT INTO item VALUES (?, ?, ?)');
    const names = table.columns.filter((name) => name !== PARENT_COLUMN).toSorted();
    const parentAt = table.columns.indexOf(PARENT_COLUMN);
    let isHeader = true;
    database.exec('BEGIN');
    for await (const cells of linesOf(table.file)) {
      if (isHeader) {
        isHeader = false;
        continue;
      }
      const parts = names.flatMap((name) => {
        const cell = this.cellOf(table, table.columns.indexOf(name), cells);
        return cell === '' ? [] : [`${name}=${looseForm(cell)}`];
      });
      insert.run(table.file, cells[parentAt] ?? '', digest(parts));
    }
    database
      .prepare(
        `INSERT INTO list SELECT ?, file, parent, group_concat(digest, '' ORDER BY digest)
         FROM (
           SELECT file, parent, digest, rows, row_number() OVER (PARTITION BY parent, digest) AS place
           FROM item LEFT JOIN link USING (file, parent) WHERE file = ?
         )
         WHERE (place - 1) % coalesce(rows, 1) = 0 GROUP BY parent`,
      )
      .run(this.#side, table.file);
    database.exec('DELETE FROM item; COMMIT');
  }

  /** Returns a cell; for a list the digest of its items in place of the link. */
  cellOf(table: OpenedTable, at: number, cells: readonly string[]): string {
    const cell = cells[at] ?? '';
    const list = table.lists.get(table.columns[at] ?? '');
    if (list === undefined || cell === '') return cell;
    const found = this.#find.get(this.#side, list.file, cell);
    return typeof found?.['digest'] === 'string' ? `list ${digest([found['digest']])}` : '';
  }
}

interface LineSource {
  readonly table: OpenedTable;
  readonly common: readonly CommonColumn[];
  readonly key: readonly CommonColumn[];
  /** Gets the names of columns that have a value. */
  readonly filled: Set<string>;
  readonly lists: ListDigests;
}

async function addLines(
  database: Database,
  side: Side,
  { table, common, key, filled, lists }: LineSource,
): Promise<number> {
  const insert = database.prepare(
    'INSERT INTO line (side, place, exact, loose, k, cells) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const placeAt = table.columns.indexOf(PLACE);
  const indexOf = (column: CommonColumn): number => (side === OURS ? column.ours : column.theirs);
  let count = 0;
  let isHeader = true;
  database.exec('BEGIN');
  for await (const cells of linesOf(table.file)) {
    if (isHeader) {
      isHeader = false;
      continue;
    }
    count++;
    for (const [index, name] of table.columns.entries())
      if (cells[index] !== undefined && cells[index] !== '') filled.add(name);
    const values = common.map((column) => lists.cellOf(table, indexOf(column), cells));
    const keys = key.map((column) => cells[indexOf(column)] ?? '');
    insert.run(
      side,
      side === OURS ? `row ${count}` : (cells[placeAt] ?? ''),
      digest(values),
      digest(values.map(looseForm)),
      keys.length === 0 || keys.includes('') ? null : digest(keys.map(looseForm)),
      JSON.stringify(values),
    );
  }
  database.exec('COMMIT');
  return count;
}

/** Takes out the rows that both sides have, each as often as both have it. */
function drop(database: Database, by: 'exact' | 'loose'): number {
  database.exec(
    `CREATE TEMP TABLE pair AS
     WITH numbered AS (SELECT id, side, ${by} AS d, row_number() OVER (PARTITION BY ${by}, side ORDER BY id) AS n FROM line)
     SELECT a.id AS a, b.id AS b FROM numbered a JOIN numbered b ON a.d = b.d AND a.n = b.n AND a.side = 0 AND b.side = 1;`,
  );
  const found = database.prepare('SELECT count(*) AS n FROM pair').get();
  database.exec(
    'DELETE FROM line WHERE id IN (SELECT a FROM pair); DELETE FROM line WHERE id IN (SELECT b FROM pair); DROP TABLE pair',
  );
  return Number(found?.['n'] ?? 0);
}

/** Takes out the rows with the same key, and counts the columns that differ. */
function changedRows(
  database: Database,
  common: readonly CommonColumn[],
): { count: number; columns: ReadonlyMap<string, number>; examples: readonly RowExample[] } {
  database.exec(
    `CREATE INDEX by_key ON line (k, side);
     CREATE TEMP TABLE alone AS SELECT k FROM line WHERE k IS NOT NULL GROUP BY k
       HAVING count(*) = 2 AND sum(side) = 1;`,
  );
  const columns = new Map<string, number>();
  const examples: RowExample[] = [];
  let count = 0;
  const pairs = database.prepare(
    `SELECT b.place AS place, a.cells AS here, b.cells AS there FROM alone
     JOIN line a ON a.k = alone.k AND a.side = 0 JOIN line b ON b.k = alone.k AND b.side = 1 ORDER BY b.id`,
  );
  for (const { place, here, there } of pairs.iterate()) {
    count++;
    const [ours, theirs] = [cellsOf(here), cellsOf(there)];
    const differing = common.flatMap(({ name }, index) => {
      const [one = '', other = ''] = [ours[index], theirs[index]];
      return looseForm(one) === looseForm(other) ? [] : [{ name, one, other }];
    });
    for (const { name } of differing) columns.set(name, (columns.get(name) ?? 0) + 1);
    if (examples.length < EXAMPLES)
      examples.push({
        place: String(place),
        text: differing
          .slice(0, EXAMPLES)
          .map(({ name, one, other }) => `${name} is ${shown(other)} there and ${shown(one)} here`)
          .join('; '),
      });
  }
  database.exec('DELETE FROM line WHERE k IN (SELECT k FROM alone)');
  return { count, columns, examples };
}

function restOf(
  database: Database,
  side: Side,
  common: readonly CommonColumn[],
): { count: number; examples: readonly RowExample[] } {
  const count = Number(
    database.prepare('SELECT count(*) AS n FROM line WHERE side = ?').get(side)?.['n'] ?? 0,
  );
  const first = database
    .prepare('SELECT place, cells FROM line WHERE side = ? ORDER BY id LIMIT ?')
    .all(side, EXAMPLES);
  return {
    count,
    examples: first.map(({ place, cells }) => ({
      place: String(place),
      text: cellsOf(cells)
        .flatMap((cell, index) => (cell === '' ? [] : [`${common[index]?.name ?? ''}=${shown(cell)}`]))
        .slice(0, 5)
        .join(', '),
    })),
  };
}

function cellsOf(text: unknown): readonly string[] {
  const cells: unknown = JSON.parse(String(text));
  return Array.isArray(cells) ? cells.map(String) : [];
}

function shown(cell: string): string {
  if (cell === '') return 'empty';
  if (/^list [0-9a-f]{32}$/.test(cell)) return 'a list';
  return `“${cell.length > SHOWN_CHARACTERS ? `${cell.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : cell}”`;
}

function digest(parts: readonly string[]): string {
  return hash('md5', JSON.stringify(parts));
}
