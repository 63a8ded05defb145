// The queue over PostgreSQL: small jobs a second with one worker and with two, and how long after a SIGKILL another
// worker has the job. `TEST_DATABASE_URL=postgres://… node bench/queue.ts [JOBS] [KILLS]`; it makes and drops a database
// of its own. Compare figures of one run only: all of it is on one machine.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { systemEnv } from '../src/lib/env.ts';
import { silentLog } from '../src/lib/log.ts';
import { openDatabase } from '../src/service/platform/database/database.ts';
import { createQueue } from '../src/service/stores/queue/queue.ts';
import { openMeta } from '../src/service/stores/metadata/database.ts';
import { openProject } from '../src/service/stores/metadata/projects.ts';
import { submit } from '../test/service/stores/queue/support.ts';

const WORKER = fileURLToPath(new URL('../test/service/stores/queue/worker.child.ts', import.meta.url));
const TABLES = 20;
const [jobs = 1000, kills = 5] = process.argv.slice(2).map(Number);
const server = process.env['TEST_DATABASE_URL'];
if (server === undefined) throw new Error('TEST_DATABASE_URL names no server.');

const name = `queue_bench_${process.pid}`;
await asAdmin(`create database ${name}`);
const url = new URL(server);
url.pathname = `/${name}`;
const database = await openDatabase({ url: url.href }, silentLog);
const meta = await openMeta(database);
const queue = createQueue(meta, systemEnv);
await openProject(meta, systemEnv, { name: 'Bench', region: 'us-east-1' });
await database.pool.query('create table public.done (job bigint, process bigint, n bigserial)');
const open = { meta, queue, close: async () => undefined };

try {
  if (jobs > 0) {
    const one = await rate(1);
    const two = await rate(2);
    console.log(`2 workers do ${(two / one).toFixed(2)} times what one does`);
  }
  await handovers();
} finally {
  await meta.destroy();
  await database.close();
  await asAdmin(`drop database ${name} with (force)`);
}

async function rate(count: number): Promise<number> {
  const begin = performance.now();
  const logged = await walBytes();
  for (let n = 0; n < jobs; n++) await submit(open, 'quick', `table ${n % TABLES}`);
  const sent = performance.now() - begin;
  const workers = await Promise.all(Array.from({ length: count }, async () => await start({})));
  const from = performance.now();
  const before = await finished();
  const all = await unfinished();
  while ((await finished()) < before + all) await systemEnv.sleep(50);
  const seconds = (performance.now() - from) / 1000;
  for (const worker of workers) await end(worker.child);
  const bytes = (await walBytes()) - logged;
  console.log(
    `${count} worker(s): ${(all / seconds).toFixed(0)} jobs/s (${all} jobs of ${TABLES} tables); sent at ${((jobs / sent) * 1000).toFixed(0)}/s; ${Math.round(bytes / all)} bytes of log a job`,
  );
  return all / seconds;
}

async function walBytes(): Promise<number> {
  const { rows } = await database.pool.query<{ n: number }>(
    "select (pg_current_wal_insert_lsn() - '0/0')::float8 as n",
  );
  return rows[0]?.n ?? 0;
}

async function finished(): Promise<number> {
  const { rows } = await database.pool.query<{ n: number }>('select count(*)::int as n from public.done');
  return rows[0]?.n ?? 0;
}

async function unfinished(): Promise<number> {
  const waiting = "status in ('waiting', 'processing')";
  const { rows } = await database.pool.query<{ n: number }>(
    `select count(*)::int as n from ${database.schema}.jobs where ${waiting}`,
  );
  return rows[0]?.n ?? 0;
}

async function handovers(): Promise<void> {
  const taken: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const { id } = await submit(open, 'slow', 'table 0');
    const first = await start({ slowMs: 600_000 });
    await heard(first, `began ${id}`);
    const second = await start({ slowMs: 1 });
    const begin = performance.now();
    await end(first.child);
    await heard(second, `began ${id}`);
    taken.push((performance.now() - begin) / 1000);
    // It ends the job before it goes.
    await end(second.child, 'SIGTERM');
  }
  console.log(
    `taken after SIGKILL by another: ${taken.map((seconds) => `${seconds.toFixed(1)} s`).join(', ')}`,
  );
}

interface Started {
  readonly child: ChildProcess;
  readonly said: string[];
}

async function start(options: object): Promise<Started> {
  const child = spawn(process.execPath, [WORKER, JSON.stringify({ url: url.href, ...options })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  const started = { child, said };
  await heard(started, 'ready');
  return started;
}

async function heard({ said }: Started, line: string): Promise<void> {
  while (!said.includes(line)) await systemEnv.sleep(5);
}

async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
  child.kill(signal);
  await once(child, 'exit');
}

async function asAdmin(text: string): Promise<void> {
  const admin = new Client({ connectionString: server });
  await admin.connect();
  await admin.query(text);
  await admin.end();
}
