// A run that is killed and taken over into an empty folder: are its tables those of an undisturbed run, and how many pages
// are asked for again? And what does it cost to keep what a run writes?
//
//   node bench/takeover.ts [--pages 600] [--latency 200] [--kills 2] [--every 30000] [--turns 3]
//
// `gex run` under a runner that keeps its recording in an object store, a folder, and that is killed together with it at
// random moments. Ends with exit code 1 when a table differs, or when a page is asked for again that was answered more
// than --every milliseconds (and a second, in which it is looked at) before a kill. The cost is that of runs of 200 pages
// of 1,000 records as fast as they go, with a push, in turns.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { StorageClient } from '../src/storage/client/index.ts';
import type { RunnerArgs } from '../test/service/domain/runs/checkpoint/runner.child.ts';
import { median, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { COMMAND } from './support/processes.ts';

const { values: given } = parseArgs({
  options: {
    pages: { type: 'string', default: '600' },
    latency: { type: 'string', default: '200' },
    kills: { type: 'string', default: '2' },
    every: { type: 'string', default: '30000' },
    turns: { type: 'string', default: '3' },
  },
});
const [pages, latencyMs, kills, everyMs, turns] = [
  given.pages,
  given.latency,
  given.kills,
  given.every,
  given.turns,
].map(Number) as [number, number, number, number, number]; // as many
const COMPONENT = 'ex-generic-v2';
const SERVICE = new URL('support/storage-service.ts', import.meta.url).pathname;
const RUNNER = new URL('../test/service/domain/runs/checkpoint/runner.child.ts', import.meta.url).pathname;

/** A look for what is new, and what a request takes besides. */
const SLACK_MS = 1500;

await withFolder(async (folder) => {
  const service = spawn(process.execPath, [SERVICE, path.join(folder, 'storage')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(service.stdout, 'data')) as [Buffer]; // a stream of bytes
    const { url, token } = JSON.parse(String(line)) as Reach; // see storage-service.ts
    const client = new StorageClient({ url, token });
    const world = { folder, url, token, client };
    if (kills > 0) await takeover(world);
    if (turns > 0) await cost(world);
    client.close();
  } finally {
    service.stdin.end();
    await once(service, 'exit');
  }
});

interface Reach {
  readonly url: string;
  readonly token: string;
}

interface World extends Reach {
  readonly folder: string;
  readonly client: StorageClient;
}

async function takeover(world: World): Promise<void> {
  const api = await startApi(pages, 100, latencyMs);
  await createConfiguration(world, 'whole', api.url);
  await createConfiguration(world, 'killed', api.url);
  const [wholeMs] = await timed(async () => await untilEnded(start(world, 'whole', 1, { everyMs })));
  api.answers.length = 0;
  const begun = performance.now();
  const killedAt: number[] = [];
  let attempt = 1;
  for (; attempt <= kills; attempt++) {
    const { runner, childOf } = start(world, 'killed', attempt, { everyMs });
    // in each part of the time one
    const part = wholeMs / (kills + 1);
    await sleep(part * (0.6 + 0.8 * Math.random()));
    killedAt.push(performance.now());
    runner.kill('SIGKILL');
    const child = childOf();
    if (child !== undefined) process.kill(child, 'SIGKILL');
    await once(runner, 'exit');
    rmSync(path.join(world.folder, `killed-${attempt}`), { recursive: true, force: true });
  }
  await untilEnded(start(world, 'killed', attempt, { everyMs }));
  const wallMs = performance.now() - begun;
  const [whole, killed] = [await tableOf(world, 'whole'), await tableOf(world, 'killed')];
  const lines = killedAt.map((at, i) => {
    const before = new Map(
      api.answers.filter((each) => each.at < at).map(({ page, at: when }) => [page, when]),
    );
    const until = killedAt[i + 1] ?? Infinity;
    const again = api.answers.filter((each) => each.at > at && each.at < until && before.has(each.page));
    const oldest = Math.max(0, ...again.map(({ page }) => at - (before.get(page) ?? at)));
    const recent = [...before.values()].filter((when) => at - when < everyMs + SLACK_MS).length;
    if (oldest > everyMs + SLACK_MS) process.exitCode = 1;
    return [
      `kill ${i + 1}`,
      seconds(at - begun),
      String(before.size),
      String(recent),
      String(again.length),
      seconds(oldest),
    ];
  });
  printTable(
    `${pages} pages of ${latencyMs} ms, kept every ${everyMs / 1000} s`,
    [
      '',
      'after',
      'pages by then',
      `in the last ${everyMs / 1000} s`,
      'asked for again',
      'the oldest of them',
    ],
    lines,
  );
  const isEqual = whole === killed;
  if (!isEqual) process.exitCode = 1;
  printTable(
    '',
    ['', 'wall', 'bytes of the table', ''],
    [
      ['undisturbed', seconds(wholeMs), String(whole.length), ''],
      ['taken over', seconds(wallMs), String(killed.length), isEqual ? 'equal' : 'DIFFERENT'],
    ],
  );
  await api.stop();
}

async function cost(world: World): Promise<void> {
  const api = await startApi(200, 1000, 0);
  const walls: Record<'kept' | 'not kept', number[]> = { kept: [], 'not kept': [] };
  for (let turn = 0; turn < turns; turn++) {
    for (const how of ['not kept', 'kept'] as const) {
      const id = `cost-${turn}-${how.replace(' ', '-')}`;
      await createConfiguration(world, id, api.url);
      const started = how === 'kept' ? start(world, id, 1, { everyMs: 30_000 }) : startAlone(world, id);
      const [wallMs] = await timed(async () => await untilEnded(started));
      walls[how].push(wallMs);
    }
  }
  await api.stop();
  const [alone, kept] = [median(walls['not kept']), median(walls.kept)];
  printTable(
    'A run of 200 pages of 1,000 records with its push',
    ['', 'wall', ''],
    [
      ['not kept', seconds(alone), ''],
      // the runner itself is another process, which takes a moment to start
      ['kept, with its runner', seconds(kept), `${(kept / alone).toFixed(2)} times`],
    ],
  );
}

interface Started {
  readonly runner: ChildProcess;
  readonly childOf: () => number | undefined;
  readonly text: () => string;
}

function start(world: World, id: string, attempt: number, more: Partial<RunnerArgs>): Started {
  const dataFolder = path.join(world.folder, `${id}-${attempt}`);
  const args: RunnerArgs = {
    store: path.join(world.folder, 'objects'),
    run: id,
    attempt,
    folder: dataFolder,
    segmentBytes: 16 * 1024 * 1024,
    command: [process.execPath, COMMAND],
    args: runArgs(world, id),
    ...more,
  };
  return watched(world, [RUNNER, JSON.stringify(args)], () => logOf(`${dataFolder}.log`));
}

function startAlone(world: World, id: string): Started {
  return watched(
    world,
    [COMMAND, 'run', ...runArgs(world, id), '--data', path.join(world.folder, id)],
    () => '',
  );
}

function runArgs({ url }: World, id: string): string[] {
  return ['--component', COMPONENT, '--config', id, '--storage', url];
}

function watched({ token }: World, args: readonly string[], log: () => string): Started {
  const runner = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, KBC_TOKEN: token },
  });
  let said = '';
  runner.stdout.on('data', (chunk) => (said += String(chunk)));
  runner.stderr.on('data', (chunk) => (said += String(chunk)));
  return {
    runner,
    text: () => said + log(),
    childOf: () => {
      const pid = /^started (\d+)/m.exec(said)?.[1];
      return pid === undefined ? undefined : Number(pid);
    },
  };
}

