/**
 * Costs of loads, runs and lists, the part that gives first when there are more of them, and a model of that, which is held
 * against a real run.
 *
 *   node bench/capacity.ts --s3 http://127.0.0.1:9000 --s3-bucket NAME [--s3-pid N] [--tables lake] [--times 20]
 *     [--minutes 10] [--share 0.6] [--pages 5] [--costs FILE]
 *
 * It starts PostgreSQL, an API process, a worker and a runner, and measures processor time, round trips and commits of a
 * load, a run, a page, a list, a waiting run, and of nothing at all. With --minutes it then asks for runs at random
 * moments for so long, as many as take --share of this machine's processors, and holds the model against what came of it.
 * Last it asks the model for 1,000 to 1,000,000 runs a day. --costs keeps what was measured in a file, and takes it from
 * there the next time. The keys of the store are GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY; --s3-pid counts its processor
 * time, too. Nothing else may work on the machine.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { Client } from 'pg';
import { StorageClient } from '../src/storage/client/index.ts';
import { COMPONENT, configure, load, makeTables, run, startApi } from './capacity/deeds.ts';
import { above, between, openMeter, spentOf, type Meter, type Reading } from './capacity/meter.ts';
import {
  at,
  PARTS,
  randomFrom,
  simulate,
  sumOf,
  type Layout,
  type Outcome,
  type RunCosts,
} from './capacity/model.ts';
import { startCluster, type Cluster } from './cluster/cluster.ts';
import { openDatabaseDoor, type DatabaseDoor } from './cluster/database-door.ts';
import { openStore, startDatabase } from './cluster/engines.ts';
import { milliseconds, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { COMMAND } from './support/processes.ts';

const { values: given } = parseArgs({
  options: {
    s3: { type: 'string', default: 'http://127.0.0.1:9000' },
    's3-bucket': { type: 'string', default: `capacity-${process.pid}` },
    's3-role-arn': { type: 'string', default: 'arn:aws:iam:::role/files' },
    's3-pid': { type: 'string' },
    tables: { type: 'string', default: 'postgres' },
    port: { type: 'string', default: '54398' },
    times: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '0' },
    share: { type: 'string', default: '0.6' },
    pages: { type: 'string', default: '5' },
    costs: { type: 'string' },
  },
});
const times = Number(given.times);
const pages = Number(given.pages);
const LATENCY_MS = 100;
const RUNS_AT_ONCE = 8;
const LOADS_OF_A_WORKER = 4;
const LARGE_ROWS = 100_000;
const WAITING = 500;

/** Readings by what they are of, and what else is known of commits. */
interface Costs {
  readonly readings: Readonly<Record<string, Reading>>;
  /** Loads a second into different tables, all asked for at once, by milliseconds to the database. */
  readonly loadsPerSecond: Readonly<Record<string, number>>;
  readonly connections: number;
}

await withFolder(async (folder) => {
  const kept = given.costs;
  const isKept = kept !== undefined && existsSync(kept);
  let costs = isKept ? (JSON.parse(readFileSync(kept, 'utf8')) as Costs) : undefined; // written below
  if (costs === undefined || Number(given.minutes) > 0)
    await withCluster(folder, async (cluster, door, meter, databaseUrl) => {
      const client = new StorageClient({ url: cluster.url, token: await newToken(databaseUrl) });
      const api = await startApi(LATENCY_MS);
      try {
        costs ??= await measureCosts(client, api.url, door, meter);
        if (kept !== undefined) writeFileSync(kept, `${JSON.stringify(costs, undefined, 2)}\n`);
        showCosts(costs);
        if (Number(given.minutes) > 0) await compare(client, api.url, meter, databaseUrl, costs);
      } finally {
        client.close();
        await api.stop();
      }
    });
  else showCosts(costs);
  if (costs !== undefined) project(costs);
});

async function withCluster(
  folder: string,
  work: (cluster: Cluster, door: DatabaseDoor, meter: Meter, databaseUrl: string) => Promise<void>,
): Promise<void> {
  const store = await openStore({
    endpoint: given.s3,
    bucket: given['s3-bucket'],
    roleArn: given['s3-role-arn'],
  });
  const database = await startDatabase(path.join(folder, 'postgres'), Number(given.port));
  const door = await openDatabaseDoor(database.url);
  let cluster: Cluster | undefined;
  let meter: Meter | undefined;
  try {
    cluster = await startCluster({
      databaseUrl: door.url,
      store,
      count: { api: 1, worker: 1, runner: 1 },
      args: [
        '--runs',
        String(RUNS_AT_ONCE),
        '--runs-of-token',
        String(RUNS_AT_ONCE),
        '--tables',
        given.tables,
      ],
      encryptionKey: randomBytes(32).toString('base64'),
    });
    const storePid = given['s3-pid'] === undefined ? undefined : Number(given['s3-pid']);
    meter = await openMeter({
      cluster,
      door,
      databaseUrl: database.url,
      databasePid: database.pid,
      storePid,
    });
    await work(cluster, door, meter, door.url);
  } finally {
    await meter?.stop();
    await cluster?.stop();
    await door.stop();
    await database.stop();
  }
}

