import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { extract } from '../../../src/engine/extract/extract.ts';
import { LineThreads } from '../../../src/engine/records/threads/line-threads.ts';
import { parseExact, type AnyObject } from '../../../src/lib/json/index.ts';
import { configOf, dataFolder, filesOf, json, startApi } from '../../cli/support.ts';

const PAGES = 6;
const ROWS = 1000;

/** Rows of some 100 kB, which are parted for threads. */
function page(number: number): object {
  const rows = Array.from({ length: ROWS }, (_, i) => ({
    id: number * ROWS + i,
    note: 'x'.repeat(60),
    lines: [{ article: `A-${i}` }],
  }));
  return { items: number > PAGES ? [] : rows };
}

/** Threads that say how many parts were made by who would wait for them. */
class CountedThreads extends LineThreads {
  helped = 0;

  override help(): boolean {
    const isHelp = super.help();
    if (isHelp) this.helped++;
    return isHelp;
  }
}

/**
 * Runs a job and returns its tables.
 *
 * @param before is waited for before a page is sent
 */
async function outcome(
  lineThreads: LineThreads,
  before: (page: number) => Promise<void> = async () => {},
): Promise<object> {
  const api = await startApi(async ({ url }, response) => {
    const number = Number(url.searchParams.get('page'));
    await before(number);
    json(response, page(number));
  });
  const configuration = parseExact(
    JSON.stringify(
      configOf(api, [{ endpoint: 'orders', dataField: 'items' }], {
        api: { pagination: { method: 'pagenum' } },
      }),
    ),
  ) as AnyObject; // an object was written
  const folder = dataFolder({});
  const [outFolder, workFolder, cacheFolder] = ['out', 'work', 'cache'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string]; // as many as there are names
  await extract({
    configuration,
    state: {},
    outFolder,
    workFolder,
    cacheFolder,
    env: systemEnv,
    log: silentLog,
    signal: new AbortController().signal,
    lineThreads,
  });
  return filesOf(path.join(outFolder, 'tables'));
}

test('a thread that waits for the lines of a page makes what no other thread was given', async () => {
  // the threads are given nothing: who waits without helping waits for ever
  const threads = new CountedThreads({ most: 1, startBytes: 0, leastBytes: 0, ahead: 0 });
  onTestFinished(async () => await threads.close());
  await threads.start();
  const helped = await outcome(threads);
  expect(Object.keys(helped)).toContain('library.orders_lines');
  // the first page shows the structure; each of the others has several parts
  expect(threads.helped).toBeGreaterThan(2 * (PAGES - 1));
  expect(helped).toEqual(await outcome(new LineThreads({ most: 0 })));
});

test('threads practise on a page that is written without them, and make the pages after it', async () => {
  const threads = new LineThreads({ most: 1, startBytes: 0, leastBytes: 0 });
  onTestFinished(async () => await threads.close());
  const practised = vi.spyOn(threads, 'practise');
  const made = vi.spyOn(threads, 'make');
  const until = async (use: string): Promise<void> => {
    await vi.waitFor(() => expect(threads.takes(1)).toBe(use), { timeout: 60_000, interval: 5 });
  };
  const tables = await outcome(threads, async (number) => {
    if (number === 3) await until('practice');
    if (number === 4) await until('all');
  });
  expect(practised.mock.calls.length).toBeGreaterThan(0);
  expect(made.mock.calls.length).toBe(PAGES - 3);
  expect(tables).toEqual(await outcome(new LineThreads({ most: 0 })));
});
