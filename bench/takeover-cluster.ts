// Runs of configurations that are killed twice and taken over by runners with empty folders, in processes as on several
// machines: are their tables and states those of undisturbed runs, and how many requests are made again?
//
//   node bench/takeover-cluster.ts --s3 http://127.0.0.1:8100 --s3-bucket NAME --s3-role-arn ARN
//     --database postgres://… [--pages 600] [--latency 150] [--kills 2] [--freeze 0]
//
// Five kinds of runs are started by the API: plain pages; a late column and nested tables; a cursor with a state; children;
// three rows. Twice the runner that is at work is killed by SIGKILL together with its processes of `gex run`. With
// --freeze SECONDS it is stopped by SIGSTOP instead, and goes on after that time. Each configuration is then run once
// more, so that its state counts. The keys of the store are GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY; the database is an
// empty one, and may be reached through pgbouncer. Ends with exit code 1 when a table or a state differs, or when a
// request is made again that was answered more than 30 seconds (and a moment) before the blow.
import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { encodeExact, parseExact, type Json } from '../src/json/index.ts';
import { StorageClient } from '../src/storage/client/index.ts';
import { startCluster, type Cluster, type Node } from './cluster/cluster.ts';
import { openStore } from './cluster/engines.ts';
import { KINDS, startSources, type Kind, type Sources } from './cluster/sources.ts';
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
    latency: { type: 'string', default: '150' },
    kills: { type: 'string', default: '2' },
    freeze: { type: 'string', default: '0' },
  },
});
if (given.database === undefined) throw new Error('--database is the URL of an empty database');
const databaseUrl = given.database;
const COMPONENT = 'ex-generic-v2';
const freezeMs = Number(given.freeze) * 1000;
const KEPT_EVERY_MS = 30_000;
/** A look for what is new, what it takes to keep it, and what a request takes. */
const SLACK_MS = 5000;

const store = await openStore({
  endpoint: given.s3,
  bucket: given['s3-bucket'],
  roleArn: given['s3-role-arn'],
});
const sources = await startSources(Number(given.pages), Number(given.latency));
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
    const begun = performance.now();
    await runAll(client, 'whole');
    const wholeMs = performance.now() - begun;
    const running = runAll(client, 'killed');
    const blows: number[] = [];
    for (let i = 0; i < Number(given.kills); i++) {
      await sleep((wholeMs / (Number(given.kills) + 1)) * (0.7 + 0.6 * Math.random()));
      blows.push(performance.now());
      await strike(cluster);
    }
    await running;
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

/** Strikes the runner that has most to do. */
async function strike(cluster: Cluster): Promise<void> {
  const runners = cluster.nodes.filter(({ role }) => role === 'runner');
  const [busiest] = runners.toSorted((a, b) => childrenOf(b.pid).length - childrenOf(a.pid).length);
  if (busiest === undefined) return;
  const pids = childrenOf(busiest.pid);
  console.error(`${busiest.name} is struck, with ${pids.length} runs`);
  if (freezeMs > 0) await freeze(busiest, pids);
  else {
    // The runner first, as when a machine is gone: its processes have no time to end in good order.
    process.kill(busiest.pid, 'SIGKILL');
    for (const pid of pids) killIfThere(pid);
    await cluster.replace(busiest, { signal: 'SIGKILL', pauseMs: 0 });
  }
}

async function freeze(runner: Node, pids: readonly number[]): Promise<void> {
  const all = [runner.pid, ...pids];
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  await sleep(freezeMs);
  for (const pid of all) process.kill(pid, 'SIGCONT');
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // its channel broke with its runner, and it has ended
  }
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}

/** What was asked for again behind each blow, and how long before the blow it had been answered. */
function report({ asked }: Sources, blows: readonly number[]): void {
  const lines = blows.flatMap((blow, i) =>
    KINDS.map(({ name }) => {
      const own = asked.filter(({ by }) => by === `${name}-killed`);
      const before = new Map(own.filter(({ at }) => at < blow).map(({ what, at }) => [what, at]));
      const until = blows[i + 1] ?? Infinity;
      const again = own.filter(({ what, at }) => at > blow && at < until && before.has(what));
      const oldest = Math.max(0, ...again.map(({ what }) => blow - (before.get(what) ?? blow)));
      if (oldest > KEPT_EVERY_MS + SLACK_MS) process.exitCode = 1;
      return [`${name}, blow ${i + 1}`, String(before.size), String(again.length), seconds(oldest)];
    }),
  );
  printTable(
    `Runs of about ${given.pages} requests`,
    ['', 'answered by then', 'again', 'the oldest of them'],
    lines,
  );
}

async function compare(client: StorageClient): Promise<void> {
  const lines: string[][] = [];
  for (const { name } of KINDS) {
    const [whole, killed] = [
      await resultOf(client, `${name}-whole`),
      await resultOf(client, `${name}-killed`),
    ];
    const isEqual = whole.text === killed.text;
    if (!isEqual) process.exitCode = 1;
    const order = whole.inOrder === killed.inOrder ? 'the same' : 'another';
    lines.push([name, String(whole.text.length), isEqual ? 'equal' : 'DIFFERENT', order]);
  }
  printTable('Tables and states', ['', 'bytes', '', 'order of rows'], lines);
}

/** All tables of a configuration with their rows sorted, and the parts of its states that are no times. */
async function resultOf(client: StorageClient, id: string): Promise<{ text: string; inOrder: string }> {
  const texts: string[] = [];
  const inOrder: string[] = [];
  const all = await client.tables.list({ bucket: `in.c-${id}` });
  const tables = all.map(({ name }) => name).toSorted();
  for (const table of tables) {
    let text = '';
    for await (const piece of await client.tables.read(`in.c-${id}.${table}`)) text += String(piece);
    const [head = '', ...rows] = text.trim().split('\n');
    texts.push([table, head, ...rows.toSorted()].join('\n'));
    inOrder.push(text);
  }
  const { state, rows } = await client.configurations(COMPONENT).detail(id);
  const states = [state, ...rows.map((row) => row.state)].map((each) => encodeExact((each ?? null) as Json)); // the client decodes it so
  texts.push(states.join('\n').replaceAll(/("(?:previousStart|currentStart)":)\d+/g, '$1…'));
  return { text: texts.join('\n\n'), inOrder: inOrder.join('\n\n') };
}
