// Stops runs at random moments and gives the same command again: are tables, manifests and state those of a run that was
// never stopped, and how many requests are repeated?
//
//   node bench/kill-resume.ts [--times 30] [--by SIGKILL|SIGINT|failure|full-disk] [--concurrency 4]
//
// Shelves by page number, each with books in two pages, an incremental state. Ends with exit code 1 when a file differs,
// or when more than `concurrency` requests were repeated for each stop.
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printTable } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { measure, runArgs, startNode } from './support/processes.ts';
import { startShelvesApi, type ShelvesApi } from './support/shelves-api.ts';

const { values: given } = parseArgs({
  options: {
    times: { type: 'string', default: '30' },
    by: { type: 'string', default: 'SIGKILL' },
    concurrency: { type: 'string', default: '4' },
  },
});
const times = Number(given.times);
const concurrency = Number(given.concurrency);
const FULL_DISK = new URL('support/full-disk.ts', import.meta.url).href;
const STATE = '{"time":{"previousStart":7}}';
const STOPS_PER_RUN = 5;

await withFolder(async (folder) => {
  const api = await startShelvesApi(() => 2 + Math.random() * 8);
  const data = path.join(folder, 'data');
  try {
    prepare(data, api);
    const { wallMs } = await measure(runArgs(data), folder);
    const whole = filesIn(data);
    const requests = sum(api.take());
    let stops = 0;
    let repeated = 0;
    let different = 0;
    while (stops < times) {
      prepare(data, api);
      const before = stops;
      // one that had ended before it was to be stopped is the last: behind it a new run would begin
      let hasEnded = false;
      for (let turn = 0; turn < STOPS_PER_RUN && stops < times && !hasEnded; turn++) {
        hasEnded = !(await stopped(data, wallMs, requests, api));
        if (!hasEnded) stops++;
      }
      api.recover();
      const { code, said } = hasEnded ? { code: 0, said: '' } : await run(data);
      if (code !== 0) throw new Error(`the last run ended with ${code}: ${said}`);
      const seen = api.take();
      const again = sum(seen) - seen.size;
      repeated += again;
      const found = filesIn(data);
      const names = new Set([...whole.keys(), ...found.keys()]);
      const wrong = [...names].filter((name) => whole.get(name) !== found.get(name));
      different += wrong.length;
      if (wrong.length > 0) console.log(`different: ${wrong.join(', ')}`);
      if (again > (stops - before) * concurrency) process.exitCode = 1;
    }
    printTable(
      `${given.by} at ${stops} random moments of runs of ${requests} requests and ${Math.round(wallMs)} ms, concurrency ${concurrency}`,
      ['', ''],
      [
        ['requests repeated for each stop', (repeated / stops).toFixed(2)],
        ['files that differ', String(different)],
      ],
    );
    if (different > 0) process.exitCode = 1;
  } finally {
    await api.stop();
  }
});

function prepare(data: string, api: ShelvesApi): void {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(path.join(data, 'in'), { recursive: true });
  writeFileSync(path.join(data, 'in', 'state.json'), STATE);
  const books = {
    endpoint: 'shelves/{id}/books',
    dataType: 'books',
    dataField: 'data',
    scroller: 'cursor',
    placeholders: { id: 'id' },
    params: { since: { time: 'previousStart' } },
  };
  const shelves = { endpoint: 'shelves', dataType: 'shelves', dataField: 'data', children: [books] };
  const pagination = {
    method: 'multiple',
    default: 'pages',
    scrollers: {
      pages: { method: 'pagenum' },
      cursor: { method: 'response.param', responseParam: 'next', queryParam: 'after', includeParams: true },
    },
  };
  const http = { concurrency };
  const configuration = {
    parameters: {
      api: { baseUrl: api.url, pagination, http, retryConfig: { maxRetries: 0 } },
      config: { outputBucket: 'bench', incrementalOutput: true, jobs: [shelves] },
    },
  };
  writeFileSync(path.join(data, 'config.json'), JSON.stringify(configuration));
  api.recover();
  api.take();
}

/** Starts a run and stops it. False when it had ended before. */
async function stopped(data: string, wallMs: number, requests: number, api: ShelvesApi): Promise<boolean> {
  const part = Math.random() / STOPS_PER_RUN;
  if (given.by === 'failure') {
    api.failAfter(Math.floor(part * requests));
    const { code } = await run(data);
    api.recover();
    return code !== 0;
  }
  if (given.by === 'full-disk') {
    const writes = String(Math.floor(10 + part * 2 * requests));
    return (await run(data, ['--import', FULL_DISK], { BENCH_FULL_AT: writes })).code !== 0;
  }
  const child = startNode(runArgs(data));
  const ended = once(child, 'exit');
  await Promise.race([sleep(150 + part * 1.5 * wallMs), ended]);
  child.kill(given.by as NodeJS.Signals); // as the head of this file lists them
  await ended;
  return child.exitCode !== 0;
}

async function run(
  data: string,
  nodeArgs: readonly string[] = [],
  environment: Record<string, string> = {},
): Promise<{ code: number | null; said: string }> {
  const child = startNode([...nodeArgs, ...runArgs(data)], environment);
  let said = '';
  child.stderr?.on('data', (chunk) => (said += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null]; // as documented for the event
  return { code, said };
}

/** Every file of the output, and the state but for the moment of the run. */
function filesIn(data: string): Map<string, string> {
  const entries = readdirSync(path.join(data, 'out'), { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = path.join(entry.parentPath, entry.name);
        return [path.relative(data, file), readFileSync(file, 'utf8').replace(/"previousStart":\d+/, '')];
      }),
  );
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
