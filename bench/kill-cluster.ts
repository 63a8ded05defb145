// Kills processes of a service on several machines, its database and its object store, while clients upload, import,
// update and run: what was acknowledged and is lost, what is there twice, and how long it takes until an import that is
// asked for after the blow ends, and all that were under way; of the longest, what took the time.
//
//   node bench/kill-cluster.ts --s3 http://127.0.0.1:8100 --s3-bucket NAME --s3-role-arn ARN [--ceph FOLDER]
//     [--lake] [--kills 20] [--database-kills 5] [--store-kills 5] [--api 2] [--workers 2] [--runners 1] [--port 54399]
//
// The keys of the store are GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY; the database is made by scripts/postgres.sh in a
// folder of its own. With --ceph the store is killed, too. Ends with exit code 1 when something was lost or doubled, or
// when a recovery took 15 seconds or more, counted by imports that are asked for after the blow.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { StorageClient } from '../src/storage/client/index.ts';
import { peakMb, startCluster, type Cluster } from './cluster/cluster.ts';
import { openStore, startDatabase } from './cluster/engines.ts';
import { explain, recover, timeOf, type Recovery } from './cluster/recovery.ts';
import { check, DEEDS, nothingKnown, prepare, repeat, startPages } from './cluster/work.ts';
import { median, milliseconds, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';

const { values: given } = parseArgs({
  options: {
    s3: { type: 'string', default: 'http://127.0.0.1:8100' },
    's3-bucket': { type: 'string', default: `kill-${process.pid}` },
    's3-role-arn': { type: 'string', default: 'arn:aws:iam:::role/files' },
    lake: { type: 'boolean', default: false },
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
/** An import that is asked for after a blow is to end in less. */
const LONGEST_MS = 15_000;
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
      args: given.lake ? ['--tables', 'lake'] : [],
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
    const recoveries: Recovery[] = [];
    const blow = async (kind: string, strike: () => Promise<unknown>): Promise<void> => {
      await sleep(500 + Math.random() * 1500);
      const struck = performance.now();
      // One that waits for none of those that were under way, as its client has nothing else to do.
      const probing = new AbortController();
      const fresh = repeat(
        async (...given) => await DEEDS.import(...given),
        clientOf(),
        known,
        probing.signal,
      );
      const recovering = recover(kind, struck, known.imports);
      await strike();
      const recovery = await recovering;
      probing.abort();
      await fresh;
      recoveries.push(recovery);
      const [next, last] = [timeOf(recovery, recovery.next), timeOf(recovery, recovery.last)];
      console.error(
        `${kind}: an import ended after ${seconds(next)}, those under way after ${seconds(last)}`,
      );
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
    await report(recoveries, database.url);
    const imports = [...known.batches.values()].reduce((sum, { size }) => sum + size, 0);
    const runs = [...known.runs.values()].reduce((sum, count) => sum + count, 0);
    console.log(
      `acknowledged   ${known.versions.size} versions, ${known.files.size} files, ${imports} imports, ${runs} runs`,
    );
    console.log(
      `start          ${milliseconds(median(starts))}, longest ${milliseconds(Math.max(...starts))}`,
    );
    const memory = cluster.nodes.map((node) => {
      const peak = peakMb(node);
      return `${node.name} ${peak === undefined ? 'has ended by itself' : `${peak.toFixed(0)} MB`}`;
    });
    console.log(`peak memory    ${memory.join(', ')}`);
    console.log(`lost, doubled  ${wrong.length === 0 ? 'nothing' : wrong.slice(0, 20).join('; ')}`);
    if (wrong.length > 0) process.exitCode = 1;
  } finally {
    await cluster?.stop();
    await database.stop();
    await pages.stop();
  }
});

async function report(recoveries: readonly Recovery[], databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await reportTo(client, recoveries);
  } finally {
    await client.end();
  }
}

async function reportTo(client: Client, recoveries: readonly Recovery[]): Promise<void> {
  for (const [title, which] of [
    ['the next import that was asked for', 'next'],
    ['the last import that was under way', 'last'],
  ] as const) {
    const found = recoveries.filter((each) => which === 'next' || each.last !== undefined);
    const kinds = [...new Set(found.map(({ kind }) => kind))];
    printTable(
      `Recovery: from the blow to the end of ${title}`,
      ['', 'times', 'median', 'longest'],
      kinds.map((kind) => {
        const all = found.filter((each) => each.kind === kind).map((each) => timeOf(each, each[which]));
        return [kind, String(all.length), seconds(median(all)), seconds(Math.max(...all))];
      }),
    );
    const [longest] = found.toSorted((a, b) => timeOf(b, b[which]) - timeOf(a, a[which]));
    if (longest === undefined) continue;
    console.log(`longest: ${await explain(longest, longest[which], client)}`);
    if (which === 'next' && timeOf(longest, longest.next) >= LONGEST_MS) process.exitCode = 1;
  }
  const { rows } = await client.query<{ all: string; more: string }>(
    'select count(*) as all, count(*) filter (where attempt > 1) as more from gex.runs',
  );
  console.log(`\nruns           ${rows[0]?.all}, of which ${rows[0]?.more} were taken over`);
}
