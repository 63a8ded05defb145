import { TEXTS, typesOfEmpty, withType } from '../column-types.ts';
import { checkColumnNames, checkPrimaryKey } from '../import-plan.ts';
import { previewCell, previewPart, resultColumns } from '../row-selection.ts';
import { checkNewColumn, checkNewKey, columnsWithout, sharedKey } from '../structure.ts';
import { createBuckets, lockNumber } from './buckets.ts';
import { createCatalog, placeOf, relation, type PostgresCatalogEntry, type TablePlace } from './catalog.ts';
import { cellText, matching, storedColumns, textsOf, typesFor } from './cells.ts';
import { addColumns } from './columns.ts';
import { compact } from './compact.ts';
import { createConnections, seesClients, type PostgresSession } from './connection.ts';
import { isDistributed } from './distribution.ts';
import { exportTable } from './export.ts';
import { checkFence } from './fence.ts';
import { FEW_ROWS, type FewRows } from './few.ts';
import { importTable } from './import.ts';
import { column as columnIdentifier, literal, quoted } from './names.ts';
import { describeTable, reading } from './reading.ts';
import { profileTable } from '../profile.ts';
import { finiteNumber, orderClause, resultExpressions, whereClause } from './select.ts';
import { dropKeyIndex, indexKey, indexRows, makeTable } from './table.ts';
import type { Pool } from 'pg';
import type { Log } from '../../../../lib/log.ts';
import type { TableEngine, TableId, TableWriteOptions } from '../engine.ts';
import type { Store } from './store.ts';

export interface PostgresEngineOptions {
  readonly pool: Pool;
  /** Schema of the service: the catalogue of the tables is there, and the schemas of buckets begin with its name. */
  readonly schema: string;
  readonly log: Log;
  /** Name of a bucket for the name of its schema; default: as in its id. */
  readonly shownBucket?: (bucket: string) => string;
  /** Files of so few rows are loaded without a table of their own; default: 500 rows and 64 KiB. */
  readonly few?: FewRows;
}

/**
 * Tables in a PostgreSQL database that any number of processes use: one schema for each bucket, one table for each
 * table, named as in the storage, so that people can look at them with any client.
 */
