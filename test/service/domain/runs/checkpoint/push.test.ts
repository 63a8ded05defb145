import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../../../../src/lib/log.ts';
import { run } from '../../../../../src/runner/run.ts';
import { openTarget } from '../../../../../src/service/open/open-target.ts';
import { openKeeper } from '../../../../../src/service/domain/runs/checkpointer.ts';
import { keptRun } from '../../../../../src/service/domain/runs/checkpoint/kept-run.ts';
import { json, startApi, type Api } from '../../../../cli/support.ts';
import { startService, type Running } from '../../../harness.ts';
import { between, channelPair, memoryStore, type Between, type MemoryStore } from './support.ts';
import { isAll, sample } from '../../../../support/sample.ts';

const COMPONENT = 'ex-generic-v2';
const PAGES = 3;

let storage: Running;
const folders: string[] = [];
beforeAll(async () => {
  storage = await startService();
});
afterAll(async () => {
  await storage.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Ids of the endpoint, which go on from run to run. */
async function eventsApi(): Promise<Api> {
  return await startApi(({ url }, response) => {
    const page = Number(url.searchParams.get('page'));
    const name = `${url.pathname.slice(1)}-${url.searchParams.get('since') ?? ''}`;
    json(response, page > PAGES ? [] : [{ id: `${name}-${page}` }]);
  });
}

/** Two rows that add to tables without a key: what is loaded twice is there twice. */
async function createConfiguration(id: string, api: Api): Promise<void> {
  const configuration = {
    parameters: {
      api: { baseUrl: api.url, retryConfig: { maxRetries: 0 }, pagination: { method: 'pagenum' } },
      config: { outputBucket: id, incrementalOutput: true },
    },
  };
  await storage.call('POST', `components/${COMPONENT}/configs`, {
    configurationId: id,
    name: id,
    configuration,
  });
  for (const rowId of ['a', 'b']) {
    const params = { since: { time: 'previousStart' } };
    const row = { parameters: { config: { jobs: [{ endpoint: rowId, dataType: rowId, params }] } } };
    await storage.call('POST', `components/${COMPONENT}/configs/${id}/rows`, {
      rowId,
      name: rowId,
      configuration: row,
    });
  }
}

async function rowsOf(table: string): Promise<string[]> {
  const { text } = await storage.call('GET', `tables/${table}/data-preview?limit=100`);
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.replaceAll('"', ''))
    .filter((line) => line !== '')
    .toSorted();
}

interface World {
  readonly id: string;
  readonly store: MemoryStore;
  readonly proxy: Between;
  readonly api: Api;
  readonly token: { readonly id: string };
}

async function world(id: string): Promise<World> {
  const api = await eventsApi();
  await createConfiguration(id, api);
  const { body } = await storage.call('POST', 'tokens', { description: id, canManageBuckets: true });
  const proxy = await between(storage.addresses.url);
  return { id, api, proxy, store: memoryStore(), token: body as World['token'] }; // the service speaks the protocol
}

/** One attempt, in a folder of its own. `step` is called before each step that another one may have to make up for. */
async function attempt(
  count: number,
  { id, store, proxy, token }: World,
  step: (name: string) => void,
): Promise<void> {
  const { body } = await storage.call('POST', `tokens/${token.id}/refresh`);
  const { token: secret } = body as { token: string }; // the service speaks the protocol
  const killing = new AbortController();
  const mortal = (name: string): void => {
    try {
      killing.signal.throwIfAborted();
      step(name);
    } catch (error) {
      killing.abort(error);
      throw error;
    }
  };
  proxy.at = async (when, line) => {
    // before a request it is as behind what was kept before it
    if (!line.startsWith('GET') && when === 'answer') mortal(line);
  };
  store.before = (key) => mortal(`write ${key}`);
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-takeover-'));
  folders.push(folder);
  const { child, channel } = channelPair();
  const keeper = openKeeper({ store, run: id, attempt: count, folder, log: silentLog });
  await keeper.restore();
  keeper.start(child);
  const kept = keptRun(channel, keeper.environment);
  try {
    const common = {
      log: silentLog,
      signal: AbortSignal.any([killing.signal, kept?.gone ?? killing.signal]),
    };
    const target = await openTarget({
      ...common,
      stored: { component: COMPONENT, configuration: id },
      storage: proxy.url,
      dataFolder: folder,
      environment: { KBC_TOKEN: secret },
      beforeChange: kept?.keep,
    });
    try {
      await run({ ...target.options, ...common, id: kept?.id });
    } finally {
      await target.close();
    }
    // the runner is killed before it has written down that all is well
    mortal('end');
  } finally {
    if (killing.signal.aborted) store.before = mortal;
    await keeper.stop('ended');
  }
}

const wanted = (row: string): string[] => Array.from({ length: PAGES }, (_, i) => `${row}-0-${i + 1}`);

async function expectOnce({ id, api }: World): Promise<void> {
  expect(await rowsOf(`in.c-${id}.a`)).toEqual(wanted('a'));
  expect(await rowsOf(`in.c-${id}.b`)).toEqual(wanted('b'));
  const { body } = await storage.call('GET', `components/${COMPONENT}/configs/${id}/rows`);
  const rows = body as { id: string; state: { component?: { time: { previousStart: number } } } }[]; // see above
  for (const { state } of rows) expect(state.component?.time.previousStart).toBeGreaterThan(0);
  expect(api.seen.length).toBeGreaterThan(0);
}

/** Kills the run before a step, and each that takes it over before the next ones. @returns false when it ended before */
async function killedBefore(...steps: readonly number[]): Promise<boolean> {
  const made = await world(`at${steps.join('-')}`);
  let hasEnded = false;
  let attempts = 0;
  let committed = 0;
  for (const at of [...steps, undefined]) {
    let count = 0;
    const work = attempt(++attempts, made, (name) => {
      if (count++ === at) throw new Error(`killed before ${name}`);
      if (name.endsWith('000001/index')) committed++;
    });
    hasEnded = await work.then(
      () => true,
      () => false,
    );
    if (hasEnded) break;
  }
  expect(hasEnded).toBe(true);
  await expectOnce(made);
  // what was asked for before the first index was written is all that is asked for again
  if (committed > 0) {
    const ofFirst = made.api.seen.filter((line) => line.startsWith('GET /a?'));
    if (steps.length === 1) expect(ofFirst).toHaveLength(PAGES + 1);
  }
  made.proxy.stop();
  return attempts > steps.length;
}

test(
  'a run of two rows is pushed once, whichever step it is killed before',
  { timeout: 600_000 },
  async () => {
    // objects, indexes and requests of both rows, and the end
    const steps = Array.from({ length: 26 }, (_, at) => at);
    for (const at of sample(steps, 3)) expect(await killedBefore(at)).toBe(true);
    if (!isAll) return;
    let at = steps.length;
    while (await killedBefore(at)) at++;
  },
);
