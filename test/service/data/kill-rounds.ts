import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { newMasterToken } from '../../../src/service/start/service.ts';
import { joinSlices } from './slices.ts';
import { MAIN } from '../../support/command.ts';

export interface KillReport {
  readonly kills: number;
  readonly acknowledged: { readonly versions: number; readonly files: number; readonly jobs: number };
  /** From the start of the process to its first answer, after each kill. */
  readonly restartMs: readonly number[];
  /** Acknowledged changes that are missing, incomplete or doubled. */
  readonly lost: readonly string[];
}

const BATCH_ROWS = 2000;

export interface KillOptions {
  /** Default: at any moment. */
  readonly random?: () => number;
  /** Further arguments of the service. */
  readonly args?: readonly string[];
}

/** Kills a service at random moments while clients upload, import and update, and looks for what it lost. */
export async function killRounds(
  rounds: number,
  { random = Math.random, args = [] }: KillOptions = {},
): Promise<KillReport> {
  const dir = await mkdtemp(join(tmpdir(), 'kill-'));
  const known: Known = { version: 0, files: new Map(), jobs: new Map(), batches: 0, versions: 0 };
  const restartMs: number[] = [];
  try {
    let service = await start(dir, args);
    const token = await newMasterToken(dir);
    await prepare(service, token);
    for (let round = 0; round < rounds; round++) {
      const work = [updates, uploads, imports].map((client) => untilCut(client, service, token, known));
      await new Promise((resolve) => setTimeout(resolve, 100 + random() * 1200));
      // On a busy machine nothing may be acknowledged by then, and so nothing be lost.
      while (known.versions === 0 || known.files.size === 0)
        await new Promise((resolve) => setTimeout(resolve, 20));
      service.child.kill('SIGKILL');
      await once(service.child, 'exit');
      await Promise.all(work);
      service = await start(dir, args);
      restartMs.push(service.startMs);
    }
    const lost = await check(service, token, known);
    service.child.kill('SIGTERM');
    await once(service.child, 'exit');
    const acknowledged = { versions: known.versions, files: known.files.size, jobs: known.jobs.size };
    return { kills: rounds, acknowledged, restartMs, lost };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

interface ServiceProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly startMs: number;
}

/** Acknowledged changes. */
interface Known {
  version: number;
  versions: number;
  readonly files: Map<number, string>;
  /** Job to batch. */
  readonly jobs: Map<number, number>;
  batches: number;
}

async function start(dir: string, args: readonly string[]): Promise<ServiceProcess> {
  const begin = performance.now();
  const ports = ['--port', '0', '--s3-port', '0', '--importer-port', '0'];
  const child = spawn(process.execPath, [MAIN, 'serve', '--dir', dir, ...ports, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let url = '';
  for await (const line of createInterface({ input: child.stdout })) {
    const [name, value = ''] = line.split(/\s+/);
    if (name === 'api') url = value;
    if (name === 'importer' && (await answers(url))) break;
  }
  const startMs = performance.now() - begin;
  if (url === '') throw new Error('The service did not start.');
  return { child, url, startMs };
}

async function answers(url: string): Promise<boolean> {
  return (await fetch(`${url}/health`)).ok;
}

type Call = <Body>(method: string, path: string, body?: object) => Promise<Body>;

function callerOf({ url }: ServiceProcess, token: string): Call {
  return async <Body>(method: string, path: string, body?: object): Promise<Body> => {
    const isForm = body instanceof FormData;
    const response = await fetch(url + path, {
      method,
      headers: {
        'X-StorageApi-Token': token,
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    // The shapes are those of the API.
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  };
}

const CONFIG = '/v2/storage/components/ex-generic-v2/configs';

async function prepare(service: ServiceProcess, token: string): Promise<void> {
  const call = callerOf(service, token);
  await call('POST', CONFIG, { name: 'Counted', configurationId: 'counted', configuration: { n: 0 } });
  await call('POST', '/v2/storage/buckets', { name: 'kill' });
  await call('POST', '/v2/storage/buckets/in.c-kill/tables', { name: 'rows', dataString: 'batch,n\n' });
}

type Client = (call: Call, known: Known) => Promise<void>;

/** Repeats the work until the service is gone. */
async function untilCut(client: Client, service: ServiceProcess, token: string, known: Known): Promise<void> {
  const call = callerOf(service, token);
  try {
    for (;;) await client(call, known);
  } catch (error) {
    // Only a cut connection ends the work; a refusal by the service is a failure of the test.
    if (!(error instanceof TypeError)) throw error;
  }
}

async function updates(call: Call, known: Known): Promise<void> {
  const n = Math.max(known.version, known.versions) + 1;
  const { version } = await call<{ version: number }>('PUT', `${CONFIG}/counted`, { configuration: { n } });
  known.version = version;
  known.versions += 1;
}

async function uploads(call: Call, known: Known): Promise<void> {
  const content = `file ${known.files.size} ${'x'.repeat(200_000)}`;
  const form = new FormData();
  form.set('data', new Blob([content]), 'kill.txt');
  const { id } = await call<{ id: number }>('POST', '/upload-file', form);
  known.files.set(id, content);
}

async function imports(call: Call, known: Known): Promise<void> {
  const batch = ++known.batches;
  const rows = Array.from({ length: BATCH_ROWS }, (_, n) => `${batch},${n}\n`).join('');
  const form = new FormData();
  form.set('tableId', 'in.c-kill.rows');
  form.set('incremental', '1');
  form.set('data', new Blob([`batch,n\n${rows}`]), 'rows.csv');
  const { id } = await call<{ id: number }>('POST', '/write-table', form);
  known.jobs.set(id, batch);
}

async function check(service: ServiceProcess, token: string, known: Known): Promise<string[]> {
  const call = callerOf(service, token);
  const lost: string[] = [];
  const { version } = await call<{ version: number }>('GET', `${CONFIG}/counted`);
  if (version < known.version) lost.push(`version ${known.version} of the configuration`);
  for (const [id, content] of known.files) {
    const { url } = await call<{ url: string }>('GET', `/v2/storage/files/${id}`);
    if ((await (await fetch(url)).text()) !== content) lost.push(`the bytes of file ${id}`);
  }
  const succeeded = new Map<number, boolean>();
  for (const [id, batch] of known.jobs) succeeded.set(batch, (await finalStatus(call, id)) === 'success');
  // Jobs that nobody was told of run as well, in turn: an export comes after all of them.
  const counts = await countBatches(call);
  for (let batch = 1; batch <= known.batches; batch++) {
    const count = counts.get(String(batch)) ?? 0;
    const isTold = succeeded.get(batch);
    const isWhole = count === BATCH_ROWS;
    if (isTold === true && !isWhole) lost.push(`${count} of ${BATCH_ROWS} rows of a done import`);
    if (isTold === false && count > 0) lost.push(`${count} rows of an import that failed`);
    if (isTold === undefined && count > 0 && !isWhole)
      lost.push(`an import of ${count} rows that is not whole`);
  }
  return lost;
}

async function finalStatus(call: Call, id: number): Promise<string> {
  for (let polls = 0; polls < 120; polls++) {
    const { status } = await call<{ status: string }>('GET', `/v2/storage/jobs/${id}`);
    if (status === 'success' || status === 'error') return status;
  }
  throw new Error(`The job ${id} hangs.`);
}

async function countBatches(call: Call): Promise<Map<string, number>> {
  const { id } = await call<{ id: number }>('POST', '/v2/storage/tables/in.c-kill.rows/export-async', {});
  await finalStatus(call, id);
  const { results } = await call<{ results: { file: { id: number } } }>('GET', `/v2/storage/jobs/${id}`);
  const counts = new Map<string, number>();
  for (const line of (await downloadAll(call, results.file.id)).split('\n')) {
    const batch = /^"(\d+)"/.exec(line)?.[1];
    if (batch !== undefined) counts.set(batch, (counts.get(batch) ?? 0) + 1);
  }
  return counts;
}

async function downloadAll(call: Call, id: number): Promise<string> {
  return await joinSlices(await call('GET', `/v2/storage/files/${id}?federationToken=1`));
}
