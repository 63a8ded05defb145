// Kills processes of a service on several machines, its database and its object store, while clients upload, import and
// update: what was acknowledged and is lost, what is there twice, and how long it takes until imports end again.
//
//   node bench/kill-cluster.ts --s3 http://127.0.0.1:8100 --s3-bucket NAME --s3-role-arn ARN [--ceph FOLDER]
//     [--kills 20] [--database-kills 5] [--store-kills 5] [--api 2] [--workers 2] [--runners 1] [--port 54399]
//
// The keys of the store are GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY; the database is made by scripts/postgres.sh in a
// folder of its own. With --ceph the store is killed, too. Ends with exit code 1 when something was lost or doubled.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { StorageClient } from '../src/storage/client/index.ts';
import { peakMb, startCluster, type Cluster } from './cluster/cluster.ts';
import { openStore, startDatabase } from './cluster/engines.ts';
import { check, DEEDS, nothingKnown, prepare, repeat, startPages, type Known } from './cluster/work.ts';
import { median, milliseconds, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';

const { values: given } = parseArgs({
  options: {
    s3: { type: 'string', default: 'http://127.0.0.1:8100' },
    's3-bucket': { type: 'string', default: `kill-${process.pid}` },
    's3-role-arn': { type: 'string', default: 'arn:aws:iam:::role/files' },
    ceph: { type: 'string' },
    kills: { type: 'string', default: '20' },
    'database-kills': { type: 'string', default: '5' },
    'store-kills': { type: 'string', default: '5' },
    api: { type: 'string', default: '2' },
    workers: { type: 'string', default: '2' },
    runners: { type: 'string', default: '1' },
    port: { type: 'string', default: '54399' },
  },
});
const CLIENTS_OF_A_KIND = 3;
const store = await openStore({
  endpoint: given.s3,
  bucket: given['s3-bucket'],
  roleArn: given['s3-role-arn'],
  cephFolder: given.ceph,
});

await withFolder(async (folder) => {
  const database = await startDatabase(path.join(folder, 'postgres'), Number(given.port));
  const pages = await startPages();
  let cluster: Cluster | undefined;
  try {
    cluster = await startCluster({
      databaseUrl: database.url,
      store,
      count: { api: Number(given.api), worker: Number(given.workers), runner: Number(given.runners) },
      encryptionKey: randomBytes(32).toString('base64'),
    });
    const { url, token } = cluster;
    const clients: StorageClient[] = [];
    const clientOf = (): StorageClient => {
      const client = new StorageClient({ url, token });
      clients.push(client);
      return client;
    };
    const known = nothingKnown();
    await prepare(clientOf(), pages.url);
    const ending = new AbortController();
    const work = Object.values(DEEDS).flatMap((deed) =>
      Array.from({ length: CLIENTS_OF_A_KIND }, async () => {
        await repeat(deed, clientOf(), known, ending.signal);
      }),
    );
    const recoveries: Record<string, number[]> = {};
    const blow = async (kind: string, strike: () => Promise<unknown>): Promise<void> => {
      await sleep(500 + Math.random() * 1500);
      const struck = performance.now();
      await strike();
      (recoveries[kind] ??= []).push(await recovery(known, struck));
      console.error(`${kind}: recovered after ${milliseconds(recoveries[kind].at(-1) ?? 0)}`);
    };
    const starts: number[] = [];
    for (let i = 0; i < Number(given.kills); i++) {
      const node = cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)];
      if (node === undefined) break;
      const running = cluster;
      await blow(node.role, async () => {
        const { startMs } = await running.replace(node, { signal: 'SIGKILL', pauseMs: Math.random() * 1000 });
        starts.push(startMs);
      });
    }
    for (let i = 0; i < Number(given['database-kills']); i++)
      await blow('database', async () => await database.crash());
    for (let i = 0; i < Number(given['store-kills']) && store.kill !== undefined; i++)
      await blow('store', async () => await store.kill?.(Math.random() * 2000));
    ending.abort();
    await Promise.all(work);
    const wrong = await check(clientOf(), known);
    for (const client of clients) client.close();
    printTable(
      'Recovery: from the blow to the next import that ends',
      ['', 'times', 'median', 'longest'],
      Object.entries(recoveries).map(([kind, all]) => [
        kind,
        String(all.length),
        seconds(median(all)),
        seconds(Math.max(...all)),
      ]),
    );
    const imports = [...known.batches.values()].reduce((sum, { size }) => sum + size, 0);
    const runs = [...known.runs.values()].reduce((sum, count) => sum + count, 0);
    console.log(
      `acknowledged   ${known.versions.size} versions, ${known.files.size} files, ${imports} imports, ${runs} runs`,
    );
    console.log(
      `start          ${milliseconds(median(starts))}, longest ${milliseconds(Math.max(...starts))}`,
    );
    const memory = cluster.nodes.map((node) => `${node.name} ${peakMb(node).toFixed(0)} MB`);
    console.log(`peak memory    ${memory.join(', ')}`);
    console.log(`lost, doubled  ${wrong.length === 0 ? 'nothing' : wrong.slice(0, 20).join('; ')}`);
    if (wrong.length > 0) process.exitCode = 1;
  } finally {
    await cluster?.stop();
    await database.stop();
    await pages.stop();
  }
});

/** Milliseconds from a blow until an import ended that had not ended before. */
async function recovery(known: Known, struck: number): Promise<number> {
  const latest = struck + 120_000;
  while (known.lastEndMs <= struck && performance.now() < latest) await sleep(20);
  return (known.lastEndMs > struck ? known.lastEndMs : performance.now()) - struck;
}