async function untilEnded({ runner, text }: Started): Promise<void> {
  const [code] = (await once(runner, 'close')) as [number | null]; // as documented for the event
  if (code !== 0 || /^ended [^0]/m.test(text())) throw new Error(`a run failed: ${text()}`);
}

function logOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

async function timed(work: () => Promise<void>): Promise<[number]> {
  const begun = performance.now();
  await work();
  return [performance.now() - begun];
}

async function createConfiguration({ url, token }: World, id: string, baseUrl: string): Promise<void> {
  const configuration = {
    parameters: {
      api: { baseUrl, pagination: { method: 'pagenum' } },
      config: { outputBucket: id, incrementalOutput: true, jobs: [{ endpoint: 'rows', dataType: 'rows' }] },
    },
  };
  const response = await fetch(`${url}/v2/storage/components/${COMPONENT}/configs`, {
    method: 'POST',
    headers: { 'X-StorageApi-Token': token, 'Content-Type': 'application/json' },
    body: JSON.stringify({ configurationId: id, name: id, configuration }),
  });
  if (!response.ok) throw new Error(`the configuration was refused: ${await response.text()}`);
}

/** Its rows, sorted. */
async function tableOf({ client }: World, id: string): Promise<string> {
  let text = '';
  for await (const piece of await client.tables.read(`in.c-${id}.rows`)) text += String(piece);
  const [head = '', ...rows] = text.trim().split('\n');
  return [head, ...rows.toSorted()].join('\n');
}

interface Api {
  readonly url: string;
  readonly answers: { page: number; at: number }[];
  stop(): Promise<void>;
}

async function startApi(count: number, size: number, waitMs: number): Promise<Api> {
  const answers: Api['answers'] = [];
  const bodies = Array.from({ length: count }, (_, page) =>
    JSON.stringify(
      Array.from({ length: size }, (__, i) => ({
        id: page * size + i,
        name: `row ${page * size + i}`,
        text: 'some text that a row of an API may have '.repeat(3),
        price: (page * 31 + i) / 7,
      })),
    ),
  );
  const server = createServer((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://localhost').searchParams.get('page'));
    setTimeout(() => {
      answers.push({ page, at: performance.now() });
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(bodies[page - 1] ?? '[]');
    }, waitMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/`,
    answers,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
