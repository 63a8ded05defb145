import { TEXTS, typesOf, typesOfEmpty, withType } from '../column-types.ts';
import { described } from '../described.ts';
import { checkColumnNames, checkPrimaryKey } from '../import-plan.ts';
import { previewCell, previewPart, resultColumns } from '../row-selection.ts';
import { checkNewColumn, checkNewKey, columnsWithout, sharedKey } from '../structure.ts';
import {
  countRows,
  createCatalog,
  findEntry,
  findEpoch,
  removeTable,
  requireEntry,
  saveEntry,
  saveEpoch,
} from './catalog.ts';
import { cellText, matching, storedColumns, textsOf } from './cells.ts';
import { openDatabase } from './database.ts';
import { exportTable } from './export.ts';
import { columnIdentifier, schemaName, tableName } from './identifiers.ts';
import { importTable } from './import.ts';
import { addColumns, createEmpty } from './load.ts';
import { finiteNumber, orderClause, resultExpressions, whereClause } from './select.ts';
import { profileTable } from '../profile.ts';
import { createTurns } from '../turns.ts';
import type { TableId } from '../engine.ts';
import type { EpochEngine } from '../folder-epoch.ts';
import type { DuckCatalogEntry } from './catalog.ts';
import type { DuckDatabase, DuckDatabaseOptions } from './database.ts';
import type { DuckSession } from './session.ts';

/** It can be copied while it is used. */
export interface DuckDbEngine extends EpochEngine {
  /** Returns the folder for copies of the database; emptied when it is opened. */
  copyFolder(): string;
  /** Copies the database as it is at one moment, and calls `atMoment` then: nothing is committed before that returns. */
  copyTo(file: string, atMoment: () => void): Promise<void>;
}

