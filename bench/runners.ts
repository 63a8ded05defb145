// How runs of configurations against a slow API grow with the number of runners, each of which does one at a time: over
// PostgreSQL and an object store, in processes as on several machines.
//
//   node bench/runners.ts --s3 http://127.0.0.1:8100 --s3-bucket NAME --s3-role-arn ARN
//     --database postgres://… [--runners 4] [--runs 6] [--pages 100] [--latency 100]
//
// The keys of the store are GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY; the database is an empty one. `--runs` are those of
// one runner; several get as many times more.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { StorageClient } from '../src/storage/client/index.ts';
import { startCluster, type Cluster } from './cluster/cluster.ts';
import { openStore } from './cluster/engines.ts';
import { printTable, seconds } from './support/figures.ts';
import { COMMAND } from './support/processes.ts';

const { values: given } = parseArgs({
  options: {
    s3: { type: 'string', default: 'http://127.0.0.1:8100' },
    's3-bucket': { type: 'string', default: `runners-${process.pid}` },
    's3-role-arn': { type: 'string', default: 'arn:aws:iam:::role/files' },
    runners: { type: 'string', default: '4' },
    runs: { type: 'string', default: '6' },
    pages: { type: 'string', default: '100' },
    latency: { type: 'string', default: '100' },
    database: { type: 'string' },
  },
});
if (given.database === undefined) throw new Error('--database is the URL of an empty database');
const databaseUrl = given.database;
const COMPONENT = 'ex-generic-v2';
const [pages, latency] = [Number(given.pages), Number(given.latency)];
const [most, runsOfOne] = [Number(given.runners), Number(given.runs)];

const store = await openStore({
  endpoint: given.s3,
  bucket: given['s3-bucket'],
  roleArn: given['s3-role-arn'],
});
const api = createServer((request, response) => {
  const page = Number(new URL(request.url ?? '', 'http://localhost').searchParams.get('page'));
  const rows = page <= pages ? Array.from({ length: 50 }, (_, i) => ({ id: page * 100 + i, name: 'x' })) : [];
  void sleep(latency).then(() =>
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(rows)),
  );
});
api.listen(0, '127.0.0.1');
await once(api, 'listening');
const { port } = api.address() as AddressInfo; // it listens on a port

let cluster: Cluster | undefined;
try {
  cluster = await startCluster({
    databaseUrl,
    store,
    count: { api: 1, worker: 1, runner: 1 },
    args: ['--runs', '1'],
    encryptionKey: randomBytes(32).toString('base64'),
  });
  const client = new StorageClient({ url: cluster.url, token: await newToken() });
  for (let i = 0; i < most * runsOfOne; i++) await configure(client, i);
  // The first run of all makes what is made once.
  await measure(client, 1);
  const one = await measure(client, runsOfOne);
  for (let i = 1; i < most; i++) await cluster.add('runner');
  const several = await measure(client, most * runsOfOne);
  client.close();
  printTable(
    `Runs of ${pages} pages with ${latency} ms each`,
    ['runners', 'runs', 'time', 'runs a minute'],
    [
      ['1', String(runsOfOne), seconds(one), perMinute(runsOfOne, one)],
      [given.runners, String(most * runsOfOne), seconds(several), perMinute(most * runsOfOne, several)],
    ],
  );
  console.log(`${given.runners} runners do ${((most * one) / several).toFixed(2)} times what one does`);
} finally {
  await cluster?.stop();
  api.close();
}

async function newToken(): Promise<string> {
  const args = [COMMAND, 'serve', '--database', databaseUrl, '--new-token'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim();
}

async function configure(client: StorageClient, i: number): Promise<void> {
  await client.configurations(COMPONENT).create({
    configurationId: `runners-${i}`,
    name: `Runners ${i}`,
    configuration: {
      parameters: {
        api: { baseUrl: `http://127.0.0.1:${port}/`, pagination: { method: 'pagenum', firstPage: 1 } },
        config: { outputBucket: `runners-${i}`, jobs: [{ endpoint: 'rows' }] },
      },
    },
  });
}

/** Milliseconds that so many runs of as many configurations take, all asked for at once. */
async function measure(client: StorageClient, count: number): Promise<number> {
  const begun = performance.now();
  const runs = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      return await client.runs.start({ component: COMPONENT, configuration: `runners-${i}` });
    }),
  );
  for (const { id } of runs) {
    let run = await client.runs.detail(id);
    while (run.status === 'waiting' || run.status === 'processing') {
      await sleep(200);
      run = await client.runs.detail(id);
    }
    if (run.status !== 'success') throw new Error(`run ${id}: ${JSON.stringify(run.error)}`);
  }
  return performance.now() - begun;
}

function perMinute(runs: number, ms: number): string {
  return ((runs / ms) * 60_000).toFixed(1);
}