async function newToken(databaseUrl: string): Promise<string> {
  const args = [COMMAND, 'serve', '--database', databaseUrl, '--new-token'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim();
}

async function measureCosts(
  client: StorageClient,
  api: string,
  door: DatabaseDoor,
  meter: Meter,
): Promise<Costs> {
  const tables = Array.from({ length: 8 }, (_, n) => `table_${n}`);
  await makeTables(client, tables);
  await configure(client, api, ['one'], 1);
  await configure(client, api, ['many'], 101);
  // The first of each kind makes what is made once.
  await load(client, 'table_0', 1);
  await run(client, 'one');
  await run(client, 'many');

  const readings: Record<string, Reading> = {};
  const standing = await spentIn(meter, async () => await sleep(20_000));
  readings['a second without work'] = scaled(standing, 1000 / standing.atMs);
  const measure = async (name: string, count: number, deed: () => Promise<unknown>): Promise<Reading> => {
    const all = await spentIn(meter, async () => {
      for (let n = 0; n < count; n++) await deed();
    });
    const one = scaled(above(standing, all), 1 / count);
    readings[name] = one;
    console.error(`${name}: ${milliseconds(sumOf(one.spent))} of processors`);
    return one;
  };
  await measure('a load of 1 row', times, async () => await load(client, 'table_0', 1));
  await measure(`a load of ${LARGE_ROWS} rows`, Math.ceil(times / 5), async () => {
    await load(client, 'table_1', LARGE_ROWS);
  });
  const one = await measure('a run of 1 page', times, async () => await run(client, 'one'));
  const many = await measure(
    'a run of 101 pages',
    Math.ceil(times / 10),
    async () => await run(client, 'many'),
  );
  readings['a further page'] = scaled(between(one, many), 1 / 100);
  await measure('a list of 100 jobs', times, async () => await client.jobs.list({ limit: 100 }));
  await measure('a list of 50 runs', times, async () => await client.runs.list({ limit: 50 }));

  const loadsPerSecond: Record<string, number> = {};
  for (const latencyMs of [0, 10]) {
    door.latencyMs = latencyMs;
    const begun = performance.now();
    const each = async (table: string): Promise<void> => {
      for (let n = 0; n < Math.ceil(times / 4); n++) await load(client, table, 1);
    };
    await Promise.all(tables.map(each));
    loadsPerSecond[latencyMs] = (tables.length * Math.ceil(times / 4) * 1000) / (performance.now() - begun);
  }
  door.latencyMs = 0;
  const { connections } = door;

  // A configuration has one run at work at a time: all but the first wait.
  await configure(client, api, ['slow'], 3000);
  const start = async () => await client.runs.start({ component: COMPONENT, configuration: 'slow' });
  const first = await start();
  await sleep(3000);
  const ids: string[] = [];
  await measure('a run that is asked for and waits', WAITING, async () => void ids.push((await start()).id));
  const waiting = await spentIn(meter, async () => await sleep(20_000));
  readings[`a second with ${WAITING} that wait, and one at work`] = scaled(waiting, 1000 / waiting.atMs);
  for (const id of ids) await client.runs.cancel(id);
  await client.runs.cancel(first.id);
  for (let status = 'processing'; status === 'processing'; await sleep(250))
    ({ status } = await client.runs.detail(first.id));
  return { readings, loadsPerSecond, connections };
}

async function spentIn(meter: Meter, work: () => Promise<void>): Promise<Reading> {
  const before = await meter.read();
  await work();
  return between(before, await meter.read());
}

/** Processor times are rounded, so that a difference of two may be less than nothing. */
function scaled(reading: Reading, by: number): Reading {
  return {
    spent: spentOf((part) => Math.max(0, reading.spent[part]) * by),
    roundTrips: reading.roundTrips * by,
    commits: reading.commits * by,
    logBytes: reading.logBytes * by,
    atMs: reading.atMs * by,
  };
}

function showCosts({ readings, loadsPerSecond, connections }: Costs): void {
  printTable(
    `Tables: ${given.tables}. Processor time in ms of each part, and what the database is asked`,
    ['', ...PARTS, 'all', 'time', 'round trips', 'commits', 'log, kB'],
    Object.entries(readings).map(([name, { spent, roundTrips, commits, logBytes, atMs }]) => [
      name,
      ...PARTS.map((part) => spent[part].toFixed(1)),
      sumOf(spent).toFixed(1),
      milliseconds(atMs),
      roundTrips.toFixed(1),
      commits.toFixed(1),
      (logBytes / 1000).toFixed(1),
    ]),
  );
  for (const [latency, rate] of Object.entries(loadsPerSecond))
    console.log(`Loads into 8 tables at once, ${latency} ms to the database: ${rate.toFixed(1)} a second`);
  console.log(`Connections of three processes: ${connections}`);
}

function costsOfRuns({ readings }: Costs): RunCosts {
  const of = (name: string): Reading => {
    const reading = readings[name];
    if (reading === undefined) throw new Error(`Not measured: ${name}`);
    return reading;
  };
  const run = of('a run of 1 page');
  return {
    run: run.spent,
    page: of('a further page').spent,
    idleMs: Math.max(0, run.atMs - sumOf(run.spent) - LATENCY_MS),
    standing: of('a second without work').spent,
  };
}

/** How long a commit of a lake keeps others out where the database is so many milliseconds away; of PostgreSQL none does. */
function commitMs({ loadsPerSecond }: Costs, latencyMs: number): number {
  if (given.tables !== 'lake') return 0;
  const [near = 1, far = 1] = [loadsPerSecond['0'], loadsPerSecond['10']].map(
    (rate) => 1000 / (rate ?? Number.NaN),
  );
  return Math.min(near, far) + (Math.max(0, far - near) * latencyMs) / 10;
}

/** Asks for runs at random moments, and holds the model against what came of it. */
async function compare(
  client: StorageClient,
  api: string,
  meter: Meter,
  databaseUrl: string,
  costs: Costs,
): Promise<void> {
  const cores = availableParallelism();
  const of = costsOfRuns(costs);
  const each = sumOf(of.run) + (pages - 1) * sumOf(of.page);
  const perSecond = ((cores - sumOf(of.standing) / 1000) * 1000 * Number(given.share)) / each;
  const names = Array.from({ length: 100 }, (_, n) => `many-${n}`);
  await configure(client, api, names, pages);
  for (const name of names.slice(0, 3)) await run(client, name);
  console.error(`${perSecond.toFixed(2)} runs a second for ${given.minutes} minutes`);

  const endMs = Number(given.minutes) * 60_000;
  const begun = performance.now();
  const random = randomFrom(1);
  const asked: string[] = [];
  const before = await meter.read();
  for (let n = 0, at = 0; ; n++) {
    at += (-Math.log(1 - random()) * 1000) / perSecond;
    if (at > endMs) break;
    await sleep(Math.max(0, at - (performance.now() - begun)));
    const configuration = names[n % names.length] ?? '';
    asked.push((await client.runs.start({ component: COMPONENT, configuration })).id);
  }
  await sleep(Math.max(0, endMs - (performance.now() - begun)));
  const spent = between(before, await meter.read());
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  const { rows } = await database.query<{ wait: number; all: number }>(
    `select extract(epoch from started::timestamptz - created::timestamptz)::float8 * 1000 as wait,
       extract(epoch from ended::timestamptz - created::timestamptz)::float8 * 1000 as "all"
     from gex.runs where id = any($1) and status = 'success'`,
    [asked],
  );
  await database.end();
  const sorted = (pick: (row: { wait: number; all: number }) => number): number[] =>
    rows.map(pick).toSorted((a, b) => a - b);
  const all = sorted((row) => row.all);
  const measured: Outcome = {
    arrived: asked.length,
    ended: rows.length,
    medianMs: at(all, 0.5),
    p95Ms: at(all, 0.95),
    waitP95Ms: at(
      sorted(({ wait }) => wait),
      0.95,
    ),
    busy: [['machine 1', sumOf(spent.spent) / (endMs * cores)]],
  };
  const model = simulate(
    { runsPerDay: perSecond * 86_400, pages, latencyMs: LATENCY_MS },
    oneMachine(cores, commitMs(costs, 0)),
    of,
    { seconds: endMs / 1000, random: randomFrom(1) },
  );
  const rowOf = (
    name: string,
    pick: (outcome: Outcome) => number,
    show: (value: number) => string,
  ): string[] => [name, show(pick(measured)), show(pick(model)), (pick(model) / pick(measured)).toFixed(2)];
  printTable(
    `${perSecond.toFixed(2)} runs of ${pages} pages a second for ${given.minutes} minutes, ${cores} cores`,
    ['', 'measured', 'model', 'model / measured'],
    [
      rowOf('asked for', ({ arrived }) => arrived, String),
      rowOf('ended well', ({ ended }) => ended, String),
      rowOf('median time', ({ medianMs }) => medianMs, seconds),
      rowOf('95 %', ({ p95Ms }) => p95Ms, seconds),
      rowOf('processors busy', busyOf, (share) => `${(share * 100).toFixed(0)} %`),
    ],
  );
}

function busyOf({ busy }: Outcome): number {
  return busy.find(([name]) => name === 'machine 1')?.[1] ?? 0;
}

function oneMachine(cores: number, commit: number): Layout {
  const here = [0];
  const places = { api: here, runner: here, worker: here, database: here, store: here, around: here };
  return { cores: [cores], places, runs: RUNS_AT_ONCE, loads: LOADS_OF_A_WORKER, commitMs: commit };
}

/** Machines as several would be: the API on one or more, and so runners and workers; the database and the store apart. */
function several(
  apis: number,
  runners: number,
  workers: number,
  databaseCores: number,
  commit: number,
): Layout {
  const api = series(0, apis);
  const runner = series(apis, runners);
  const worker = series(apis + runners, workers);
  const rest = apis + runners + workers;
  return {
    // The store, clients and the APIs that are asked are elsewhere, and never in the way.
    cores: [...[...api, ...runner, ...worker].map(() => 2), databaseCores, 1000],
    places: { api, runner, worker, database: [rest], store: [rest + 1], around: [rest + 1] },
    runs: runners * RUNS_AT_ONCE,
    loads: workers * LOADS_OF_A_WORKER,
    commitMs: commit,
  };
}

/** Shows what is needed for more and more runs a day, and what is the busiest then. */
function project(costs: Costs): void {
  const of = costsOfRuns(costs);
  const lines = [1000, 10_000, 100_000, 1_000_000].flatMap((runsPerDay) =>
    [1, 10].map((databaseMs) => {
      const perMs = runsPerDay / 86_400_000;
      // Six of ten of the processors of machines with two, and of the places.
      const machinesFor = (spent: number): number => Math.max(1, Math.ceil((perMs * spent) / 2 / 0.6));
      const runMs = of.idleMs + sumOf(of.run) + pages * LATENCY_MS;
      const runners = Math.max(
        machinesFor(of.run.runner + (pages - 1) * of.page.runner),
        Math.ceil((perMs * runMs) / RUNS_AT_ONCE / 0.6),
      );
      const [apis, workers] = [machinesFor(of.run.api), machinesFor(of.run.worker)];
      const databaseCores = machinesFor(of.run.database) * 2;
      const layout = several(apis, runners, workers, databaseCores, commitMs(costs, databaseMs));
      const outcome = simulate({ runsPerDay, pages, latencyMs: LATENCY_MS }, layout, of, {
        seconds: runsPerDay >= 1_000_000 ? 600 : 3600,
        random: randomFrom(1),
      });
      const names = new Map(
        layout.cores.map((_, n) => [`machine ${n + 1}`, nameOf(n, apis, runners, workers)]),
      );
      const [name = '', share = 0] = outcome.busy[0] ?? [];
      return [
        `${runsPerDay.toLocaleString('en')}, ${databaseMs} ms`,
        `${apis} + ${runners} + ${workers}`,
        String(databaseCores),
        String((apis + runners + workers) * 10),
        seconds(outcome.medianMs),
        seconds(outcome.p95Ms),
        outcome.ended >= outcome.arrived * 0.9 ? 'yes' : 'no',
        `${names.get(name) ?? name}, ${(share * 100).toFixed(0)} %`,
      ];
    }),
  );
  printTable(
    `Runs of ${pages} pages a day, and milliseconds to the database; machines with two processors for API + runners + workers`,
    ['', 'machines', 'database cores', 'connections', 'median', '95 %', 'kept up', 'busiest'],
    lines,
  );
}

function nameOf(machine: number, apis: number, runners: number, workers: number): string {
  if (machine < apis) return 'API';
  if (machine < apis + runners) return 'runners';
  if (machine < apis + runners + workers) return 'workers';
  return machine === apis + runners + workers ? 'database' : 'the rest';
}

function series(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => from + n);
}