/** Tables in one DuckDB file of a folder: nothing to install, one process at a time. */
export function createDuckDbEngine(options: DuckDatabaseOptions): DuckDbEngine {
  let opened: DuckDatabase | undefined;
  const withLocks = createTurns();

  return {
    isShared: false,

    async open() {
      const database = await openDatabase(options);
      await database.transaction(createCatalog);
      opened = database;
    },

    async close() {
      await opened?.close();
      opened = undefined;
    },

    create: async (table, definition) => {
      await makeSchema(table);
      await write(table, async (session) => {
        const { columns, primaryKey } = definition;
        checkColumnNames(columns);
        checkPrimaryKey(primaryKey, columns);
        await removeTable(session, table);
        const forms = {
          types: typesOf(columns, typesOfEmpty(definition.types ?? TEXTS.types)),
          texts: TEXTS.texts,
        };
        await createEmpty(session, tableName(table), columns, forms);
        await saveEntry(session, table, { columns, primaryKey, bytes: 0, forms });
      });
    },

    drop: (table) => write(table, (session) => removeTable(session, table)),

    // Its schema is not visible to users, and stays.
    dropBucket: () => Promise.resolve(),

    describe: (table) =>
      read(async (session) => {
        const entry = await findEntry(session, table);
        if (entry === undefined) return undefined;
        return described({ ...entry, rows: await countRows(session, table) });
      }),

    addColumn: (table, column, { type } = {}) =>
      write(table, async (session) => {
        const entry = await requireEntry(session, table);
        checkNewColumn(table, entry, column);
        const forms = withType(entry.forms, column, type);
        await addColumns(session, tableName(table), [column], forms);
        await saveEntry(session, table, { ...entry, columns: [...entry.columns, column], forms });
      }),

    dropColumn: (table, column) =>
      write(table, async (session) => {
        const entry = await requireEntry(session, table);
        const columns = columnsWithout(table, entry, column);
        for (const name of storedColumns(column, entry.forms))
          await session.run(`ALTER TABLE ${tableName(table)} DROP COLUMN ${name}`);
        await saveEntry(session, table, { ...entry, columns });
      }),

    setPrimaryKey: (table, primaryKey) =>
      write(table, async (session) => {
        const entry = await requireEntry(session, table);
        checkNewKey(entry, primaryKey);
        if (primaryKey.length > 0) await refuseDuplicates(session, table, entry, primaryKey);
        await saveEntry(session, table, { ...entry, primaryKey });
      }),

    import: (table, request, slices) =>
      withLocks(keyOf(table), async () => {
        if (request.create !== undefined) await makeSchema(table);
        return tidied(() => importTable(database(), table, request, slices));
      }),

    export: (table, query, exportOptions, take) =>
      tidied(() => exportTable(database(), table, query, exportOptions, take)),

    preview: (table, query) =>
      read(async (session) => {
        const { columns, forms } = await requireEntry(session, table);
        const from = textsOf(tableName(table), columns, forms);
        const where = whereClause(query, columns, 'storage.tables.validation.columnNotExists');
        const cells = resultExpressions(query, columns).map(
          (_, i) => `'=' || ${previewCell(`r${i}`, query)}`,
        );
        const order = orderClause(query.orderBy, columns);
        const rows = await session.rows(
          `SELECT ${cells.join(', ')} FROM (SELECT ${resultExpressions(query, columns).join(', ')} FROM ${from}${where}${order}${previewPart(query)})`,
        );
        // The driver drops U+FEFF at the start of a text: the sign in front keeps it.
        return {
          columns: resultColumns(query, columns),
          rows: rows.map((row) => row.map((cell) => String(cell).slice(1))),
        };
      }),

    count: (table, filter) =>
      read(async (session) => {
        const { columns, forms } = await requireEntry(session, table);
        const from = textsOf(tableName(table), columns, forms);
        const where = whereClause(filter, columns, 'storage.tables.validation.columnNotExists');
        return await session.number(`SELECT count(*) FROM ${from}${where}`);
      }),

    profile: (table, query) =>
      read(async (session) => {
        const { columns, forms } = await requireEntry(session, table);
        const from = textsOf(tableName(table), columns, forms);
        const where = whereClause(query, columns, 'storage.tables.validation.columnNotExists');
        const rows = await countRows(session, table);
        return await profileTable(
          query,
          { columns, rows },
          {
            values: (column) => `SELECT ${columnIdentifier(column)} AS v FROM ${from}${where}`,
            number: finiteNumber,
            rows: (sql) => session.rows(sql),
          },
        );
      }),

    deleteRows: (table, filter) =>
      write(table, async (session) => {
        const entry = await requireEntry(session, table);
        const where = whereClause(filter, entry.columns, 'storage.tables.columnNotExists');
        const before = await countRows(session, table);
        const deleted = await session.number(
          `DELETE FROM ${tableName(table)}${matching(tableName(table), entry, where)}`,
        );
        const left = before - deleted;
        const bytes = left === 0 ? 0 : Math.max(1, Math.round((entry.bytes * left) / before));
        await saveEntry(session, table, { ...entry, bytes });
        return deleted;
      }),

    versions: async () => await Promise.resolve(undefined),
    orphans: async () => await Promise.resolve(undefined),
    compact: () => database().compact(),
    copyFolder: () => database().copyFolder,
    copyTo: (file, atMoment) => database().copyTo(file, atMoment),
    epoch: () => read(findEpoch),
    setEpoch: (name) => database().transaction((session) => saveEpoch(session, name)),
  };

  function database(): DuckDatabase {
    if (opened === undefined) throw new Error('The table engine is not open.');
    return opened;
  }

  /** Not in the transaction that makes the table: of several in a new bucket all but one would fail over the schema. */
  async function makeSchema({ bucket }: TableId): Promise<void> {
    const schema = schemaName(bucket);
    await withLocks(schema, () =>
      database().use((session) => session.run(`CREATE SCHEMA IF NOT EXISTS ${schema}`)),
    );
  }

  /** In a transaction as well: the entry and the rows of a table are then of one moment. */
  function read<T>(work: (session: DuckSession) => Promise<T>): Promise<T> {
    return database().transaction(work);
  }

  function write<T>(table: TableId, work: (session: DuckSession) => Promise<T>): Promise<T> {
    return withLocks(keyOf(table), () => tidied(() => database().transaction(work)));
  }

  async function tidied<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'storage.diskFull' || code === 'ENOSPC') await database().makeRoom();
      throw error;
    }
  }
}

function keyOf({ bucket, table }: TableId): string {
  return JSON.stringify([bucket, table]);
}

async function refuseDuplicates(
  session: DuckSession,
  table: TableId,
  { forms }: DuckCatalogEntry,
  primaryKey: readonly string[],
): Promise<void> {
  const keys = primaryKey.map((name) => cellText(name, forms)).join(', ');
  const distinct = await session.number(
    `SELECT count(*) FROM (SELECT 1 FROM ${tableName(table)} GROUP BY ${keys})`,
  );
  if (distinct === (await countRows(session, table))) return;
  throw sharedKey(primaryKey);
}
