// How long after a run was asked for another process begins with it, over PostgreSQL, and what runners without work ask
// of the database. `TEST_DATABASE_URL=postgres://… node bench/run-starts.ts [RUNS] [RUNNERS]`; it makes and drops a
// database of its own. The runs do nothing: their program ends at once.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { systemEnv } from '../src/lib/env.ts';
import { createRunner, type Runner } from '../src/service/domain/runs/runner.ts';
import type { MakePart, ServiceOptions } from '../src/service/start/service-options.ts';
import { createService } from '../src/service/start/service.ts';
import { memoryStore } from '../test/service/domain/runs/checkpoint/support.ts';
import { request } from '../test/service/harness.ts';

const IDLE_SECONDS = 20;
process.env['GEX_ENCRYPTION_KEY'] = Buffer.alloc(32, 1).toString('base64');

if (process.send === undefined) await measure();
else await beRunner(process.argv[2] ?? '', process.argv[3] ?? '');

async function measure(): Promise<void> {
  const [runs = 40, runners = 4] = process.argv.slice(2).map(Number);
  const server = process.env['TEST_DATABASE_URL'];
  if (server === undefined) throw new Error('TEST_DATABASE_URL names no server.');
  const name = `run_starts_${process.pid}`;
  const admin = new Client({ connectionString: server });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const service = createService({ ...optionsOf(url.href), roles: ['api'], parts: [] });
  const children: ChildProcess[] = [];
  try {
    const { url: api, masterToken } = await service.start();
    const call = async (method: string, to: string, body?: unknown) =>
      (await request(api, masterToken ?? '', method, to, body)).body;
    for (let n = 0; n < runners; n++) children.push(await startRunner(url.href, api));
    await systemEnv.sleep(3000);
    for (const child of children) await statementsOf(child);
    await systemEnv.sleep(IDLE_SECONDS * 1000);
    let statements = 0;
    for (const child of children) statements += await statementsOf(child);
    console.log(`${runners} idle runners: ${(statements / IDLE_SECONDS).toFixed(1)} statements/s in all`);

    for (let n = 0; n < runs; n++)
      await call('POST', 'components/ex-generic-v2/configs', { configurationId: `c${n}`, name: `c${n}` });
    const asked: string[] = [];
    for (let n = 0; n < runs; n++) {
      const run = (await call('POST', 'runs', { component: 'ex-generic-v2', configuration: `c${n}` })) as {
        readonly id: string;
      };
      asked.push(run.id);
      await systemEnv.sleep(300 + Math.random() * 400);
    }
    await systemEnv.sleep(2000);
    // The API rounds times to seconds.
    const found = new Client({ connectionString: url.href });
    await found.connect();
    const { rows } = await found.query<{ created: string; started: string | null }>(
      'select created, started from gex.runs where id = any($1)',
      [asked],
    );
    await found.end();
    const ms = rows
      .map(({ created, started }) => Date.parse(started ?? '') - Date.parse(created))
      .toSorted((a, b) => a - b);
    const at = (share: number): string => `${ms[Math.min(ms.length - 1, Math.floor(ms.length * share))]} ms`;
    console.log(
      `${ms.length} runs began after: median ${at(0.5)}, 95 % ${at(0.95)}, longest ${at(1)}, on another process`,
    );
  } finally {
    for (const child of children) {
      child.disconnect();
      await once(child, 'exit');
    }
    await service.stop();
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  }
}

async function startRunner(database: string, api: string): Promise<ChildProcess> {
  const child = fork(fileURLToPath(import.meta.url), [database, api]);
  await once(child, 'message');
  return child;
}

/** How many statements it has sent since it was asked last. */
async function statementsOf(child: ChildProcess): Promise<number> {
  child.send('statements');
  const [count] = (await once(child, 'message')) as [number];
  return count;
}

async function beRunner(database: string, apiUrl: string): Promise<void> {
  let statements = 0;
  const client = Client.prototype;
  const query = client.query.bind(client) as unknown;
  if (typeof query !== 'function') throw new Error('Nothing to count.');
  const own = Object.getOwnPropertyDescriptor(client, 'query');
  Object.defineProperty(client, 'query', {
    ...own,
    value: function (this: unknown, ...given: unknown[]): unknown {
      statements++;
      return Reflect.apply(own?.value as () => unknown, this, given);
    },
  });
  const directory = await mkdtemp(path.join(tmpdir(), 'run-starts-'));
  let runner: Runner | undefined;
  const part: MakePart = (context) => ({
    async start() {
      const store = memoryStore();
      const command = [process.execPath, '-e', ''] as const;
      const options = { command: [command[0], command[1]] as [string, string], apiUrl, directory };
      runner = createRunner(context, {
        ...options,
        keptIn: store,
        records: store,
        concurrency: 2,
        isAlone: false,
      });
      await runner.start();
    },
    drain: async () => await runner?.stop(),
  });
  const service = createService({ ...optionsOf(database), roles: ['runner'], parts: [part] });
  await service.start();
  process.on('message', () => {
    process.send?.(statements);
    statements = 0;
  });
  process.send?.('ready');
  await once(process, 'disconnect');
  await service.stop();
  await rm(directory, { recursive: true, force: true });
  process.exit(0);
}

function optionsOf(url: string): ServiceOptions {
  const objects = { endpoint: 'http://127.0.0.1:9', bucket: 'none', roleArn: 'arn:aws:iam:::role/none' };
  // Nothing of these runs is kept: of the store only its name is asked.
  return { database: { url }, objects } as unknown as ServiceOptions;
}
