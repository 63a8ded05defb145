// Kills runs that push (SIGKILL) at random moments, every third one between an import and the storing of its state, and
// looks whether a row is lost or doubled: two rows of a configuration, incremental loads without a primary key.
//
//   node bench/kill-push.ts [--times 20] [--storage embedded|served|database]
//
// `embedded`: the storage is killed together with the run. `served`: a service of its own goes on. `database`: straight
// into PostgreSQL, without a service. Ends with exit code 1 when a row was lost or doubled.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openStorage } from '../src/service/open/index.ts';
import { silentLog } from '../src/lib/log.ts';
import { startEventsApi, type EventsApi } from './support/events-api.ts';
import { printTable } from './support/figures.ts';
import { startOwnPostgres } from '../scripts/own-postgres.ts';
import { withFolder } from './support/folder.ts';
import { measure, runArgs, startNode } from './support/processes.ts';

const { values: given } = parseArgs({
  options: { times: { type: 'string', default: '20' }, storage: { type: 'string', default: '' } },
});
const KINDS = ['orders', 'visits'];
/** Extra time of a run that completes the work of a killed one. */
const SETTLE_MS = 3000;
const SERVICE = new URL('support/storage-service.ts', import.meta.url).pathname;

for (const where of given.storage === '' ? ['embedded', 'served', 'database'] : [given.storage])
  await (where === 'database' ? inDatabase() : rounds(where));

/** Over a server of its own, in a database that is as new as a folder. */
async function inDatabase(): Promise<void> {
  const own = await startOwnPostgres();
  if (typeof own === 'string') throw new Error(own);
  try {
    await rounds('database', own.url);
  } finally {
    await own.stop();
  }
}

async function rounds(where: string, database?: string): Promise<void> {
  await withFolder(async (folder) => {
    const data = path.join(folder, 'data');
    const dir = database ?? path.join(folder, 'storage');
    const beginning = Math.floor(Date.now() / 1000) - 60;
    const api = await startEventsApi(beginning);
    writeConfiguration(data, api);
    const service = where === 'served' ? await serve(dir) : undefined;
    try {
      const { wallMs } = await measure(runArgs(data, dir), folder);
      const found = { killed: 0, 'ended before': 0, 'killed between import and state': 0 };
      for (let turn = 0; turn < Number(given.times); turn++) {
        await sleep(1000); // new events
        const child = startNode(runArgs(data, dir));
        const ended = once(child, 'exit');
        if (turn % 3 === 0) await Promise.race([untilImported(data, turn), ended]);
        else await Promise.race([sleep(Math.random() * (wallMs + SETTLE_MS)), ended]);
        child.kill('SIGKILL');
        await ended;
        found[child.signalCode === 'SIGKILL' ? 'killed' : 'ended before']++;
        if (child.signalCode === 'SIGKILL' && KINDS.some((kind) => stateOf(data, kind) === 'between'))
          found['killed between import and state']++;
      }
      await measure(runArgs(data, dir), folder);
      const lines = await verdicts(data, dir, api);
      printTable(
        `SIGKILL at ${given.times} moments of a run of ${Math.round(wallMs)} ms with push, ${where}`,
        ['', 'times'],
        Object.entries(found).map(([name, count]) => [name, String(count)]),
      );
      printTable('Afterwards', ['table', 'rows', 'lost', 'doubled', 'unknown'], lines);
      if (lines.some((line) => line.slice(2).some((count) => count !== '0'))) process.exitCode = 1;
    } finally {
      service?.kill();
      await api.stop();
    }
  });
}

/** A service that ends with its input. */
async function serve(dir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [SERVICE, dir], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

function writeConfiguration(data: string, api: EventsApi): void {
  mkdirSync(data, { recursive: true });
  const pagination = {
    method: 'response.param',
    responseParam: 'next',
    queryParam: 'cursor',
    includeParams: true,
  };
  const configuration = {
    parameters: {
      api: { baseUrl: api.url, pagination },
      config: { outputBucket: 'events', incrementalOutput: true },
    },
  };
  const rows = KINDS.map((kind) => ({
    id: kind,
    configuration: { parameters: { config: { jobs: [jobOf(kind)] } } },
  }));
  writeFileSync(path.join(data, 'config.json'), JSON.stringify({ configuration, rows }, null, 2));
}

function jobOf(kind: string): object {
  const params = { since: { time: 'previousStart' }, until: { time: 'currentStart' } };
  return { endpoint: kind, dataType: kind, dataField: 'events', params };
}

/** Waits until the import of one of the rows has been asked for, or has ended, and its state is not stored yet. */
async function untilImported(data: string, turn: number): Promise<void> {
  const kind = KINDS[turn % 2] ?? '';
  for (let looks = 0; looks < 5000; looks++) {
    if (stateOf(data, kind) === 'between') return;
    await sleep(1);
  }
}

function stateOf(data: string, kind: string): 'between' | 'other' {
  try {
    const text = readFileSync(path.join(data, 'rows', kind, 'out', 'push.json'), 'utf8');
    return text.includes('"pending"') && /"(?:jobId|done|asked)"/.test(text) ? 'between' : 'other';
  } catch {
    return 'other';
  }
}

async function verdicts(data: string, dir: string, api: EventsApi): Promise<string[][]> {
  const storage = await openStorage({
    storage: dir,
    environment: {},
    log: silentLog,
    signal: new AbortController().signal,
    purpose: 'count rows',
  });
  try {
    const lines: string[][] = [];
    for (const kind of KINDS) {
      const state = readFileSync(path.join(data, 'rows', kind, 'in', 'state.json'), 'utf8');
      const { time } = JSON.parse(state) as { time: { previousStart: number } }; // the run has just written it
      const wanted = api.idsUntil(kind, time.previousStart);
      const seen = new Map<string, number>();
      let text = '';
      for await (const piece of await storage.client.tables.read(`in.c-events.${kind}`, { columns: ['id'] }))
        text += String(piece);
      for (const line of text.split('\n').slice(1)) {
        const id = line.replaceAll('"', '');
        if (id !== '') seen.set(id, (seen.get(id) ?? 0) + 1);
      }
      const lost = [...wanted].filter((id) => !seen.has(id)).length;
      const doubled = [...seen.values()].filter((times) => times > 1).length;
      const unknown = [...seen.keys()].filter((id) => !wanted.has(id)).length;
      lines.push([kind, ...[seen.size, lost, doubled, unknown].map(String)]);
    }
    return lines;
  } finally {
    await storage.close();
  }
}
