/**
 * Updates of one configuration by many clients at the same time, with content of their own each.
 *
 *   node bench/config-updates.ts [--clients 20] [--seconds 30] [--database URL] [--json]
 *
 * Prints updates a second, latencies, and what is wrong: a version that was acknowledged and is not there with its
 * content, a number that was given twice, a gap. Ends with 1 when anything is. Run it after `npm run build`. With
 * `--database` the metadata is in a schema of its own of that PostgreSQL database, and is dropped at the end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { withFolder } from './support/folder.ts';
import { COMMAND } from './support/processes.ts';

const { values: options } = parseArgs({
  options: {
    clients: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '30' },
    database: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const WANTED_PER_SECOND = options.database === undefined ? 200 : 400;
const SCHEMA = `bench_${process.pid}`;
const CONFIG = '/v2/storage/components/ex-generic-v2/configs';

interface Version {
  readonly version: number;
  readonly configuration: { readonly marker: string };
}

await withFolder(async (folder) => {
  const ports = ['--port', '0', '--s3-port', '0', '--importer-port', '0'];
  const service = spawn(
    process.execPath,
    [COMMAND, 'serve', '--dir', path.join(folder, 'storage'), ...ports, ...databaseArgs()],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const ended = once(service, 'exit');
  try {
    const printed: Record<string, string> = {};
    for await (const line of createInterface({ input: service.stdout })) {
      const [name = '', value = ''] = line.split(/\s+/);
      printed[name] = value;
      if (name === 'token') break;
    }
    await compare(callerOf(printed['api'] ?? '', printed['token'] ?? ''));
  } finally {
    service.kill('SIGTERM');
    await ended;
    await dropSchema();
  }
});

function databaseArgs(): string[] {
  return options.database === undefined ? [] : ['--database', options.database, '--database-schema', SCHEMA];
}

async function dropSchema(): Promise<void> {
  if (options.database === undefined) return;
  const client = new Client({ connectionString: options.database });
  await client.connect();
  await client.query(`drop schema if exists ${SCHEMA} cascade`);
  await client.end();
}

type Call = <Body>(method: string, path: string, body?: object) => Promise<Body>;

async function compare(call: Call): Promise<void> {
  const first = { marker: 'first' };
  await call('POST', CONFIG, { name: 'Busy', configurationId: 'busy', configuration: first });
  const acknowledged = new Map<number, string>([[1, first.marker]]);
  const twice: number[] = [];
  const latencies: number[] = [];
  const begin = performance.now();
  const end = begin + Number(options.seconds) * 1000;
  const work = async (client: number): Promise<void> => {
    for (let n = 0; performance.now() < end; n++) {
      const marker = `${client}/${n}`;
      const started = performance.now();
      const { version } = await call<Version>('PUT', `${CONFIG}/busy`, { configuration: { marker } });
      latencies.push(performance.now() - started);
      if (acknowledged.has(version)) twice.push(version);
      acknowledged.set(version, marker);
    }
  };
  await Promise.all(Array.from({ length: Number(options.clients) }, (_, client) => work(client)));
  const seconds = (performance.now() - begin) / 1000;

  const wrong = twice.map((version) => `version ${version} was given twice`);
  for (let version = 1; version <= acknowledged.size; version++)
    if (!acknowledged.has(version)) wrong.push(`there is no version ${version}`);
  // One by one: the list has only numbers.
  const unchecked = acknowledged.entries();
  const check = async (): Promise<void> => {
    for (const [version, marker] of unchecked) {
      const { configuration } = await call<Version>('GET', `${CONFIG}/busy/versions/${version}`);
      if (configuration.marker !== marker) wrong.push(`version ${version} has the content of another`);
    }
  };
  await Promise.all(Array.from({ length: Number(options.clients) }, check));
  const kept = await listVersions(call);
  if (kept.size !== acknowledged.size) wrong.push(`${kept.size} versions of ${acknowledged.size} are kept`);
  const perSecond = Math.round(latencies.length / seconds);
  if (perSecond < WANTED_PER_SECOND) wrong.push(`fewer than ${WANTED_PER_SECOND} updates a second`);

  const sorted = latencies.toSorted((a, b) => a - b);
  const share = (of: number): number =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * of))] ?? 0) * 10) / 10;
  const report = {
    updates: latencies.length,
    perSecond,
    p50Ms: share(0.5),
    p99Ms: share(0.99),
    maxMs: share(1),
    wrong,
  };
  const text = [
    `${report.updates} updates by ${options.clients} clients in ${seconds.toFixed(1)} s`,
    `a second   ${perSecond} (at least ${WANTED_PER_SECOND})`,
    `latency    p50 ${report.p50Ms} ms, p99 ${report.p99Ms} ms, longest ${report.maxMs} ms`,
    `wrong      ${wrong.length === 0 ? 'nothing' : wrong.slice(0, 10).join('; ')}`,
  ];
  console.log(options.json ? JSON.stringify(report) : text.join('\n'));
  if (wrong.length > 0) process.exitCode = 1;
}

async function listVersions(call: Call): Promise<Set<number>> {
  const found = new Set<number>();
  for (;;) {
    const query = `limit=1000&offset=${found.size}`;
    const page = await call<readonly Version[]>('GET', `${CONFIG}/busy/versions?${query}`);
    const before = found.size;
    for (const { version } of page) found.add(version);
    if (page.length === 0 || found.size === before) return found;
  }
}

function callerOf(url: string, token: string): Call {
  return async <Body>(method: string, address: string, body?: object): Promise<Body> => {
    const response = await fetch(url + address, {
      method,
      headers: { 'X-StorageApi-Token': token, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Body; // the shapes are those of the API
  };
}
