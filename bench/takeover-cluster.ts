// Runs of configurations that are killed twice and taken over by runners with empty folders, in processes as on several
// machines: are their tables and states those of undisturbed runs, is each loaded once, and which requests are made again?
//
//   node bench/takeover-cluster.ts --s3 http://127.0.0.1:8100 --s3-bucket NAME --s3-role-arn ARN
//     --database postgres://… [--pages 600] [--latency 250] [--kills 2] [--freeze 0]
//
// Five kinds of runs are started by the API: plain pages; a late column and nested tables; a cursor with a state; children;
// three rows. Blows fall when the source has answered a third and two thirds of what the runs ask for: the runner that has
// most of them is killed by SIGKILL together with its processes of `gex run`. With --freeze SECONDS, more than ten, it is
// stopped by SIGSTOP instead, and comes back from the dead after that time. Each configuration is then run once more, so
// that its state counts. The keys of the store are GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY; the database is an empty one,
// and may be reached through pgbouncer.
//
// Ends with exit code 1 when a table, a state or the number of loads differs; when a request is made again that was
// answered more than 10 seconds before the blow; and when that was not put to the test: a blow that hits
// no run, or one that has no answer as old as that, or no run that was hit by every blow.
import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { encodeExact, parseExact, type Json } from '../src/lib/json/index.ts';
import { StorageClient } from '../src/storage/client/index.ts';
import { startCluster, type Cluster } from './cluster/cluster.ts';
import { openStore } from './cluster/engines.ts';
import { KINDS, startSources, type Kind, type Sources } from './cluster/sources.ts';
import { strike, type Blow } from './cluster/strike.ts';
import { printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { COMMAND } from './support/processes.ts';

const { values: given } = parseArgs({
  options: {
    s3: { type: 'string', default: 'http://127.0.0.1:8100' },
    's3-bucket': { type: 'string', default: `takeover-${process.pid}` },
    's3-role-arn': { type: 'string', default: 'arn:aws:iam:::role/files' },
    database: { type: 'string' },
    pages: { type: 'string', default: '600' },
    latency: { type: 'string', default: '250' },
    kills: { type: 'string', default: '2' },
    freeze: { type: 'string', default: '0' },
  },
});
if (given.database === undefined) throw new Error('--database is the URL of an empty database');
const databaseUrl = given.database;
const COMPONENT = 'ex-generic-v2';
const freezeMs = Number(given.freeze) * 1000;
const kills = Number(given.kills);
const KEPT_EVERY_MS = 5000;
/** A look for what is new, what it takes to keep it, and what a request takes. */
const SLACK_MS = 5000;

const store = await openStore({
  endpoint: given.s3,
  bucket: given['s3-bucket'],
  roleArn: given['s3-role-arn'],
});
const sources = await startSources(Number(given.pages));
await withFolder(async (folder) => {
  // Each runner makes a folder of its own below, and a new process a new one.
  process.env['TMPDIR'] = folder;
  mkdirSync(folder, { recursive: true });
  let cluster: Cluster | undefined;
  try {
    cluster = await startCluster({
      databaseUrl,
      store,
      count: { api: 2, worker: 1, runner: 2 },
      args: ['--runs', '8'],
      encryptionKey: randomBytes(32).toString('base64'),
    });
    const client = new StorageClient({ url: cluster.url, token: await newToken() });
    for (const kind of KINDS)
      for (const how of ['whole', 'killed']) await configure(client, kind, `${kind.name}-${how}`);
    await runAll(client, 'whole');
    const all = sources.answered('-whole');
    sources.latencyMs = Number(given.latency);
    const running = runAll(client, 'killed');
    const blows: Blow[] = [];
    for (let i = 1; i <= kills; i++) {
      await Promise.race([
        reached((all * i) / (kills + 1)),
        running.then(() => Promise.reject(new Error(`The runs ended before blow ${i} fell.`))),
      ]);
      const blow = await strike(cluster, freezeMs);
      console.error(`${blow.runner} was struck, with ${blow.hit.join(', ')}`);
      blows.push(blow);
    }
    await running;
    sources.latencyMs = 0;
    report(sources, blows);
    // The state of the first time counts now.
    await runAll(client, 'whole');
    await runAll(client, 'killed');
    await compare(client);
    client.close();
  } finally {
    await cluster?.stop();
    await sources.stop();
  }
});

async function newToken(): Promise<string> {
  const args = [COMMAND, 'serve', '--database', databaseUrl, '--new-token'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim();
}

async function configure(client: StorageClient, kind: Kind, id: string): Promise<void> {
  const parameters = {
    api: { baseUrl: `${sources.url}${id}/`, ...kind.api },
    config: { outputBucket: id, incrementalOutput: true, ...kind.config },
  };
  const configurations = client.configurations(COMPONENT);
  await configurations.create({
    configurationId: id,
    name: id,
    configuration: parseExact(JSON.stringify({ parameters })),
  });
  for (const [i, row] of (kind.rows ?? []).entries())
    await configurations.rows(id).create({
      rowId: `row-${i}`,
      name: `Row ${i}`,
      configuration: parseExact(JSON.stringify({ parameters: row })),
    });
}

/** Runs one configuration of each kind, all at the same time, to their ends. */
async function runAll(client: StorageClient, how: string): Promise<void> {
  await Promise.all(
    KINDS.map(async ({ name }) => {
      const { id } = await client.runs.start({ component: COMPONENT, configuration: `${name}-${how}` });
      let run = await client.runs.detail(id);
      while (run.status === 'waiting' || run.status === 'processing') {
        await sleep(500);
        run = await client.runs.detail(id);
      }
      if (run.status !== 'success') throw new Error(`${name}-${how}: ${JSON.stringify(run.error)}`);
      console.error(`${name}-${how}: attempt ${run.attempt}`);
    }),
  );
}

/** Waits until so many different requests of the runs that are struck were answered. */
async function reached(count: number): Promise<void> {
  while (sources.answered('-killed') < count) await sleep(50);
}

/** Prints the requests that were repeated for the runs that were hit, and their age at the time of the kill. */
function report({ asked }: Sources, blows: readonly Blow[]): void {
  const lines: string[][] = [];
  for (const [i, { hit, at: blow }] of blows.entries())
    for (const by of hit) {
      const own = asked.filter((one) => one.by === by);
      const before = new Map(own.filter(({ at }) => at < blow).map(({ what, at }) => [what, at]));
      const until = blows[i + 1]?.at ?? Infinity;
      const again = own.filter(({ what, at }) => at > blow && at < until && before.has(what));
      const age = (what: string): number => blow - (before.get(what) ?? blow);
      const old = [...before.keys()].filter((what) => age(what) > KEPT_EVERY_MS + SLACK_MS);
      const oldAgain = again.filter(({ what }) => old.includes(what));
      if (old.length === 0)
        fault(`${by} had no answer that old when blow ${i + 1} fell: give more --latency.`);
      if (oldAgain.length > 0) fault(`${by} asked again for what it had long got when blow ${i + 1} fell.`);
      const oldest = Math.max(0, ...again.map(({ what }) => age(what)));
      const counts = [before.size, old.length, again.length, oldAgain.length].map(String);
      lines.push([`${by}, blow ${i + 1}`, ...counts, seconds(oldest)]);
    }
  printTable(
    `Runs of about ${given.pages} requests: answers there when the blow fell, and asked for again; old: of more than ${seconds(KEPT_EVERY_MS + SLACK_MS)} before`,
    ['', 'answers', 'old', 'again', 'old again', 'the oldest again'],
    lines,
  );
  if (!KINDS.some(({ name }) => blows.every(({ hit }) => hit.includes(`${name}-killed`))))
    fault('No run was hit by every blow.');
}

function fault(message: string): void {
  console.log(message);
  process.exitCode = 1;
}

async function compare(client: StorageClient): Promise<void> {
  const lines: string[][] = [];
  for (const { name } of KINDS) {
    const [whole, killed] = [
      await resultOf(client, `${name}-whole`),
      await resultOf(client, `${name}-killed`),
    ];
    const isEqual = whole.text === killed.text;
    if (!isEqual) fault(`${name}: tables or states differ.`);
    if (whole.loads !== killed.loads)
      fault(`${name}: loads of tables differ: ${killed.loads} and not ${whole.loads}.`);
    const order = whole.inOrder === killed.inOrder ? 'the same' : 'another';
    lines.push([name, String(whole.text.length), isEqual ? 'equal' : 'DIFFERENT', killed.loads, order]);
  }
  printTable('Tables and states', ['', 'bytes', '', 'loads', 'order of rows'], lines);
}

interface Result {
  /** All tables with their rows sorted, and the parts of the states that are no times. */
  readonly text: string;
  readonly inOrder: string;
  /** How often each table was loaded. */
  readonly loads: string;
}

async function resultOf(client: StorageClient, id: string): Promise<Result> {
  const texts: string[] = [];
  const inOrder: string[] = [];
  const loads: number[] = [];
  const all = await client.tables.list({ bucket: `in.c-${id}` });
  const tables = all.map(({ name }) => name).toSorted();
  for (const table of tables) {
    let text = '';
    for await (const piece of await client.tables.read(`in.c-${id}.${table}`)) text += String(piece);
    const [head = '', ...rows] = text.trim().split('\n');
    texts.push([table, head, ...rows.toSorted()].join('\n'));
    inOrder.push(text);
    const jobs = await client.jobs.list({
      tableId: `in.c-${id}.${table}`,
      operationName: ['tableCreate', 'tableImport'],
      limit: 100,
    });
    loads.push(jobs.filter(({ status }) => status === 'success').length);
  }
  const { state, rows } = await client.configurations(COMPONENT).detail(id);
  const states = [state, ...rows.map((row) => row.state)].map((each) => encodeExact((each ?? null) as Json)); // the client decodes it so
  texts.push(states.join('\n').replaceAll(/("(?:previousStart|currentStart)":)\d+/g, '$1…'));
  return { text: texts.join('\n\n'), inOrder: inOrder.join('\n\n'), loads: loads.join(', ') };
}
