import { rm } from 'node:fs/promises';
import { cellText, matching, storedColumns } from '../duckdb/cells.ts';
import { literal, quoted } from '../duckdb/identifiers.ts';
import { addColumns } from '../duckdb/load.ts';
import { whereClause } from '../duckdb/select.ts';
import { TEXTS, typesOf, typesOfEmpty, withType } from '../column-types.ts';
import { checkColumnNames, checkPrimaryKey } from '../import-plan.ts';
import { noSuchTable } from '../table-error.ts';
import { checkNewColumn, checkNewKey, columnsWithout, sharedKey } from '../structure.ts';
import { LAKE } from './attach.ts';
import { commentOn, createLakeCatalogue, SAID, type LakeTable } from './catalogue.ts';
import { describeCommit, type LakeChange } from './commit.ts';
import { openLakeDatabase, type LakeDatabase, type LakeDatabaseOptions } from './database.ts';
import { importTable } from './import.ts';
import { createLakeLocks } from './locks.ts';
import { maintainLake } from './maintenance.ts';
import { makeTable } from './make.ts';
import { createLakeNames } from './names.ts';
import { orphanedFiles } from './orphans.ts';
import { lakeReader } from './read.ts';
import { setUpLake } from './set-up.ts';
import { lakeVersions } from './versions.ts';
import { inTransaction, type DuckSession } from '../duckdb/session.ts';
import { createPlaces } from '../turns.ts';
import type { TableId, TableReader, TableWriteOptions } from '../engine.ts';
import type { EpochEngine } from '../folder-epoch.ts';
import type { LakeStore } from './store.ts';

export interface LakeEngineOptions extends LakeDatabaseOptions {
  /** Name of a bucket for the name of its schema; default: as in its id. */
  readonly shownBucket?: (bucket: string) => string;
  /** Days for which every version of the tables is kept. Default 7. */
  readonly keepDays?: number;
  /** Bytes of files that are written anew at a time, where rows of them were deleted. Default 64 MB. */
  readonly joinBytes?: number;
}

const KEEP_DAYS = 7;
const JOIN_BYTES = 64 * 1024 * 1024;

/** Tables of which earlier versions are there, too. */
export interface LakeEngine extends EpochEngine {
  /** Returns the number of the newest version of all tables together. */
  version(): Promise<number>;
  /** Returns all tables as they were at a version. */
  at(version: number): TableReader;
}

