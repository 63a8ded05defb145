import { createPlaces } from '../turns.ts';
import { asTableError, stateOf } from './failures.ts';
import type { Pool, PoolClient } from 'pg';

/** Statements of one connection, in one transaction. */
export interface PostgresSession {
  /** Client for commands that are no plain statements. */
  readonly client: PoolClient;
  /** The database spreads tables over several servers. */
  readonly isDistributed: boolean;
  /** Gives how many rows it changed. @param values those of its parameters */
  run(sql: string, values?: readonly unknown[]): Promise<number>;
  rows(sql: string, values?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>;
  /** The only value of the only row, as a number. */
  number(sql: string): Promise<number>;
  /** A change of a table that waits for its readers, but not for ever: others wait behind it. */
  change(sql: string): Promise<void>;
  /** Ends the connection when the transaction fails, in place of waiting for what a statement still gives. */
  abandon(): void;
  /** Does the work, or nothing of it when it throws; the transaction continues. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

export interface Connections {
  /** True when the database can distribute tables over several servers; determined when the engine is opened. */
  isDistributed: boolean;
  /**
   * The database can check, in the middle of a statement, whether its client is still there: on Linux and some others.
   */
  seesClients: boolean;
  /** All of it is stored, or nothing when it throws. @param setting of the transaction, as a statement */
  transaction<T>(work: (session: PostgresSession) => Promise<T>, setting?: string): Promise<T>;
  /** Reads by one statement, which needs no transaction. */
  look<T>(work: (session: PostgresSession) => Promise<T>): Promise<T>;
  /** A statement that can't be in a transaction. */
  alone(sql: string): Promise<void>;
  /** Waits for what is running. */
  idle(): Promise<void>;
}

/** Longest wait of a change of a table for its readers. */
const CHANGE_WAIT = '20s';

/**
 * How long a process may be silent in the middle of a transaction: one that is stopped, or whose machine is gone, would
 * keep all others from what it has locked. Waiting for bytes that go in or out is no silence.
 */
const SILENCE = '10s';

/**
 * Interval in which the database checks, while a statement runs, whether its client is still there: the statement of a
 * killed process would run to its end, and hold its table.
 */
const LOOK_FOR_CLIENT = "SET LOCAL client_connection_check_interval = '2s'";

/** All digits of a double are written, whatever its role or database says. */
export const ALL_DIGITS = 'SET LOCAL extra_float_digits = 1';

/** Checks whether the database supports that on its platform. */
export async function seesClients(session: PostgresSession): Promise<boolean> {
  try {
    await session.attempt(async () => await session.run(LOOK_FOR_CLIENT));
    return true;
  } catch (error) {
    if (stateOf(error) === NOT_THERE) return false;
    throw error;
  }
}

/** Error code for a setting whose value is not supported on this system. */
const NOT_THERE = '22023';

/** Connections of the pool that are left to others. */
const LEFT_TO_OTHERS = 2;

/**
 * Opens connections of the pool, one for each transaction. Nothing is stored in a session: pgbouncer may give the next
 * transaction another one. The same pool serves the metadata, so some connections are left to it.
 */
export function createConnections(pool: Pool): Connections {
  const count = Math.max(1, pool.options.max - LEFT_TO_OTHERS);
  const places = createPlaces(count);

  const connections: Connections = {
    isDistributed: false,
    seesClients: false,
    transaction: (work, setting) =>
      places.use(() => connected((client) => inTransaction(client, { ...connections, setting }, work))),
    look: (work) =>
      places.use(() =>
        connected((client) => work(sessionOf(client, connections.isDistributed, () => undefined))),
      ),
    alone: (sql) => places.use(() => connected(async (client) => void (await client.query(sql)))),
    idle: () => places.alone(() => Promise.resolve()),
  };
  return connections;

  async function connected<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((error: unknown) => {
      throw asTableError(error);
    });
    let broken: Error | undefined;
    const onError = (error: Error): void => void (broken = error);
    client.on('error', onError);
    try {
      return await work(client);
    } catch (error) {
      throw asTableError(broken ?? error);
    } finally {
      client.removeListener('error', onError);
      client.release(broken ?? isLeftOpen(client));
    }
  }
}

const open = new WeakSet<PoolClient>();

/** Tells whether a transaction could not be ended: the connection is closed then, which ends it. */
function isLeftOpen(client: PoolClient): boolean {
  return open.delete(client);
}

async function inTransaction<T>(
  client: PoolClient,
  {
    isDistributed,
    seesClients,
    setting,
  }: Pick<Connections, 'isDistributed' | 'seesClients'> & { readonly setting?: string | undefined },
  work: (session: PostgresSession) => Promise<T>,
): Promise<T> {
  let isAbandoned = false;
  const session = sessionOf(client, isDistributed, () => void (isAbandoned = true));
  open.add(client);
  const silence = `SET LOCAL idle_in_transaction_session_timeout = '${SILENCE}'`;
  const look = seesClients ? [LOOK_FOR_CLIENT] : [];
  await client.query(
    ['BEGIN', silence, ALL_DIGITS, ...look, ...(setting === undefined ? [] : [setting])].join('; '),
  );
  try {
    const result = await work(session);
    await client.query('COMMIT');
    open.delete(client);
    return result;
  } catch (error) {
    if (!isAbandoned)
      await client.query('ROLLBACK').then(
        () => open.delete(client),
        () => undefined,
      );
    throw error;
  }
}

export function sessionOf(client: PoolClient, isDistributed: boolean, abandon: () => void): PostgresSession {
  // Without parameters a statement goes to the server in one message and is prepared nowhere.
  const rows: PostgresSession['rows'] = async (text, values = []) =>
    (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows;
  return {
    client,
    isDistributed,
    abandon,
    rows,
    run: async (sql, values = []) => (await client.query(sql, [...values])).rowCount ?? 0,
    number: async (sql) => Number((await rows(sql))[0]?.[0] ?? 0),
    async change(sql) {
      await client.query(`SET LOCAL lock_timeout = '${CHANGE_WAIT}'; ${sql}; SET LOCAL lock_timeout = 0`);
    },
    async attempt(work) {
      await client.query('SAVEPOINT attempt');
      try {
        const result = await work();
        await client.query('RELEASE SAVEPOINT attempt');
        return result;
      } catch (error) {
        await client.query('ROLLBACK TO SAVEPOINT attempt');
        throw error;
      }
    },
  };
}
