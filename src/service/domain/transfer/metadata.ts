import { createHash } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { Meta } from '../../stores/metadata/database.ts';
import { COPIED, RULES, type CopyRule, type MetadataTable, type RulePlace } from './rules.ts';
import { readStep, saveStep } from './steps.ts';

/** A row of any table: texts, numbers and NULL. */
type Row = Readonly<Record<string, number | string | null>>;

/** Rows of a table, whatever their order is: databases sort texts each in its own way. */
export interface Digest {
  readonly rows: number;
  /** The sum of the SHA-256 of all rows, in hex. */
  readonly sum: string;
}

export type TableDigests = Readonly<Partial<Record<MetadataTable, Digest>>>;

/** Rows that are read at once, and rows that are written at once unless they are larger together. */
const ROWS = 500;
const LARGE_ROWS = 20;
const GROUP_BYTES = 4 * 1024 * 1024;

/** Copies what is not there yet. The rows and how far they are go into one transaction, so none is copied twice. */
export async function copyMetadata(
  from: Meta,
  to: Meta,
  options: {
    readonly place: RulePlace;
    readonly signal: AbortSignal;
    readonly told: (table: string, rows: number) => void;
  },
): Promise<void> {
  for (const name of COPIED) {
    const step = `metadata/${name}` as const;
    // Written below.
    const last = (await readStep(to, step)) as readonly (number | string)[] | 'whole' | undefined;
    if (last === 'whole') continue;
    for await (const rows of groupsOf(from, name, options.place, last)) {
      options.signal.throwIfAborted();
      await to.transaction().execute(async (tx) => {
        await untyped(tx).insertInto(name).values(rows).execute();
        await saveStep(tx, step, keyOf(name, rows.at(-1)));
      });
      options.told(name, rows.length);
    }
    await saveStep(to, step, 'whole');
  }
}

/** Returns the digest of every table that is copied. Rows are taken as they are at `place`. */
export async function digestMetadata(
  meta: Meta,
  place: RulePlace,
  signal: AbortSignal,
): Promise<TableDigests> {
  const digests: Partial<Record<MetadataTable, Digest>> = {};
  for (const name of COPIED) {
    let sum = 0n;
    let count = 0;
    for await (const rows of pagesOf(meta, name, place, undefined)) {
      signal.throwIfAborted();
      for (const row of rows) sum = (sum + hashOf(row)) % MODULUS;
      count += rows.length;
    }
    digests[name] = { rows: count, sum: sum.toString(16) };
  }
  return digests;
}

const MODULUS = 1n << 256n;

/** Returns the hash of the row as JSON with its columns in the order of their names. */
function hashOf(row: Row): bigint {
  const cells = Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return BigInt(`0x${createHash('sha256').update(JSON.stringify(cells)).digest('hex')}`);
}

/** Pages put together until they are worth a transaction. */
async function* groupsOf(
  meta: Meta,
  name: MetadataTable,
  place: RulePlace,
  after: readonly (number | string)[] | undefined,
): AsyncGenerator<Row[]> {
  let group: Row[] = [];
  let bytes = 0;
  for await (const rows of pagesOf(meta, name, place, after)) {
    group.push(...rows);
    for (const row of rows) bytes += sizeOf(row);
    if (group.length < ROWS && bytes < GROUP_BYTES) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}

function sizeOf(row: Row): number {
  return Object.values(row).reduce<number>(
    (sum, cell) => sum + (typeof cell === 'string' ? cell.length : 8),
    0,
  );
}

/** All rows behind a key, in the order of their keys. */
async function* pagesOf(
  meta: Meta,
  name: MetadataTable,
  place: RulePlace,
  after: readonly (number | string)[] | undefined,
): AsyncGenerator<Row[]> {
  const { key, isLarge, isKept = () => true, change = (row) => row } = ruleOf(name);
  const limit = isLarge === true ? LARGE_ROWS : ROWS;
  const columns = sql.join(key.map((column) => sql.ref(column)));
  for (let last = after; ;) {
    let query = untyped(meta).selectFrom(name).selectAll().limit(limit);
    if (last !== undefined) query = query.where(sql<boolean>`(${columns}) > (${sql.join([...last])})`);
    for (const column of key) query = query.orderBy(column);
    const rows = await query.execute();
    const kept = rows.filter(isKept).map((row) => change(row, place));
    if (kept.length > 0) yield kept;
    if (rows.length < limit) return;
    last = keyOf(name, rows.at(-1));
  }
}

function keyOf(name: MetadataTable, row: Row | undefined): (number | string)[] {
  // Columns of a primary key are never NULL.
  return ruleOf(name).key.map((column) => row?.[column] as number | string);
}

/** The rule of a table whose name is known at run time only. */
function ruleOf(name: MetadataTable): CopyRule<Row> {
  // `COPIED` has none that is left out, and the rows of a table are those that its rule takes.
  return RULES[name] as unknown as CopyRule<Row>;
}

/** For queries whose table is known at run time only. */
function untyped(meta: Meta): Kysely<Record<string, Row>> {
  return meta as unknown as Kysely<Record<string, Row>>; // the types of the columns are of no matter to a copy
}
