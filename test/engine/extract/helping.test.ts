import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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

test('a thread that waits for the lines of a page makes what no other thread was given', async () => {
  const api = await startApi(({ url }, response) =>
    json(response, page(Number(url.searchParams.get('page')))),
  );
  const configuration = parseExact(
    JSON.stringify(
      configOf(api, [{ endpoint: 'orders', dataField: 'items' }], {
        api: { pagination: { method: 'pagenum' } },
      }),
    ),
  ) as AnyObject; // an object was written
  const outcome = async (lineThreads: LineThreads): Promise<object> => {
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
  };

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
