import type { PoolClient } from 'pg';
import { isConflict } from '../../../platform/database/failures.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { TableReader } from '../engine.ts';
import { createTurns } from '../turns.ts';
import { createCatalog, relation, type TablePlace } from './catalog.ts';
import { ALL_DIGITS, sessionOf, type Connections } from './connection.ts';
import { exportTable } from './export.ts';
import { asTableError, NO_SUCH_TABLE, stateOf } from './failures.ts';
import { lockError, lockRoom, requireRoom } from './lock-room.ts';
import { literal, quoted } from './names.ts';
import { describeTable } from './reading.ts';

/** A snapshot of a database, in one transaction of one connection, while others continue to change it. */
export interface TableMoment {
  /** For what is read besides tables. Statements come one after another, and one at least each half minute. */
  readonly client: Pick<PoolClient, 'query'>;
  /** Reader of the tables. Each is exported once: its lock is released afterwards. */
  readonly tables: TableReader;
  /** Releases the metadata after it was read, so that changes of its tables may continue. */
  freeMetadata(): Promise<void>;
  /** May be called again. */
  end(): Promise<void>;
}

/**
 * Table that is locked: once it is dropped, or replaced by another one, its snapshot is lost, and only a lock prevents
 * that.
 */
interface Held {
  /** Name of the savepoint: the locks taken after it are released when the transaction rolls back to it. */
  readonly name: string;
  readonly place: TablePlace;
  isDone: boolean;
}

const ATTEMPTS = 20;

/**
 * Begins to see a database as it is now. Tables of it are locked against being dropped or changed in their structure,
 * each until it was exported: reading and loading go on. Nothing of a session is used but the one transaction.
 */
export async function openMoment({ pool, schema }: Pick<Database, 'pool' | 'schema'>): Promise<TableMoment> {
  const client = await pool.connect();
  // The waiting statement gets the failure.
  client.on('error', () => undefined);
  for (let attempt = 1; ; attempt++) {
    try {
      return momentOf(client, schema, await lockAll(client, schema));
    } catch (error) {
      const isPassing = error instanceof Changed || isConflict(error) || stateOf(error) === NO_SUCH_TABLE;
      const isOver = await client.query('ROLLBACK').then(
        () => true,
        () => false,
      );
      if (isOver && isPassing && attempt < ATTEMPTS) continue;
      client.release(!isOver);
      throw asTableError(error);
    }
  }
}

/** A table was made between the look at what there is and the moment. */
class Changed extends Error {}

/** The first statement that reads something makes the moment, and locks are no such statement: so all is there that it sees. */
async function lockAll(client: PoolClient, schema: string): Promise<Held[]> {
  await client.query(
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = '1min'",
  );
  const tables = await placesOf(client, schema);
  const { rows: metadata } = await client.query<TablePlace>(
    `SELECT schemaname AS schema, tablename AS name FROM pg_tables WHERE schemaname = ${literal(schema)} ORDER BY 2`,
  );
  const room = await lockRoom(client);
  requireRoom(tables.length + metadata.length, room);
  await client.query('COMMIT');
  // In reverse order of release: savepoints are nested.
  const held = [...tables, ...metadata].map((place, i) => ({ name: `held_${i}`, place, isDone: false }));
  await client.query(
    // A statement is due every minute: a frozen or disconnected client must not hold its locks without end.
    "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL idle_in_transaction_session_timeout = '1min'; " +
      `${ALL_DIGITS}; ` +
      `SET LOCAL tcp_user_timeout = '1min'; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '${LOCK_WAIT}'`,
  );
  for (let i = 0; i < held.length; i += LOCKS)
    await client
      .query(
        held
          .slice(i, i + LOCKS)
          .map(({ name, place }) => `SAVEPOINT ${name}; LOCK TABLE ${relation(place)} IN ACCESS SHARE MODE`)
          .join('; '),
      )
      .catch((error: unknown) => {
        throw lockError(error, held.length, room);
      });
  const known = new Set(held.map(({ place }) => relation(place)));
  const seen = await placesOf(client, schema);
  if (seen.some((place) => !known.has(relation(place)))) throw new Changed('A table was made meanwhile.');
  return held;
}

/** Longest wait for a lock: changes of a table wait no longer than that either. */
const LOCK_WAIT = '30s';

/** Statements that are sent at once. */
const LOCKS = 100;

/** All tables, those that are exported first at the end. */
async function placesOf(client: PoolClient, schema: string): Promise<TablePlace[]> {
  const { rows: catalogues } = await client.query<{ readonly is_there: boolean }>(
    `SELECT to_regclass(${literal(`${quoted(schema)}.table_catalog`)}) IS NOT NULL AS is_there`,
  );
  // A storage whose tables are in a lake.
  if (catalogues[0]?.is_there !== true) return [];
  const { rows } = await client.query<TablePlace>(
    `SELECT schema_name AS schema, relation_name AS name FROM ${quoted(schema)}.table_catalog
     ORDER BY bucket COLLATE "C" DESC, table_name COLLATE "C" DESC`,
  );
  return rows;
}

function momentOf(client: PoolClient, schema: string, held: Held[]): TableMoment {
  const withLocks = createTurns();
  let isOver = false;
  let isBroken = false;
  const transaction: Connections['transaction'] = (work) =>
    withLocks('', async () => {
      const session = sessionOf(client, false, () => void (isBroken = true));
      try {
        return await work(session);
      } catch (error) {
        throw asTableError(error);
      }
    });
  const connections: Connections = {
    isDistributed: false,
    seesClients: false,
    transaction,
    look: (work) => transaction(work),
    alone: async (sql) => void (await client.query(sql)),
    idle: () => withLocks('', () => Promise.resolve()),
  };
  const catalog = createCatalog(schema);
  const store = { connections, catalog, letters: 'C' };

  const letGo = async (isDone: (place: TablePlace) => boolean): Promise<void> => {
    for (const each of held) each.isDone ||= isDone(each.place);
    const last = held.findLastIndex((each) => !each.isDone);
    const [first] = held.splice(last + 1);
    if (first === undefined) return;
    await withLocks('', async () => {
      await client.query(`ROLLBACK TO SAVEPOINT ${first.name}; RELEASE SAVEPOINT ${first.name}`);
    });
  };

  return {
    client,
    tables: {
      describe: async (table) => await describeTable(store, table),
      async export(table, ...rest) {
        const outcome = await exportTable(store, table, ...rest);
        const entry = await connections.transaction(async (session) => await catalog.require(session, table));
        await letGo((place) => relation(place) === relation(entry.place));
        return outcome;
      },
    },
    freeMetadata: async () => await letGo((place) => place.schema === schema),
    async end() {
      if (isOver) return;
      isOver = true;
      // There is nothing to keep, and what is still being sent is not waited for.
      if (!isBroken) await client.query('ROLLBACK').catch(() => void (isBroken = true));
      client.release(isBroken);
    },
  };
}
