import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { RunError } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import { driverAddress, shownAddress } from './address.ts';
import { withStoredPassword } from './password-file.ts';
import { isUnavailable, MAY_NOT, readOnly, reasonOf, refusalOf } from './failures.ts';

export interface DatabaseOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/NAME`, with `sslmode` and the like as PostgreSQL's own clients take them. */
  readonly url: string;
  /** The schema that all of the service is in; default `gex`. It is made when it is missing. */
  readonly schema?: string;
  /** Connections of this process; default 10. */
  readonly poolSize?: number;
  /** How long a start waits for a database that is not up yet, in milliseconds; default 30,000. */
  readonly waitMs?: number;
}

/**
 * A PostgreSQL database that any number of processes work on, through pgbouncer in transaction mode too: whoever uses
 * the pool keeps nothing in a session (no `SET` but `SET LOCAL`, no named statements, no `LISTEN`, no advisory locks
 * but those of a transaction), and names the schema in every statement.
 */
export interface Database {
  readonly pool: Pool;
  /** Plain letters, digits and `_`: it needs no quotes. */
  readonly schema: string;
  /** For messages: without the password. */
  readonly address: string;
  /** Ends all connections; what runs may end. May be called again. */
  close(): Promise<void>;
}

const DEFAULT_SCHEMA = 'gex';

/** Connections of a process; PostgreSQL itself accepts 100 by default. */
const POOL_SIZE = 10;

const CONNECT_MS = 10_000;
const WAIT_MS = 30_000;
const OLDEST = 15;

/**
 * Opens a database, after a check that it can be worked with. Waits for one that is not up yet.
 *
 * @throws {RunError} `database.…`, or `command.invalid` for an address that is none
 */
export async function openDatabase(options: DatabaseOptions, log: Log): Promise<Database> {
  const { schema = DEFAULT_SCHEMA, poolSize = POOL_SIZE, waitMs = WAIT_MS } = options;
  const connectionString = withStoredPassword(driverAddress(options.url), process.env, log);
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || /^pg(?:_|$)/.test(schema))
    throw new RunError('command.invalid', `“${schema}” cannot be the schema of the service.`, {
      hint: 'Take small letters, digits and _, such as gex.',
    });
  const address = shownAddress(options.url);
  const { default: pg } = await import('pg');
  let isClosed = false;
  const pool = makePool();
  const database: Database = {
    pool,
    schema,
    address,
    async close() {
      if (isClosed) return;
      isClosed = true;
      await pool.end();
    },
  };
  try {
    await awaken(database, waitMs, log);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }

  function makePool(): Pool {
    try {
      const made = new pg.Pool({
        connectionString,
        max: poolSize,
        application_name: 'gex',
        connectionTimeoutMillis: CONNECT_MS,
        keepAlive: true,
        keepAliveInitialDelayMillis: 10_000,
        idleTimeoutMillis: 60_000,
      });
      // An idle connection that is lost is simply one less; without a listener the error would end the process.
      made.on('error', (error) =>
        log.debug('A connection to the database was lost', { detail: reasonOf(error) }),
      );
      made.on('connect', (client) => void client.on('error', () => undefined));
      return made;
    } catch (error) {
      // A certificate that cannot be read, a port that is none.
      throw new RunError(
        'command.invalid',
        `The address of the database cannot be used: ${reasonOf(error)}`,
        {
          where: { url: address },
          hint: 'Check its port and the files that sslrootcert, sslcert and sslkey name.',
        },
      );
    }
  }
}

/** Returns the number of connections of the pool in use and idle, and of requests that wait for one. */
export function connectionsOf({ pool }: Database): { used: number; idle: number; waiting: number } {
  const { totalCount, idleCount: idle, waitingCount: waiting } = pool;
  return { used: totalCount - idle, idle, waiting };
}

async function awaken(database: Database, waitMs: number, log: Log): Promise<void> {
  const { address } = database;
  const until = performance.now() + waitMs;
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
    try {
      await check(database);
      return;
    } catch (error) {
      if (error instanceof RunError) throw error;
      const refusal = refusalOf(error, address);
      if (refusal !== undefined) throw refusal;
      if (!isUnavailable(error)) throw error;
      if (performance.now() + pauseMs > until)
        throw new RunError('database.unreachable', `The database could not be reached: ${reasonOf(error)}`, {
          where: { url: address },
          hint: 'Start it, or check host and port, and what is between: a firewall, or a limit of connections.',
          cause: error,
        });
      if (pauseMs === 100)
        log.warn('Waiting for the database', { database: address, detail: reasonOf(error) });
      await sleep(pauseMs);
    }
  }
}

interface Facts {
  readonly version: number;
  readonly encoding: string;
  readonly is_replica: boolean;
  readonly is_read_only: string;
}

async function check({ pool, schema, address }: Database): Promise<void> {
  await requireUsable(async (text) => await pool.query<Facts>(text), address);
  // Asked before: within the transaction that makes the tables, what the database says of it would be lost.
  const { rows } = await pool.query<{ allowed: boolean }>(
    `select to_regnamespace($1) is not null or has_database_privilege(current_database(), 'CREATE') as allowed`,
    [schema],
  );
  if (rows[0]?.allowed === false)
    throw new RunError(
      'database.refused',
      `The user may not make the schema ${schema}, which is not there yet.`,
      { where: { url: address }, hint: MAY_NOT },
    );
}

/** @throws {RunError} `database.tooOld`, `database.refused` or `database.readOnly` */
export async function requireUsable(
  query: (text: string) => Promise<{ readonly rows: readonly Facts[] }>,
  address: string,
): Promise<void> {
  const { rows } = await query(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
       pg_is_in_recovery() as is_replica, current_setting('transaction_read_only') as is_read_only`,
  );
  const [facts] = rows;
  if (facts === undefined) return;
  const major = Math.trunc(facts.version / 10_000);
  if (major < OLDEST)
    throw new RunError(
      'database.tooOld',
      `The database is PostgreSQL ${major}; the service needs ${OLDEST} or newer.`,
      {
        where: { url: address },
        hint: 'Upgrade the server with pg_upgrade, or give the address of a newer one.',
      },
    );
  if (facts.encoding !== 'UTF8')
    throw new RunError(
      'database.refused',
      `The database has the encoding ${facts.encoding}; the service needs UTF8.`,
      {
        where: { url: address },
        hint: 'Make another database: createdb --encoding=UTF8 --template=template0 NAME.',
      },
    );
  if (facts.is_replica || facts.is_read_only === 'on') throw readOnly(address);
}
