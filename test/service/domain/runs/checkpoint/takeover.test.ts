// @module-tag thorough
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemEnv } from '../../../../../src/lib/env.ts';
import { silentLog } from '../../../../../src/lib/log.ts';
import { readKept } from '../../../../../src/service/domain/runs/checkpoint/kept.ts';
import { Places } from '../../../../../src/service/domain/runs/checkpoint/places.ts';
import { createFolderStore } from '../../../../../src/service/stores/objects/folder-store.ts';
import { COMPILE_CACHE, gexHere, json, startApi, type Api } from '../../../../cli/support.ts';
import { bytesOf } from '../../../../storage/client/support.ts';
import { startService, type Running } from '../../../harness.ts';
import type { RunnerArgs } from './runner.child.ts';

const RUNNER = fileURLToPath(new URL('runner.child.ts', import.meta.url));
const COMPONENT = 'ex-generic-v2';
const PAGES = 60;
const ROWS_OF_PAGE = 5;

let storage: Running;
const folder = mkdtempSync(path.join(tmpdir(), 'gex-takeover-'));
const started: ChildProcess[] = [];
beforeAll(async () => {
  storage = await startService();
});
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await storage.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Library extends Api {
  /** This page is not answered. */
  held: number | undefined;
}

async function library(): Promise<Library> {
  const waiting: ServerResponse[] = [];
  const state = { held: undefined as number | undefined, waiting };
  const api = await startApi(({ url }, response) => {
    const page = Number(url.searchParams.get('page'));
    if (page === state.held) {
      waiting.push(response);
      return;
    }
    const ids =
      page > PAGES ? [] : Array.from({ length: ROWS_OF_PAGE }, (_, i) => (page - 1) * ROWS_OF_PAGE + i);
    json(
      response,
      ids.map((id) => ({ id, text: `row ${id}` })),
    );
  });
  return Object.assign(state, { url: api.url, seen: api.seen });
}

async function createConfiguration(id: string, api: Api): Promise<void> {
  const configuration = {
    parameters: {
      api: { baseUrl: api.url, retryConfig: { maxRetries: 0 }, pagination: { method: 'pagenum' } },
      config: { outputBucket: id, incrementalOutput: true, jobs: [{ endpoint: 'books', dataType: 'books' }] },
    },
  };
  const body = { configurationId: id, name: id, configuration };
  expect((await storage.call('POST', `components/${COMPONENT}/configs`, body)).status).toBe(201);
}

const storeFolder = path.join(folder, 'objects');
const store = createFolderStore({
  directory: storeFolder,
  secret: Buffer.alloc(32),
  endpoint: () => 'http://127.0.0.1:1',
  env: systemEnv,
  log: silentLog,
});

interface Attempt {
  readonly runner: ChildProcess;
  readonly folder: string;
  readonly ended: Promise<unknown>;
  /** Returns the lines printed so far. */
  lines: () => string[];
}

function startAttempt(id: string, attempt: number, more: Partial<RunnerArgs> = {}): Attempt {
  const dataFolder = path.join(folder, `${id}-${attempt}`);
  const args: RunnerArgs = {
    store: storeFolder,
    run: id,
    attempt,
    folder: dataFolder,
    args: ['--component', COMPONENT, '--config', id, '--storage', storage.addresses.url],
    ...more,
  };
  const runner = spawn(process.execPath, [RUNNER, JSON.stringify(args)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, KBC_TOKEN: storage.token, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  started.push(runner);
  let text = '';
  runner.stdout.on('data', (chunk) => (text += String(chunk)));
  return {
    runner,
    folder: dataFolder,
    ended: once(runner, 'exit'),
    lines: () => text.split('\n').filter(Boolean),
  };
}

/** Waits until the run stands at a page, and all that it has written is kept. */
async function untilKept(api: Library, id: string, attempt: number, dataFolder: string): Promise<void> {
  const wanted = `GET /books?page=${api.held}`;
  await expect.poll(() => api.seen.includes(wanted), { timeout: 100_000 }).toBe(true);
  const recording = path.join(dataFolder, '.gex', 'unfinished.recording');
  await expect
    .poll(async () => {
      const files = await readKept(store, new Places(id).index(attempt));
      const kept = files?.['.gex/unfinished.recording'];
      const to = kept?.kind === 'recording' ? kept.segments.at(-1)?.to : 0;
      return to === statSync(recording).size;
    })
    .toBe(true);
}

async function gone(pid: number): Promise<void> {
  await expect
    .poll(() => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    })
    .toBe(true);
}

const childOf = ({ lines }: Attempt): number =>
  Number(
    lines()
      .find((line) => line.startsWith('started'))
      ?.split(' ')[1],
  );

async function rowsOf(table: string): Promise<string[]> {
  const { text } = await storage.call('GET', `tables/${table}/data-preview?limit=1000`);
  return text.trim().split('\n').slice(1).toSorted();
}

test('a run that is killed twice is taken over where it was', { timeout: 240_000 }, async () => {
  const api = await library();
  await createConfiguration('library', api);

  api.held = 20;
  const first = startAttempt('library', 1);
  await untilKept(api, 'library', 1, first.folder);
  process.kill(childOf(first), 'SIGKILL');
  first.runner.kill('SIGKILL');
  await first.ended;

  api.held = 45;
  const second = startAttempt('library', 2);
  await untilKept(api, 'library', 2, second.folder);
  expect(second.lines()[0]).toMatch(/^restored 1 [1-9]\d{3}/);
  second.runner.kill('SIGKILL');
  await second.ended;
  // the process that is left ends by itself
  await gone(childOf(second));

  api.held = undefined;
  const third = startAttempt('library', 3, { trims: true });
  await third.ended;
  expect(third.lines().at(-1)).toBe('ended 0');

  const counts = new Map<string, number>();
  for (const line of api.seen) counts.set(line, (counts.get(line) ?? 0) + 1);
  const repeated = [...counts].filter(([, count]) => count > 1).map(([line]) => line);
  expect(counts.size).toBe(PAGES + 1);
  // those that were under way
  expect(repeated).toEqual(['GET /books?page=20', 'GET /books?page=45']);

  const ids = Array.from({ length: PAGES * ROWS_OF_PAGE }, (_, id) => `"${id}","row ${id}"`);
  expect(await rowsOf('in.c-library.books')).toEqual(ids.toSorted());

  // what is left is the recording, with the pages of all three
  const kept: string[] = [];
  for await (const { key } of store.list('recordings/library/'))
    if (!key.includes('/claims/')) kept.push(key);
  expect(kept).toEqual(['recordings/library/explanation', 'recordings/library/recording.gexr']);
  const file = path.join(folder, 'library.gexr');
  writeFileSync(file, await bytesOf(await store.read('recordings/library/recording.gexr')));
  const { stdout } = await gexHere('explain', '--recording', file, '--json');
  const pages = [...stdout.matchAll(/"page": (\d+),/g)].map(([, page]) => Number(page));
  expect(new Set(pages)).toEqual(new Set(Array.from({ length: PAGES + 1 }, (_, i) => i + 1)));
  expect(existsSync(path.join(third.folder, '.gex', 'last.recording'))).toBe(true);
});
