import { literal, physicalTable } from '../duckdb/identifiers.ts';
import { LAKE } from './attach.ts';
import { SAID, type LakeTable } from './catalogue.ts';
import { describeCommit } from './commit.ts';
import { refill, stageRefill, storedNames } from './refill.ts';
import { MAINTENANCE } from './versions.ts';
import type { DuckSession } from '../duckdb/session.ts';
import type { TableId } from '../engine.ts';
import type { LakeStore } from './store.ts';

export interface LakeCare {
  /** Days for which every version is kept. */
  readonly keepDays: number;
  /** Bytes of files that are written anew at a time, where rows of them were deleted. */
  readonly joinBytes: number;
  /** Name of the lock of a table. */
  readonly lockOf: (table: TableId) => string;
}

/** Files of a table from which on they are joined. */
const MANY_FILES = 12;

/** Tables that are looked after at a time: the rest is for the next time. */
const TABLES = 20;

/** Days between the end of a file and its deletion: whoever reads a version has that long. */
const GRACE_DAYS = 1;

/**
 * Joins the files of tables that have many, and forgets versions that are older than is kept, by the clock of the
 * database. Each step is whole by itself, so it may be killed at any point and begun again.
 */
export async function maintainLake(store: LakeStore, care: LakeCare): Promise<void> {
  for (const table of await tablesOfManyFiles(store)) await joinFiles(store, table, care);
  await forgetVersions(store, care.keepDays);
}

/** Tables by their ids, which their newest commits say; tables of others have none. */
async function tablesOfManyFiles({ catalogue }: LakeStore): Promise<TableId[]> {
  const { prefix } = catalogue;
  const rows = await catalogue.rows(
    `SELECT max(c.commit_extra_info) FROM ${prefix}ducklake_snapshot_changes c
     WHERE left(c.commit_extra_info, 10) = '{"table":"' AND c.snapshot_id IN (
       SELECT max(f.begin_snapshot) FROM ${prefix}ducklake_data_file f
       WHERE f.end_snapshot IS NULL GROUP BY f.table_id HAVING count(*) > ${MANY_FILES})
     GROUP BY split_part(c.commit_extra_info, '"', 4) LIMIT ${TABLES}`,
  );
  // Written by `describeCommit`.
  return rows.map(([info]) => (JSON.parse(String(info)) as { readonly id: TableId }).id);
}

async function joinFiles(store: LakeStore, table: TableId, { lockOf, joinBytes }: LakeCare): Promise<void> {
  const { catalogue, names } = store;
  await store.locks.hold(lockOf(table), async (check) => {
    const before = await catalogue.find(table);
    if (before === undefined || before.files <= MANY_FILES) return;
    await store.database().transaction(async (session) => {
      await session.run(
        `CALL ducklake_merge_adjacent_files('${LAKE}', ${literal(physicalTable(table.table))}, schema => ${literal(names.schema(table.bucket))})`,
      );
      check();
    });
    const after = await catalogue.find(table);
    if (after !== undefined && after.files > MANY_FILES)
      await writeAnew(store, table, { entry: after, joinBytes, check });
  });
}

interface Tail {
  readonly entry: LakeTable;
  readonly joinBytes: number;
  /** Throws when somebody else may write to the table. */
  readonly check: () => void;
}

/**
 * Writes the last rows of a table into a new file, in their order; versions before stay what they were. DuckLake does not
 * join files of which rows were deleted, and small loads come behind all others.
 */
async function writeAnew(store: LakeStore, table: TableId, { entry, joinBytes, check }: Tail): Promise<void> {
  const target = store.names.table(table);
  const { columns, forms, bytes, lastImport } = entry;
  const starts = await startsOfTail(store, entry, joinBytes);
  const names = storedNames(columns, forms);
  await store.database().transaction(async (session) => {
    const found = await tailFrom(session, target, { entry, starts, joinBytes });
    if (found === undefined) return;
    const last = ` WHERE rowid >= ${found.start}`;
    await stageRefill(session, `${target}${last}`, names);
    await session.run(`DELETE FROM ${target}${last}`);
    await refill(session, target, { names, rows: found.rows });
    const state = { bytes, ...(lastImport === undefined ? {} : { lastImport }) };
    await describeCommit(session, table, { what: MAINTENANCE, state }, {});
    check();
  });
}

