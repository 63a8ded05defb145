/**
 * Migration of a whole storage, killed three times and given again: how long all attempts take, their peak memory, and
 * whether both sides are equal in the end, as the command says.
 *
 *   node bench/migrate.ts [--mb 1000] [--tables 200] [--configs 500] [--versions 20] [--files 1000] [--kills 3]
 *                         [--database URL]
 *
 * From a folder into another one; with `--database`, into that empty database and an object store of this process, and
 * from there into a folder. Run it after `npm run build`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { systemEnv } from '../src/lib/env.ts';
import { silentLog } from '../src/lib/log.ts';
import { StorageClient } from '../src/storage/client/index.ts';
import { bytesBody } from '../src/storage/client/transfer/body.ts';
import { listenOn } from '../src/service/platform/connections/listening.ts';
import { createFolderStore } from '../src/service/stores/objects/folder-store.ts';
import { createS3Server } from '../src/service/stores/objects/s3/server.ts';
import { createService } from '../src/service/start/service.ts';
import { printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { COMMAND } from './support/processes.ts';

const { values: options } = parseArgs({
  options: {
    mb: { type: 'string', default: '1000' },
    tables: { type: 'string', default: '200' },
    configs: { type: 'string', default: '500' },
    versions: { type: 'string', default: '20' },
    files: { type: 'string', default: '1000' },
    kills: { type: 'string', default: '3' },
    database: { type: 'string' },
  },
});
const count = (name: 'configs' | 'files' | 'kills' | 'mb' | 'tables' | 'versions'): number =>
  Number(options[name]);

await withFolder(async (folder) => {
  const source = path.join(folder, 'source');
  const filled = performance.now();
  await fill(source);
  console.log(`filled in ${seconds(performance.now() - filled)}`);
  const copy = path.join(folder, 'copy');
  const { database } = options;
  if (database === undefined) {
    await report('folder to folder', ['--from', source, '--to', copy], () => stepsOfFolder(copy));
    return;
  }
  const store = await startStore(path.join(folder, 'objects'));
  const named = (end: string): string[] => [`--${end}-s3`, store.endpoint, `--${end}-s3-bucket`, 'shelf'];
  const there = ['--from', source, '--to', database, ...named('to')];
  await report('folder to PostgreSQL', there, () => stepsOfDatabase(database), store.keys);
  const back = ['--from', database, '--to', copy, ...named('from')];
  await report('PostgreSQL to folder', back, () => stepsOfFolder(copy), store.keys);
  store.stop();
});

interface Attempt {
  readonly ms: number;
  readonly peakMb: number;
}

async function report(
  title: string,
  args: readonly string[],
  steps: () => number | Promise<number>,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const attempts: Attempt[] = [];
  const kills = count('kills');
  // The marks of the metadata come first, then one for each table, then those of files.
  for (let kill = 1; kill <= kills; kill++) {
    const until = 20 + (count('tables') * kill) / (kills + 1);
    attempts.push(await attempt(args, environment, async () => (await steps()) >= until));
  }
  attempts.push(await attempt(args, environment));
  printTable(
    title,
    ['attempt', 'time', 'peak memory'],
    attempts.map(({ ms, peakMb }, i) => [
      i < kills ? `killed ${i + 1}` : 'to its end',
      seconds(ms),
      `${peakMb.toFixed(0)} MB`,
    ]),
  );
}

/** One run of the command, killed when that is so. */
async function attempt(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  isEnough?: () => Promise<boolean>,
): Promise<Attempt> {
  const started = performance.now();
  const child = spawn(process.execPath, [COMMAND, 'storage', 'migrate', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const state = { isOver: false };
  const ended = once(child, 'close').then(([code, signal]) => {
    state.isOver = true;
    return { code: code as number | null, signal: signal as string | null }; // as documented for the event
  });
  let peakMb = 0;
  while (!state.isOver) {
    peakMb = Math.max(peakMb, peakOf(child.pid));
    if (isEnough !== undefined && (await isEnough())) child.kill('SIGKILL');
    await new Promise((next) => setTimeout(next, 50));
  }
  const { code, signal } = await ended;
  if (isEnough === undefined ? code !== 0 : signal === null)
    throw new Error(`The migration ended with ${code ?? signal}: ${said}`);
  return { ms: performance.now() - started, peakMb };
}

function peakOf(pid: number | undefined): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function stepsOfFolder(dir: string): number {
  try {
    const meta = new DatabaseSync(path.join(dir, 'meta.sqlite'), { readOnly: true, timeout: 1000 });
    const { steps } = meta.prepare('SELECT count(*) AS steps FROM transfers').get() as { steps: number };
    meta.close();
    return steps;
  } catch {
    return 0;
  }
}

async function stepsOfDatabase(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ steps: number }>(
      'select count(*)::int as steps from gex.transfers',
    );
    return rows[0]?.steps ?? 0;
  } catch {
    return 0;
  } finally {
    await client.end();
  }
}

async function startStore(directory: string): Promise<{
  readonly endpoint: string;
  readonly keys: Readonly<Record<string, string>>;
  stop(): void;
}> {
  let endpoint = '';
  const store = createFolderStore({
    directory,
    secret: systemEnv.randomBytes(32),
    endpoint: () => endpoint,
    bucket: 'shelf',
    env: systemEnv,
    log: silentLog,
  });
  await store.open();
  const server = createS3Server(store.handler);
  endpoint = await listenOn(server, { host: '127.0.0.1', port: 0 });
  const { accessKeyId, secretAccessKey } = store.keys.service;
  return {
    endpoint,
    keys: { GEX_S3_ACCESS_KEY: accessKeyId, GEX_S3_SECRET_KEY: secretAccessKey },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Tables of ten columns with a key, configurations with their versions and rows, and files. */
async function fill(dir: string): Promise<void> {
  const service = createService({ dir });
  const { url, masterToken = '' } = await service.start();
  const client = new StorageClient({ url, token: masterToken });
  await client.buckets.create({ stage: 'in', name: 'main' });
  const content = csvOf((count('mb') * 1e6) / count('tables'));
  await inParallel(count('tables'), async (n) => {
    const file = await client.files.upload(bytesBody(content), { name: 't.csv' });
    await client.tables.create('in.c-main', { name: `table_${n}`, dataFileId: file.id, primaryKey: ['id'] });
    await client.files.delete(file.id);
  });
  const configurations = client.configurations('ex-generic-v2');
  await inParallel(count('configs'), async (n) => {
    const configurationId = `config-${n}`;
    await configurations.create({ configurationId, name: configurationId, configuration: { n } });
    for (let version = 2; version <= count('versions'); version++)
      await configurations.update(configurationId, {
        configuration: { parameters: { version, text: 'x'.repeat(2000) } },
      });
  });
  await inParallel(count('files'), async (n) => {
    await client.files.upload(bytesBody(Buffer.alloc(20_000, n)), { name: `file-${n}` });
  });
  client.close();
  await service.stop();
}

function csvOf(bytes: number): Buffer {
  const lines = ['id,a,b,c,d,e,f,g,h,i'];
  for (let row = 0, size = 0; size < bytes; row++) {
    const line = `${row},name ${row},2026-01-01,${row * 7},"a, ""b""",,city ${row % 50},${row % 2},x${row},some text of a row`;
    size += line.length + 1;
    lines.push(line);
  }
  return Buffer.from(`${lines.join('\n')}\n`);
}

async function inParallel(total: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (next < total) await work(next++);
    }),
  );
}