export function createPostgresEngine(options: PostgresEngineOptions): TableEngine {
  const { pool, schema: service, few = FEW_ROWS } = options;
  const connections = createConnections(pool);
  const catalog = createCatalog(service);
  const buckets = createBuckets(service, options);
  let store: Store = { connections, catalog, buckets, service, few, letters: 'C' };

  return {
    isShared: true,

    async open() {
      store = await connections.transaction(async (session) => {
        // When several processes start, one creates the tables.
        await session.run(`SELECT pg_advisory_xact_lock(${lockNumber(`tables of ${service}`)})`);
        const isThere = await session.number(
          `SELECT count(*) FROM pg_namespace WHERE nspname = ${literal(service)}`,
        );
        if (isThere === 0) await session.run(`CREATE SCHEMA ${quoted(service)}`);
        await catalog.setUp(session);
        await buckets.setUp(session);
        connections.isDistributed = await isDistributed(session);
        connections.seesClients = await seesClients(session);
        return { ...store, letters: await findLetters(session) };
      });
    },

    // The pool belongs to the caller that passed it.
    close: () => connections.idle(),

    create: (table, definition, options = {}) =>
      connections.transaction(async (session) => {
        const { columns, primaryKey } = definition;
        checkColumnNames(columns);
        checkPrimaryKey(primaryKey, columns);
        const place = placeOf(await buckets.schemaOf(session, table.bucket), table);
        const old = await catalog.claim(session, table, place);
        if (old !== undefined) await dropTable(session, old.place);
        const types = typesFor(session, columns, typesOfEmpty(definition.types ?? TEXTS.types));
        const forms = { types, texts: TEXTS.texts };
        await makeTable(session, place, { columns, primaryKey, forms });
        await indexRows(session, place);
        const keyIndex = await indexKey(session, place, { primaryKey, forms });
        await catalog.save(session, table, {
          place,
          columns,
          primaryKey,
          rows: 0,
          bytes: 0,
          nextRow: 1,
          forms,
          keyIndex,
        });
        await checkFence(session, service, options);
      }),

    drop: (table, options = {}) =>
      connections.transaction(async (session) => {
        const found = await catalog.find(session, table);
        if (found === undefined) return;
        const { place } = await catalog.lock(session, table);
        await dropTable(session, place);
        await catalog.remove(session, table);
        await checkFence(session, service, options);
      }),

    dropBucket: (bucket, options = {}) =>
      connections.transaction(async (session) => {
        if (await catalog.hasTables(session, bucket)) return;
        await buckets.forget(session, bucket);
        await checkFence(session, service, options);
      }),

    describe: (table) => describeTable(store, table),

    addColumn: (table, column, options = {}) =>
      write(table, options, async (session, entry) => {
        checkNewColumn(table, entry, column);
        const names = [...entry.columns, column];
        const { types, texts } = withType(entry.forms, column, options.type);
        // One that makes rows too long is a text: the others stay as they are.
        const isRoomy = typesFor(session, names, types).size === types.size;
        return await addColumns(session, entry, [column], isRoomy ? { types, texts } : entry.forms);
      }),

    dropColumn: (table, column, options = {}) =>
      write(table, options, async (session, entry) => {
        const columns = columnsWithout(table, entry, column);
        // Objects of others that depend on the column are dropped with it: the storage decides what a table is.
        const parts = storedColumns(column, entry.forms).map((name) => `DROP COLUMN ${name} CASCADE`);
        await session.change(`ALTER TABLE ${relation(entry.place)} ${parts.join(', ')}`);
        return { ...entry, columns };
      }),

    setPrimaryKey: (table, primaryKey, options = {}) =>
      write(table, options, async (session, entry) => {
        checkNewKey(entry, primaryKey);
        if (primaryKey.length > 0) await refuseDuplicates(session, entry, primaryKey);
        await dropKeyIndex(session, entry);
        const keyIndex = await indexKey(session, entry.place, { primaryKey, forms: entry.forms });
        return { ...entry, primaryKey, keyIndex };
      }),

    import: (table, request, slices) => importTable(store, table, request, slices),

    export: (table, query, options, take) => exportTable(store, table, query, options, take),

    preview: (table, query) =>
      reading(store, table, async (session, { place, columns, forms }) => {
        const where = whereClause(query, columns, store.letters);
        const order = orderClause(query.orderBy, columns);
        const found = resultExpressions(query, columns);
        const cells = found.map((_, i) => previewCell(`r${i}`, query));
        const rows = await session.rows(
          `SELECT ${cells.join(', ')} FROM (SELECT ${found.join(', ')} FROM ${textsOf(relation(place), columns, forms)}${where}${order}${previewPart(query)}) AS found`,
        );
        return { columns: resultColumns(query, columns), rows: rows.map((row) => row.map(String)) };
      }),

    count: (table, filter) =>
      reading(store, table, async (session, { place, columns, forms }) => {
        const where = whereClause(filter, columns, store.letters);
        return await session.number(
          `SELECT count(*) FROM ${textsOf(relation(place), columns, forms)}${where}`,
        );
      }),

    profile: (table, query) =>
      reading(store, table, async (session, { place, columns, rows, forms }) => {
        const where = whereClause(query, columns, store.letters);
        return await profileTable(
          query,
          { columns, rows },
          {
            values: (column) =>
              `SELECT ${columnIdentifier(column)} AS v FROM ${textsOf(relation(place), columns, forms)}${where}`,
            number: finiteNumber,
            rows: (sql) => session.rows(sql),
          },
        );
      }),

    async deleteRows(table, filter, options = {}) {
      let deleted = 0;
      await write(table, options, async (session, entry) => {
        const where = whereClause(filter, entry.columns, store.letters, 'storage.tables.columnNotExists');
        const name = relation(entry.place);
        deleted = await session.run(`DELETE FROM ${name}${matching(name, entry, where)}`);
        const rows = entry.rows - deleted;
        const bytes = rows === 0 ? 0 : Math.max(1, (entry.bytes * rows) / entry.rows);
        return { ...entry, rows, bytes };
      });
      return deleted;
    },

    versions: async () => await Promise.resolve(undefined),
    orphans: async () => await Promise.resolve(undefined),
    compact: () => compact(store),
  };

  /** Changes an existing table; writers of one table take turns, across all processes. */
  async function write(
    table: TableId,
    options: TableWriteOptions,
    work: (session: PostgresSession, entry: PostgresCatalogEntry) => Promise<PostgresCatalogEntry>,
  ): Promise<void> {
    await connections.transaction(async (session) => {
      const entry = await catalog.lock(session, table);
      await catalog.save(session, table, await work(session, entry));
      await checkFence(session, service, options);
    });
  }
}

/** Views of others on the table go with it. */
async function dropTable(session: PostgresSession, place: TablePlace): Promise<void> {
  await session.change(`DROP TABLE ${relation(place)} CASCADE`);
}

async function refuseDuplicates(
  session: PostgresSession,
  { place, rows, forms }: PostgresCatalogEntry,
  primaryKey: readonly string[],
): Promise<void> {
  const distinct = await session.number(
    `SELECT count(*) FROM (SELECT 1 FROM ${relation(place)} GROUP BY ${primaryKey.map((name) => cellText(name, forms)).join(', ')}) keys`,
  );
  if (distinct < rows) throw sharedKey(primaryKey);
}

/** Collations for letters, of which the first available one is used: not every build has all of them. */
const LETTERS = ['pg_c_utf8', 'und-x-icu', 'C.utf8', 'C.UTF-8', 'en_US.utf8'];

async function findLetters(session: PostgresSession): Promise<string> {
  const rows = await session.rows(
    `SELECT collname FROM pg_collation WHERE collnamespace = 'pg_catalog'::regnamespace ` +
      `AND collencoding IN (-1, 6) AND collname IN (${LETTERS.map(literal).join(', ')})`,
  );
  const found = new Set(rows.map(([name]) => name));
  return LETTERS.find((name) => found.has(name)) ?? 'default';
}
