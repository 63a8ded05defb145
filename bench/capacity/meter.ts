import { readdirSync, readFileSync } from 'node:fs';
import { Client } from 'pg';
import type { Cluster, Role } from '../cluster/cluster.ts';
import type { DatabaseDoor } from '../cluster/database-door.ts';
import { PARTS, type Spent } from './model.ts';

/** Sums since the beginning; two of them tell what something between them took. */
export interface Reading {
  /** Milliseconds of processor time. */
  readonly spent: Spent;
  readonly roundTrips: number;
  readonly commits: number;
  /** Bytes of the database's log. */
  readonly logBytes: number;
  readonly atMs: number;
}

export interface Meter {
  read(): Promise<Reading>;
  stop(): Promise<void>;
}

export interface MeterOptions {
  readonly cluster: Cluster;
  readonly door: DatabaseDoor;
  readonly databaseUrl: string;
  readonly databasePid: () => number;
  /** The process of the object store, where it is on this machine. */
  readonly storePid: number | undefined;
}

/** Reads processor times from `/proc`, and counts of the database from the database. */
export async function openMeter(options: MeterOptions): Promise<Meter> {
  const { cluster, door, databaseUrl, databasePid, storePid } = options;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  return {
    async read() {
      const { rows } = await client.query<{ commits: string; bytes: string }>(
        `select sum(xact_commit)::text as commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as bytes
         from pg_stat_database`,
      );
      const { user, system } = process.cpuUsage();
      return {
        spent: {
          api: timeOfRole(cluster, 'api'),
          runner: timeOfRole(cluster, 'runner'),
          worker: timeOfRole(cluster, 'worker'),
          database: timeOfFamily(databasePid()),
          store: storePid === undefined ? 0 : timeOfFamily(storePid),
          around: (user + system) / 1000,
        },
        roundTrips: door.roundTrips,
        commits: Number(rows[0]?.commits),
        logBytes: Number(rows[0]?.bytes),
        atMs: performance.now(),
      };
    },
    stop: async () => await client.end(),
  };
}

/** Takes one reading from a later one, for each of `times`. */
export function between(from: Reading, to: Reading, times = 1): Reading {
  const of = (pick: (reading: Reading) => number): number => (pick(to) - pick(from)) / times;
  return {
    spent: spentOf((part) => of(({ spent }) => spent[part])),
    roundTrips: of((reading) => reading.roundTrips),
    commits: of((reading) => reading.commits),
    logBytes: of((reading) => reading.logBytes),
    atMs: of((reading) => reading.atMs),
  };
}

/** Takes away what is spent in the same time when there is nothing to do. */
export function above(standing: Reading, reading: Reading): Reading {
  const share = reading.atMs / standing.atMs;
  const less = (of: (one: Reading) => number): number => Math.max(0, of(reading) - share * of(standing));
  return {
    spent: spentOf((part) => less(({ spent }) => spent[part])),
    roundTrips: less((one) => one.roundTrips),
    commits: less((one) => one.commits),
    logBytes: less((one) => one.logBytes),
    atMs: reading.atMs,
  };
}

export function spentOf(of: (part: (typeof PARTS)[number]) => number): Spent {
  const [api, runner, worker, database, store, around] = PARTS.map(of);
  return {
    api: api ?? 0,
    runner: runner ?? 0,
    worker: worker ?? 0,
    database: database ?? 0,
    store: store ?? 0,
    around: around ?? 0,
  };
}

/** The kernel counts processor time in hundredths of a second. */
const TICK_MS = 10;

function timeOfRole({ nodes }: Cluster, role: Role): number {
  return nodes
    .filter((node) => node.role === role)
    .reduce((sum, { pid }) => sum + timesOf(pid).reduce((a, b) => a + b, 0), 0);
}

/** Processor time of a process, and of its children that have ended. */
function timesOf(pid: number): readonly [own: number, ended: number] {
  const fields = statOf(pid);
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  return [(user + system) * TICK_MS, (endedUser + endedSystem) * TICK_MS];
}

function timeOfFamily(pid: number): number {
  let sum = timesOf(pid).reduce((a, b) => a + b, 0);
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name))
      try {
        if (Number(statOf(Number(name))[1]) === pid) sum += timesOf(Number(name))[0];
      } catch {
        // It has ended, and its parent has its time.
      }
  return sum;
}

/** The fields of `/proc/<pid>/stat` from the state on, which is the third: the name before it may have spaces. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
