// Pushes through a proxy that holds requests, drops answers, answers 504, and passes requests on twice and late; and
// pushes whose service is restored from an earlier copy in the middle, while another client gets the same ids. Counts
// what is lost and doubled in tables without a primary key. Ends with exit code 1 when something was.
//
//   node bench/rough-pushes.ts [--pushes 200] [--seed 1] [--at-once 1] [--only keys|no-keys|restore]
//   node bench/rough-pushes.ts --database postgres://… [--s3 http://127.0.0.1:8100] [--s3-bucket NAME] [--s3-role-arn ARN]
//     [--api 2] [--workers 1]
//
// With --database, an empty one, the proxy stands before several processes of the API and passes each request to the next
// one: what arrives a second time meets another process. There it is the service that must know keys, and nothing is
// restored. The keys of the store are GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { roughPushes, type ServiceOfSeveral } from '../test/runner/mapping/output/rough-pushes.ts';
import { startCluster } from './cluster/cluster.ts';
import { openStore } from './cluster/engines.ts';
import { printTable, seconds } from './support/figures.ts';

const { values: given } = parseArgs({
  options: {
    pushes: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    'at-once': { type: 'string', default: '1' },
    database: { type: 'string' },
    s3: { type: 'string', default: 'http://127.0.0.1:8100' },
    's3-bucket': { type: 'string', default: `rough-${process.pid}` },
    's3-role-arn': { type: 'string', default: 'arn:aws:iam:::role/files' },
    api: { type: 'string', default: '2' },
    workers: { type: 'string', default: '1' },
  },
});
const KINDS = {
  keys: { withKeys: true, withRestore: false },
  'no-keys': { withKeys: false, withRestore: false },
  restore: { withKeys: true, withRestore: true },
};

const several = given.database === undefined ? undefined : await startSeveral(given.database);
const lines: string[][] = [];
try {
  for (const [kind, how] of Object.entries(KINDS)) {
    if (given.only !== '' && given.only !== kind) continue;
    if (several !== undefined && kind !== 'keys') continue;
    lines.push(await roundsOf(kind, how));
  }
} finally {
  await several?.stop();
}
printTable(
  'Pushes into tables without a key',
  ['', 'pushes', 'continued', 'rows', 'lost', 'doubled', 'foreign', 'time'],
  lines,
);

async function roundsOf(
  kind: string,
  how: { readonly withKeys: boolean; readonly withRestore: boolean },
): Promise<string[]> {
  const pushes = Number(given.pushes);
  const begun = performance.now();
  const { rows, lost, doubled, foreign, continued, deeds } = await roughPushes({
    pushes,
    seed: Number(given.seed),
    ...how,
    // A restore stops the service for all.
    atOnce: how.withRestore ? 1 : Number(given['at-once']),
    ...(several === undefined ? {} : { service: several.service }),
  });
  console.log(kind, JSON.stringify(deeds), [...lost, ...doubled, ...foreign].slice(0, 10).join(' '));
  if (lost.length + doubled.length + foreign.length > 0) process.exitCode = 1;
  const figures = [pushes, continued, rows, lost.length, doubled.length, foreign.length].map(String);
  return [kind, ...figures, seconds(performance.now() - begun)];
}

async function startSeveral(
  databaseUrl: string,
): Promise<{ readonly service: ServiceOfSeveral; stop(): Promise<void> }> {
  const store = await openStore({
    endpoint: given.s3,
    bucket: given['s3-bucket'],
    roleArn: given['s3-role-arn'],
  });
  const cluster = await startCluster({
    databaseUrl,
    store,
    count: { api: Number(given.api), worker: Number(given.workers), runner: 0 },
    encryptionKey: randomBytes(32).toString('base64'),
  });
  const [first, ...others] = cluster.nodes.flatMap(({ role, address }) =>
    role === 'api' && address !== undefined ? [address] : [],
  );
  if (first === undefined) throw new Error('--api must be 1 at least');
  return {
    service: { urls: [first, ...others], token: cluster.token },
    stop: async () => await cluster.stop(),
  };
}
