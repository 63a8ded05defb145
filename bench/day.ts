/**
 * A day's traffic in the metadata: how soon a service starts over it, how long its lists take, how much memory its
 * process has, and whether requests stay quick while all of it is removed.
 *
 *   node bench/day.ts [--jobs 100000] [--events 200000] [--configurations 1000] [--tables 5000] [--files 20000]
 *                     [--database postgres://…] [--json]
 *
 * The rows are put into the metadata by its own functions. With `--database` they are in a schema of their own, which is
 * dropped at the end. Run it after `npm run build`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { systemEnv } from '../src/lib/env.ts';
import { silentLog } from '../src/lib/log.ts';
import { openDatabase } from '../src/service/platform/database/database.ts';
import { openMeta } from '../src/service/stores/metadata/database.ts';
import { createMasterToken, openProject } from '../src/service/stores/metadata/projects.ts';
import { createToken, findTokenBySecret } from '../src/service/stores/metadata/tokens.ts';
import { fillDay } from './support/day.ts';
import { withFolder } from './support/folder.ts';
import { COMMAND } from './support/processes.ts';

const { values: options } = parseArgs({
  options: {
    jobs: { type: 'string', default: '100000' },
    events: { type: 'string', default: '200000' },
    configurations: { type: 'string', default: '1000' },
    tables: { type: 'string', default: '5000' },
    files: { type: 'string', default: '20000' },
    database: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const SCHEMA = `day_${process.pid}`;
const API = '/v2/storage';
const CONFIGS = `${API}/components/ex-generic-v2/configs`;
/** Each list is asked for so often. */
const TIMES = 7;
const figures: Record<string, number> = {};

await withFolder(async (folder) => {
  const dir = path.join(folder, 'storage');
  const tokens = await fill(dir);
  const { master, reader } = tokens;

  const starts: number[] = [];
  for (let n = 0; n < 3; n++) {
    const started = await startService(dir);
    starts.push(started.startMs);
    await started.stop();
  }
  figures['start, ms'] = median(starts);

  const service = await startService(dir);
  for (const [name, [token, address]] of Object.entries({
    'GET jobs': [master, `${API}/jobs`],
    'GET jobs?limit=100': [master, `${API}/jobs?limit=100`],
    'GET jobs?limit=1000': [master, `${API}/jobs?limit=1000`],
    'GET jobs?offset=50000': [master, `${API}/jobs?offset=50000&limit=20`],
    'GET jobs of a status': [master, `${API}/jobs?storage_job_status[]=error&limit=100`],
    'GET jobs of a status that none has': [master, `${API}/jobs?storage_job_status[]=waiting&limit=100`],
    'GET jobs of an hour': [master, `${API}/jobs?created_time_from=-1+hour&limit=100`],
    'GET jobs of a token': [reader, `${API}/jobs?limit=100`],
    'GET configurations': [master, CONFIGS],
    'GET components with configurations': [master, `${API}/components?include=configuration,rows`],
    'GET tables': [master, `${API}/tables`],
    'GET tables?include=columns': [master, `${API}/tables?include=columns`],
    'GET tables of a bucket': [master, `${API}/buckets/in.c-b1/tables`],
    'GET buckets': [master, `${API}/buckets`],
    'GET events': [master, `${API}/events`],
    'GET events of a table': [master, `${API}/tables/in.c-b1.t1/events`],
    'GET files': [master, `${API}/files?limit=200`],
    'GET files with a tag': [master, `${API}/files?limit=200&tags[]=tag7`],
  } as const)) {
    const times: number[] = [];
    const before = cpuMs(service.pid);
    for (let n = 0; n < TIMES; n++) times.push(await service.time(token, address));
    figures[`${name}, first, ms`] = times[0] ?? 0;
    figures[`${name}, ms`] = median(times);
    figures[`${name}, CPU ms`] = (cpuMs(service.pid) - before) / TIMES;
  }
  figures['memory after that, MB'] = residentMb(service.pid);
  await service.stop();

  // All of it is over: requests stay quick while it goes.
  const keeping = await startService(dir, '--keep-days', '1');
  const waits: number[] = [];
  const begin = performance.now();
  while (performance.now() - begin < 15_000) waits.push(await keeping.time(master, `${API}/jobs?limit=20`));
  waits.sort((a, b) => a - b);
  figures['requests during upkeep, median, ms'] = median(waits);
  figures['requests during upkeep, 99th, ms'] = waits[Math.floor(waits.length * 0.99)] ?? 0;
  figures['memory then, MB'] = residentMb(keeping.pid);
  await keeping.stop();
}).finally(dropSchema);

if (options.json) console.log(JSON.stringify(figures));
else for (const [name, figure] of Object.entries(figures)) console.log(name.padEnd(46), figure.toFixed(1));

async function fill(dir: string): Promise<{ master: string; reader: string }> {
  const first = await startService(dir);
  await first.stop();
  const database =
    options.database === undefined
      ? undefined
      : await openDatabase({ url: options.database, schema: SCHEMA, poolSize: 2 }, silentLog);
  const meta = await openMeta(database ?? path.join(dir, 'meta.sqlite'));
  await openProject(meta, systemEnv, { name: 'My project', region: 'us-east-1' });
  const master = await createMasterToken(meta, systemEnv);
  const author = await findTokenBySecret(meta, master);
  if (author === undefined) throw new Error('The token was just made.');
  const made = await createToken(meta, systemEnv, { description: 'reader' }, undefined);
  await fillDay(
    meta,
    {
      jobs: Number(options.jobs),
      events: Number(options.events),
      configurations: Number(options.configurations),
      tables: Number(options.tables),
      files: Number(options.files),
    },
    made.row.id,
  );
  // A server does so by itself within a minute, and these rows are hours old.
  await database?.pool.query('analyze');
  await meta.destroy();
  await database?.close();
  return { master, reader: made.token };
}

async function dropSchema(): Promise<void> {
  if (options.database === undefined) return;
  const database = await openDatabase({ url: options.database, schema: SCHEMA, poolSize: 1 }, silentLog);
  await database.pool.query(`drop schema if exists ${SCHEMA} cascade`);
  await database.close();
}

interface Service {
  readonly startMs: number;
  readonly pid: number;
  /** Milliseconds until the whole answer is there. */
  time(token: string, address: string): Promise<number>;
  stop(): Promise<void>;
}

async function startService(dir: string, ...more: string[]): Promise<Service> {
  const ports = ['--port', '0', '--s3-port', '0', '--importer-port', '0'];
  const place =
    options.database === undefined ? [] : ['--database', options.database, '--database-schema', SCHEMA];
  const begin = performance.now();
  const child = spawn(process.execPath, [COMMAND, 'serve', '--dir', dir, ...ports, ...place, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let api = '';
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', value = ''] = line.split(/\s+/);
    if (name === 'api') api = value;
    if (name === 'importer') break;
  }
  if (api === '') throw new Error('The service did not start.');
  const startMs = performance.now() - begin;
  return {
    startMs,
    pid: child.pid ?? 0,
    async time(token, address) {
      const asked = performance.now();
      const response = await fetch(`${api}${address}`, { headers: { 'X-StorageApi-Token': token } });
      const text = await response.text();
      if (!response.ok) throw new Error(`${address}: ${response.status} ${text.slice(0, 300)}`);
      return performance.now() - asked;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

/**
 * Returns the processor time of a process so far, in milliseconds. On a busy machine it says more than the duration.
 */
function cpuMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

/** Returns the resident memory of a process, if the system reports it. */
function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}
