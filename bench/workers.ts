// Compares the throughput of two workers and one, with imports whose time is spent in transfer and checking: wide gzip
// CSV with quoted cells, over PostgreSQL and an object store with connections of a chosen speed.
//
//   node bench/workers.ts --database postgres://… [--s3 http://127.0.0.1:8100] [--s3-bucket NAME] [--s3-role-arn ARN]
//     [--lake] [--rate 400] [--rows 4000] [--columns 60] [--tables 16] [--rounds 3]
//
// `--rate` is the speed of a connection to the object store, in kB a second; 0: no limit, so that the workers, the
// database and the store compete for the processors of this machine. One worker and two take turns; quote the ratio. The
// keys of the store are GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY; the database is an empty one.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { bytesBody, StorageClient } from '../src/storage/client/index.ts';
import { startCluster, type Cluster, type Node } from './cluster/cluster.ts';
import { openStore } from './cluster/engines.ts';
import { startSlowStore } from './cluster/slow-store.ts';
import { median, printTable, seconds } from './support/figures.ts';

const { values: given } = parseArgs({
  options: {
    s3: { type: 'string', default: 'http://127.0.0.1:8100' },
    's3-bucket': { type: 'string', default: `workers-${process.pid}` },
    's3-role-arn': { type: 'string', default: 'arn:aws:iam:::role/files' },
    lake: { type: 'boolean', default: false },
    rate: { type: 'string', default: '400' },
    rows: { type: 'string', default: '4000' },
    columns: { type: 'string', default: '60' },
    tables: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
    database: { type: 'string' },
  },
});
if (given.database === undefined) throw new Error('--database is the URL of an empty database');
const names = Array.from({ length: Number(given.columns) }, (_, i) => `column_${i}`);
const tables = Array.from({ length: Number(given.tables) }, (_, i) => `table_${i}`);
const BUCKET = 'in.c-workers';

const slow = await startSlowStore(given.s3, Number(given.rate) * 1000);
let cluster: Cluster | undefined;
try {
  const place = { bucket: given['s3-bucket'], roleArn: given['s3-role-arn'] };
  cluster = await startCluster({
    databaseUrl: given.database,
    store: await openStore({ endpoint: slow.url, ...place }),
    count: { api: 1, worker: 0, runner: 0 },
    encryptionKey: randomBytes(32).toString('base64'),
    args: given.lake ? ['--tables', 'lake'] : [],
  });
  const client = new StorageClient({ url: cluster.url, token: cluster.token });
  const first = await cluster.add('worker');
  const file = gzipSync(csv(), { level: 6 });
  await client.buckets.create({ name: 'workers', stage: 'in' });
  for (const name of tables) await client.tables.define(BUCKET, { name, columns: names });
  const { id } = await client.files.upload(bytesBody(file), { name: 'rows.csv.gz' });
  const loadAll = async (): Promise<number> => {
    const begun = performance.now();
    await Promise.all(tables.map((name) => client.tables.load(`${BUCKET}.${name}`, { dataFileId: id })));
    return performance.now() - begun;
  };
  // Warm up: some parts are created or compiled once.
  await loadAll();
  const found: { one: number; two: number }[] = [];
  let worker: Node = first;
  for (let round = 0; round < Number(given.rounds); round++) {
    const one = await loadAll();
    const second: Node = await cluster.add('worker');
    const two = await loadAll();
    // In turns also which of them is new.
    await cluster.remove(worker);
    worker = second;
    found.push({ one, two });
  }
  client.close();
  const [one, two] = [median(found.map((each) => each.one)), median(found.map((each) => each.two))];
  const row = (workers: number, ms: number): string[] => [
    String(workers),
    seconds(ms),
    `${((tables.length / ms) * 1000).toFixed(1)}/s`,
  ];
  printTable(
    `${tables.length} imports of ${(file.length / 1e6).toFixed(1)} MB gzip (${given.rows} rows of ${names.length} columns), ` +
      (given.rate === '0' ? 'as fast as the store is' : `${given.rate} kB/s for each connection`),
    ['workers', 'time', 'imports'],
    [row(1, one), row(2, two)],
  );
  const ratio = median(found.map((each) => each.one / each.two));
  console.log(`2 workers do ${ratio.toFixed(2)} times what one does`);
} finally {
  await cluster?.stop();
  await slow.stop();
}

function csv(): Buffer {
  const lines = [names.join(',')];
  for (let row = 0; row < Number(given.rows); row++)
    lines.push(names.map((_, i) => `"${row * i} said ""${randomBytes(3).toString('hex')}"", and"`).join(','));
  return Buffer.from(`${lines.join('\n')}\n`);
}