/** Tables as Parquet files with a DuckLake catalogue, which other engines read, too. */
export function createLakeEngine(options: LakeEngineOptions): LakeEngine {
  const { place, workFolder, shownBucket = (bucket) => bucket } = options;
  const { keepDays = KEEP_DAYS, joinBytes = JOIN_BYTES } = options;
  let opened: LakeDatabase | undefined;
  const database = (): LakeDatabase => {
    if (opened === undefined) throw new Error('The table engine is not open.');
    return opened;
  };
  const names = createLakeNames(shownBucket);
  const catalogue = createLakeCatalogue(place, database, names);
  const locks = createLakeLocks(place);
  const store: LakeStore = { database, catalogue, names, locks };
  const versions = lakeVersions(store, tableLock);

  return {
    ...lakeReader(store),
    isShared: place.kind === 'database',

    async open() {
      opened = await setUpLake(place, () => openLakeDatabase(options));
    },

    async close() {
      await opened?.close();
      opened = undefined;
      if (place.kind === 'database') await rm(workFolder, { recursive: true, force: true });
    },

    create: async (table, definition, given = {}) => {
      const { columns, primaryKey } = definition;
      await makeSchema(table);
      await write(table, given, async (session) => {
        checkColumnNames(columns);
        checkPrimaryKey(primaryKey, columns);
        const types = typesOf(columns, typesOfEmpty(definition.types ?? TEXTS.types));
        const forms = { types, texts: TEXTS.texts };
        await makeTable(session, names.table(table), { columns, primaryKey, forms });
        return { what: 'create', state: { bytes: 0 }, rows: 0 };
      });
    },

    drop: (table, given = {}) =>
      write(table, given, async (session, entry) => {
        if (entry === undefined) return undefined;
        await session.run(`DROP TABLE ${names.table(table)}`);
        return { what: 'drop' };
      }),

    dropBucket: (bucket, given = {}) =>
      locks.hold(schemaLock(bucket), async () => {
        if (!(await catalogue.hasSchema(bucket)) || (await catalogue.hasTables(bucket))) return;
        await database().transaction(async (session) => {
          await session.run(`DROP SCHEMA ${LAKE}.${quoted(names.schema(bucket))}`);
          await describeCommit(session, { bucket, table: '' }, { what: 'drop bucket' }, given);
        });
      }),

    addColumn: (table, column, given = {}) =>
      change(table, given, async (session, entry) => {
        checkNewColumn(table, entry, column);
        await addColumns(session, names.table(table), [column], withType(entry.forms, column, given.type));
        return { what: 'add column to', state: entry, addedColumns: [column], rows: entry.rows };
      }),

    dropColumn: (table, column, given = {}) =>
      change(table, given, async (session, entry) => {
        columnsWithout(table, entry, column);
        for (const name of storedColumns(column, entry.forms))
          await session.run(`ALTER TABLE ${names.table(table)} DROP COLUMN ${name}`);
        return { what: 'drop column from', state: entry, droppedColumns: [column], rows: entry.rows };
      }),

    setPrimaryKey: (table, primaryKey, given = {}) =>
      change(table, given, async (session, entry) => {
        checkNewKey(entry, primaryKey);
        if (primaryKey.length > 0) await refuseDuplicates(session, names.table(table), entry, primaryKey);
        await session.run(commentOn(names.table(table), primaryKey));
        return { what: 'set key of', state: entry, rows: entry.rows };
      }),

    import: async (table, request, slices) => {
      if (request.create !== undefined) await makeSchema(table);
      return await locks.hold(tableLock(table), (check) => importTable(store, table, request, slices, check));
    },

    async deleteRows(table, filter, given = {}) {
      let deleted = 0;
      await change(table, given, async (session, entry) => {
        const where = whereClause(filter, entry.columns, 'storage.tables.columnNotExists');
        const name = names.table(table);
        deleted = await session.number(`DELETE FROM ${name}${matching(name, entry, where)}`);
        const left = entry.rows - deleted;
        const bytes = left === 0 ? 0 : Math.max(1, Math.round((entry.bytes * left) / entry.rows));
        return { what: 'delete rows of', state: { ...entry, bytes }, rows: left };
      });
      return deleted;
    },

    versions: async () => await Promise.resolve(versions),
    orphans: async () => await Promise.resolve(orphanedFiles(store)),

    async compact() {
      await maintainLake(store, { keepDays, joinBytes, lockOf: tableLock });
      // Files of versions are deleted later, by their age.
      return { freedBytes: 0 };
    },

    version: async () =>
      Number(
        (await catalogue.rows(`SELECT max(snapshot_id) FROM ${catalogue.prefix}ducklake_snapshot`))[0]?.[0],
      ),
    at: (version) => lakeReader(store, version),
    epoch: async () => {
      const [row] = await catalogue.rows(
        `SELECT info FROM ${catalogue.prefix}${SAID} WHERE key = '${EPOCH}'`,
      );
      const [name] = row ?? [];
      return typeof name === 'string' ? name : '';
    },
    setEpoch: (name) =>
      database().use((session) =>
        inTransaction(session, createPlaces(1), async () => {
          await session.run(`DELETE FROM ${catalogue.prefix}${SAID} WHERE key = '${EPOCH}'`);
          await session.run(`INSERT INTO ${catalogue.prefix}${SAID} VALUES ('${EPOCH}', ${literal(name)})`);
        }),
      ),
  };

  /** Not in the transaction that makes the table: of several in a new bucket all but one would fail over the schema. */
  async function makeSchema({ bucket }: TableId): Promise<void> {
    if (await catalogue.hasSchema(bucket)) return;
    await locks.hold(schemaLock(bucket), () =>
      database().transaction((session) =>
        session.run(`CREATE SCHEMA IF NOT EXISTS ${LAKE}.${quoted(names.schema(bucket))}`),
      ),
    );
  }

  /** Changes an existing table. @throws TableError (`storage.tables.notFound`) */
  function change(
    table: TableId,
    given: TableWriteOptions,
    work: (session: DuckSession, entry: LakeTable) => Promise<LakeChange>,
  ): Promise<void> {
    return write(table, given, (session, entry) => {
      if (entry === undefined) throw noSuchTable(table);
      return work(session, entry);
    });
  }

  /** @param work gives what it has changed; undefined: nothing */
  async function write(
    table: TableId,
    given: TableWriteOptions,
    work: (session: DuckSession, entry: LakeTable | undefined) => Promise<LakeChange | undefined>,
  ): Promise<void> {
    await locks.hold(tableLock(table), async (check) => {
      const entry = await catalogue.find(table);
      await database().transaction(
        async (session) => {
          const done = await work(session, entry);
          if (done !== undefined) await describeCommit(session, table, stated(done), given);
          check();
        },
        { bytes: entry?.fileBytes ?? 0 },
      );
    });
  }
}

const EPOCH = 'epoch';

/** Returns a change with those facts alone that DuckLake has no place for. */
function stated({ state, ...change }: LakeChange): LakeChange {
  if (state === undefined) return change;
  const { bytes, lastImport } = state;
  return { ...change, state: { bytes, ...(lastImport === undefined ? {} : { lastImport }) } };
}

const tableLock = ({ bucket, table }: TableId): string => JSON.stringify([bucket, table]);
const schemaLock = (bucket: string): string => JSON.stringify([bucket]);

async function refuseDuplicates(
  session: DuckSession,
  table: string,
  { forms }: LakeTable,
  primaryKey: readonly string[],
): Promise<void> {
  const keys = primaryKey.map((name) => cellText(name, forms)).join(', ');
  const [row] = await session.rows(`SELECT count(*), count(DISTINCT (${keys})) FROM ${table}`);
  if (Number(row?.[0] ?? 0) !== Number(row?.[1] ?? 0)) throw sharedKey(primaryKey);
}
