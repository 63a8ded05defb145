// Import and export of a large table through the service, as a client does both: the file is uploaded, loaded by a job,
// exported by a job, and downloaded; over a folder, and with --database over PostgreSQL as well.
//
//   node bench/service-table.ts [--rows 1000000] [--columns 10] [--gzip] [--database postgres://…]
//     [--s3 http://127.0.0.1:8100 --s3-bucket NAME --s3-role-arn ARN]
//
// Prints seconds, and the peak of resident memory of the process of the service up to each step; the client and the file
// are this process. Rows are counted and the digest of all that was downloaded is compared with that of what was sent: it
// ends with exit code 1 when they differ, or when the peak over PostgreSQL is 250 MB or more. The database is an empty
// one. The bytes of files are in a folder, and the service is their object store as well, which takes memory of its own;
// with --s3, beside --database, they are in a store of others, as where several machines share them (its keys are
// GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY). Run it after `npm run build`. --rows 10000000 (1.5 GB) takes some minutes, and
// five times the size of the file on the disk.
import { createHash, randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { fileBody, StorageClient } from '../src/storage/client/index.ts';
import { openStore } from './cluster/engines.ts';
import { printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { COMMAND } from './support/processes.ts';

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    columns: { type: 'string', default: '10' },
    gzip: { type: 'boolean', default: false },
    database: { type: 'string' },
    s3: { type: 'string' },
    's3-bucket': { type: 'string', default: `table-${process.pid}` },
    's3-role-arn': { type: 'string', default: 'arn:aws:iam:::role/files' },
  },
});
const rows = Number(given.rows);
const names = Array.from({ length: Number(given.columns) }, (_, i) => `column_${i}`);
const MEMORY_MB = 250;
const LF = 0x0a;

// A cell as it is written in the file, and in an export.
const plain = (text: string): readonly [string, string] => [text, `"${text}"`];
const quoted = (text: string): readonly [string, string] => [text, text];

/** Options and environment that tell the service where to store everything. */
interface Place {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

interface Content {
  readonly file: string;
  readonly bytes: number;
  /** Digest of all rows as an export writes them: every cell quoted, without a header. */
  readonly digest: string;
}

await withFolder(async (folder) => {
  const content = await writeContent(path.join(folder, 'rows.csv'));
  const inFolder = (dir: string): Place => ({ args: ['--dir', path.join(folder, dir)], environment: {} });
  await measure('a folder', content, inFolder('embedded'));
  if (given.database === undefined) return;
  const place =
    given.s3 === undefined
      ? inFolder('shared')
      : await openStore({
          endpoint: given.s3,
          bucket: given['s3-bucket'],
          roleArn: given['s3-role-arn'],
        });
  const environment = { ...place.environment, GEX_DATABASE_URL: given.database };
  const peakMb = await measure('PostgreSQL', content, { args: place.args, environment });
  if (peakMb >= MEMORY_MB) fault(`The service took ${peakMb.toFixed(0)} MB; the limit is ${MEMORY_MB} MB.`);
});

/** @returns the peak of the memory of the service */
async function measure(title: string, content: Content, place: Place): Promise<number> {
  const service = await startService(place);
  const client = new StorageClient({ url: service.url, token: service.token });
  const lines: string[][] = [];
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const begun = performance.now();
    const result = await work();
    const ms = performance.now() - begun;
    const rate = `${(content.bytes / 1e3 / ms).toFixed(0)} MB/s`;
    lines.push([name, seconds(ms), rate, `${service.peakMb().toFixed(0)} MB`]);
    return result;
  };
  const all = performance.now();
  try {
    await client.buckets.create({ name: 'large', stage: 'in' });
    const file = await step('upload', async () => {
      return await client.files.upload(await fileBody(content.file), { name: 'rows.csv' });
    });
    const { id } = await step('import', async () => {
      return await client.tables.create('in.c-large', { name: 'rows', dataFileId: file.id });
    });
    const found = await client.tables.detail(id);
    if (found.rowsCount !== rows) fault(`${title}: the table has ${found.rowsCount} rows, and not ${rows}.`);
    const { fileId } = await step('export', async () => {
      return await client.tables.export(id, { gzip: given.gzip });
    });
    const got = await step('download', async () => await digestOf(client, fileId));
    if (got.rows !== rows) fault(`${title}: ${got.rows} rows were exported, and not ${rows}.`);
    if (got.digest !== content.digest) fault(`${title}: what was exported is not what was imported.`);
    printTable(
      `${rows} rows × ${names.length} columns, ${(content.bytes / 1e6).toFixed(0)} MB, over ${title}`,
      ['', 'time', 'of the file', 'peak memory by then'],
      [...lines, ['all', seconds(performance.now() - all), '', `${service.peakMb().toFixed(0)} MB`]],
    );
    return service.peakMb();
  } finally {
    client.close();
    await service.stop();
  }
}

function fault(message: string): void {
  console.log(message);
  process.exitCode = 1;
}

interface Service {
  readonly url: string;
  readonly token: string;
  peakMb(): number;
  stop(): Promise<void>;
}

async function startService({ args, environment }: Place): Promise<Service> {
  const ports = ['--port', '0', '--importer-port', '0', ...(args.includes('--s3') ? [] : ['--s3-port', '0'])];
  const child = spawn(process.execPath, [COMMAND, 'serve', ...args, ...ports, '--runs', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Encrypted values need a key, and there is no folder with one.
    env: { ...process.env, GEX_ENCRYPTION_KEY: randomBytes(32).toString('base64'), ...environment },
  });
  const ended = once(child, 'exit');
  const said = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    const [what = '', value = ''] = line.split(/\s+/);
    said.set(what, value);
    if (said.has('api') && said.has('token')) break;
  }
  const [url, token] = [said.get('api'), said.get('token')];
  if (url === undefined || token === undefined)
    throw new Error('The service did not start, or over a database that is not empty.');
  return {
    url,
    token,
    peakMb: () =>
      Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function digestOf(client: StorageClient, fileId: number): Promise<{ rows: number; digest: string }> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const chunk of await client.files.read(fileId, { gunzip: given.gzip })) {
    const bytes = chunk as Buffer; // a stream of bytes without an encoding
    hash.update(bytes);
    // No cell has a line end.
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count++;
  }
  return { rows: count, digest: hash.digest('hex') };
}

/** A fixed sequence, so that runs can be compared. */
async function writeContent(file: string): Promise<Content> {
  const out = createWriteStream(file);
  const hash = createHash('sha256');
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed % below;
  };
  const makers = [
    () => plain(`user${random(100_000)}@example.com`),
    () => quoted(`"Name, with a comma ${random(10_000)}"`),
    () => plain(`2026-${10 + random(3)}-${10 + random(18)}`),
    () => plain(String(random(1_000_000_000))),
    () => quoted(`"He said ""${random(1000)}"""`),
    () => plain(`text ${random(100)}`),
  ];
  let text = `${names.join(',')}\n`;
  let exported = '';
  let bytes = 0;
  for (let row = 1; row <= rows; row++) {
    text += row;
    exported += `"${row}"`;
    for (let i = 1; i < names.length; i++) {
      const [written, shown] = makers[i % makers.length]?.() ?? plain('');
      text += `,${written}`;
      exported += `,${shown}`;
    }
    text += '\n';
    exported += '\n';
    if (row % 10_000 !== 0 && row < rows) continue;
    hash.update(exported);
    bytes += text.length;
    if (!out.write(text)) await once(out, 'drain');
    text = '';
    exported = '';
  }
  out.end();
  await once(out, 'close');
  return { file, bytes, digest: hash.digest('hex') };
}
