import { described } from '../described.ts';
import { definitions } from '../duckdb/cells.ts';
import { literal } from '../duckdb/identifiers.ts';
import { TableError } from '../table-error.ts';
import { describeCommit } from './commit.ts';
import { differenceOf } from './difference.ts';
import { tableAt } from './export.ts';
import { tableKey } from './names.ts';
import { lakeReader } from './read.ts';
import { makeTable } from './make.ts';
import { refill, stageRefill, storedNames } from './refill.ts';
import type { ChangeOrigin, TableId, HistoryQuery, VersionEntry, TableVersions } from '../engine.ts';
import type { LakeTable } from './catalogue.ts';
import type { LakeStore } from './store.ts';

/** Facts that a commit says of its change; written by `describeCommit`. */
interface Said {
  readonly rows?: number;
  readonly addedColumns?: readonly string[];
  readonly droppedColumns?: readonly string[];
  readonly lastImport?: { readonly outcome: { readonly importedRows: number } };
  readonly origin?: ChangeOrigin;
  readonly fence?: { readonly job: number };
}

/** Commits that leave the rows as they are. */
export const MAINTENANCE = 'join files of';

/** Makes the versions of the tables of a lake. @param lockOf names the lock of a table */
export function lakeVersions(store: LakeStore, lockOf: (table: TableId) => string): TableVersions {
  const { catalogue } = store;
  const { prefix } = catalogue;

  const requireVersion = async (version: number): Promise<void> => {
    const [kept] = await catalogue.rows(
      `SELECT max(CASE WHEN snapshot_id = ${version} THEN 1 ELSE 0 END), min(snapshot_id), max(snapshot_id) FROM ${prefix}ducklake_snapshot`,
    );
    const [isKept, first, last] = (kept ?? []).map(Number);
    if (isKept === 1) return;
    throw new TableError(
      'storage.tables.versionNotFound',
      `There is no version ${version} of the tables: those that are kept are from ${first} to ${last}, without those between that were forgotten.`,
    );
  };

  const requireAt = async (table: TableId, version: number): Promise<LakeTable> => {
    await requireVersion(version);
    const found = await catalogue.find(table, version);
    if (found !== undefined) return found;
    throw new TableError(
      'storage.tables.versionNotFound',
      `The table "${table.table}" was not there at version ${version}.`,
    );
  };

  const newest = async (condition: string): Promise<number | undefined> => {
    const [row] = await catalogue.rows(
      `SELECT max(snapshot_id) FROM ${prefix}ducklake_snapshot WHERE ${condition}`,
    );
    const [version] = row ?? [];
    return version === null || version === undefined ? undefined : Number(version);
  };

  return {
    history: async (table, query) => (await historyOf(store, table, query)).map(versionOf),

    async versionAt(time) {
      // Times are told in milliseconds and kept finer: the one that is told of a version is to find it.
      return await newest(
        `snapshot_time < CAST(${literal(time.toISOString())} AS TIMESTAMPTZ) + INTERVAL '1 millisecond'`,
      );
    },

    previous: async (version) => await newest(`snapshot_id < ${version}`),

    at(version) {
      const reader = lakeReader(store, version);
      return {
        describe: reader.describe,
        count: async (table, ...rest) => await (await at(table)).count(table, ...rest),
        preview: async (table, ...rest) => await (await at(table)).preview(table, ...rest),
        export: async (table, ...rest) => await (await at(table)).export(table, ...rest),
      };
      async function at(table: TableId): Promise<typeof reader> {
        await requireAt(table, version);
        return reader;
      }
    },

    async difference(table, { from, to, limit }) {
      const after = await requireAt(table, to);
      await requireVersion(from);
      // It was made since.
      const before = await catalogue.find(table, from);
      return await differenceOf(store, table, { before, after, limit });
    },

    async restore(table, version, options) {
      return await store.locks.hold(lockOf(table), async (check) => {
        const then = await requireAt(table, version);
        const from = tableAt(store, table, then);
        await store.database().transaction(
          async (session) => {
            const now = await catalogue.require(table);
            const target = store.names.table(table);
            const names = storedNames(then.columns, then.forms);
            await stageRefill(session, from, names);
            const droppedColumns = now.columns.filter((name) => !then.columns.includes(name));
            const addedColumns = then.columns.filter((name) => !now.columns.includes(name));
            if (storedAs(now) === storedAs(then)) await session.run(`TRUNCATE ${target}`);
            else await makeTable(session, target, then);
            await refill(session, target, { names, rows: then.rows });
            const { lastImport } = now;
            const state = { bytes: then.bytes, ...(lastImport === undefined ? {} : { lastImport }) };
            const what = `set to version ${version} of`;
            await describeCommit(
              session,
              table,
              { what, state, addedColumns, droppedColumns, rows: then.rows },
              options,
            );
            check();
          },
          { tables: [from] },
        );
        return described(await catalogue.require(table));
      });
    },
  };
}

/** Two tables with the same text are stored alike. */
function storedAs({ columns, primaryKey, forms }: LakeTable): string {
  return JSON.stringify([definitions(columns, forms), primaryKey]);
}

interface Commit {
  readonly table: TableId;
  readonly row: readonly unknown[];
}

async function historyOf(
  { catalogue }: LakeStore,
  table: TableId,
  { limit, before, run }: HistoryQuery,
): Promise<Commit[]> {
  const { prefix } = catalogue;
  const conditions = [
    `split_part(c.commit_extra_info, '"', 4) = ${literal(tableKey(table))}`,
    `c.commit_message NOT LIKE '${MAINTENANCE} %'`,
    ...(before === undefined ? [] : [`c.snapshot_id < ${before}`]),
    // Texts within have their quotes escaped: no name looks like it.
    ...(run === undefined
      ? []
      : [`strpos(c.commit_extra_info, ${literal(`"origin":{"run":${JSON.stringify(run)}`)}) > 0`]),
  ];
  const rows = await catalogue.rows(
    `SELECT c.snapshot_id, extract(epoch FROM s.snapshot_time), c.commit_message, c.commit_extra_info
     FROM ${prefix}ducklake_snapshot_changes c, ${prefix}ducklake_snapshot s
     WHERE s.snapshot_id = c.snapshot_id AND ${conditions.join(' AND ')}
     ORDER BY c.snapshot_id DESC LIMIT ${limit}`,
  );
  return rows.map((row) => ({ table, row }));
}

function versionOf({ table, row: [version, seconds, message, info] }: Commit): VersionEntry {
  const said = JSON.parse(String(info)) as Said; // written by `describeCommit`
  const { rows, addedColumns = [], droppedColumns = [], lastImport, origin = {}, fence } = said;
  const change = String(message)
    .slice(0, -` ${table.bucket}/${table.table}`.length)
    .replace(/ (?:from|of|to)$/, '');
  const isLoad = ['create', 'import', 'replace'].includes(change);
  const importedRows = isLoad ? lastImport?.outcome.importedRows : undefined;
  return {
    version: Number(version),
    time: new Date(Number(seconds) * 1000),
    change,
    rows,
    importedRows,
    addedColumns,
    droppedColumns,
    job: fence?.job,
    origin,
  };
}