/** First numbers of the last files that are not larger together than is written at a time, in descending order. */
async function startsOfTail(
  { catalogue }: LakeStore,
  entry: LakeTable,
  joinBytes: number,
): Promise<readonly number[]> {
  // All of a small table, also what was joined before.
  if (entry.fileBytes <= joinBytes) return [0];
  const files = (await catalogue.orderedFiles(entry)).toSorted((a, b) => b.start - a.start);
  const starts: number[] = [];
  let bytes = 0;
  for (const file of files) {
    bytes += file.bytes;
    if (bytes > joinBytes) break;
    starts.push(file.start);
  }
  return starts;
}

/** Files that were joined have rows among those of others: how many come with a start is seen by counting. */
async function tailFrom(
  session: DuckSession,
  target: string,
  { entry, starts, joinBytes }: Pick<Tail, 'entry' | 'joinBytes'> & { readonly starts: readonly number[] },
): Promise<{ readonly start: number; readonly rows: number } | undefined> {
  const most = (2 * joinBytes * entry.rows) / entry.fileBytes;
  for (let left = starts; left.length > 0; left = left.slice(0, Math.floor(left.length / 2))) {
    const start = left.at(-1) ?? 0;
    const rows = await session.number(`SELECT count(*) FROM ${target} WHERE rowid >= ${start}`);
    // One file alone is as it is.
    if (rows <= most) return start > 0 && left.length === 1 ? undefined : { start, rows };
  }
  return undefined;
}

async function forgetVersions(store: LakeStore, keepDays: number): Promise<void> {
  const { catalogue } = store;
  const { prefix } = catalogue;
  const [times] = await catalogue.rows(
    `SELECT CAST(now() - INTERVAL '${keepDays} days' AS VARCHAR), CAST(now() - INTERVAL '${GRACE_DAYS} days' AS VARCHAR),
       (SELECT count(*) FROM ${prefix}ducklake_snapshot WHERE snapshot_time < now() - INTERVAL '${keepDays} days'),
       (SELECT count(*) FROM ${prefix}ducklake_files_scheduled_for_deletion WHERE schedule_start < now() - INTERVAL '${GRACE_DAYS} days')`,
  );
  const [before, graceBefore, old, ended] = times ?? [];
  // The newest version is always kept.
  if (Number(old) > 1) {
    await keepWhatWasSaid(store, String(before));
    await store.database().transaction(async (session) => {
      await session.run(
        `CALL ducklake_expire_snapshots('${LAKE}', older_than => CAST(${literal(String(before))} AS TIMESTAMPTZ))`,
      );
    });
  }
  if (Number(ended) > 0)
    await store.database().transaction(async (session) => {
      await session.run(
        `CALL ducklake_cleanup_old_files('${LAKE}', older_than => CAST(${literal(String(graceBefore))} AS TIMESTAMPTZ))`,
      );
    });
}

/** Keeps what the last commits of tables said, which goes with their versions. */
async function keepWhatWasSaid({ catalogue }: LakeStore, before: string): Promise<void> {
  const { prefix } = catalogue;
  const key = `split_part(c.commit_extra_info, '"', 4)`;
  const rows = await catalogue.rows(
    `SELECT ${key}, max(c.commit_extra_info) FROM ${prefix}ducklake_snapshot_changes c WHERE c.snapshot_id IN (
       SELECT max(l.snapshot_id) FROM ${prefix}ducklake_snapshot_changes l, ${prefix}ducklake_snapshot s
       WHERE s.snapshot_id = l.snapshot_id AND left(l.commit_extra_info, 10) = '{"table":"'
         AND s.snapshot_time < CAST(${literal(before)} AS TIMESTAMPTZ)
       GROUP BY split_part(l.commit_extra_info, '"', 4))
     GROUP BY ${key}`,
  );
  for (const [name, info] of rows) {
    const said = literal(String(name));
    await catalogue.rows(`DELETE FROM ${prefix}${SAID} WHERE key = ${said}`);
    await catalogue.rows(`INSERT INTO ${prefix}${SAID} VALUES (${said}, ${literal(String(info))})`);
  }
}
