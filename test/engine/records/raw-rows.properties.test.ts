import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { rawChunks } from '../../../src/engine/extract/content.ts';
import { createAutomaticParser } from '../../../src/engine/records/automatic.ts';
import { readPage } from '../../../src/engine/records/page.ts';
import type { PageRows } from '../../../src/engine/records/parser.ts';
import { LineThreads } from '../../../src/engine/records/threads/line-threads.ts';
import type { LinesMade } from '../../../src/engine/records/threads/messages.ts';
import type { SeenRows } from '../../../src/engine/shared/seen-rows.ts';
import { RecordError } from '../../../src/lib/errors.ts';
import {
  compilePath,
  encodeExact,
  getKey,
  isObject,
  JsonSyntaxError,
  scalarsDigest,
  scanLarge,
  scanPage,
  type AnyObject,
  type DocumentBytes,
} from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { turn } from '../../../src/lib/turn.ts';
import { times } from '../../support/sample.ts';
import { documents, largeDocuments } from './documents.ts';
import { writtenBy } from './written.ts';

const looks = fc.constantFrom<NonNullable<PageRows['look']>>(
  {},
  { types: true },
  { types: true, words: { null: '', true: 'true', false: 'false' } },
  { words: { null: 'null', true: 'yes "', false: 'no' } },
  { unique: '17' },
);

interface Outcome {
  readonly tables: object;
  readonly error: string | undefined;
}

interface Use {
  readonly isRaw: boolean;
  readonly look: NonNullable<PageRows['look']>;
  readonly extra: AnyObject;
  readonly seen?: string[];
  readonly threads?: LineThreads | undefined;
  /** Two documents are the chunks of one page. */
  readonly isPaired?: boolean;
}

/** Digests and ids of rows as they are read by themselves, and of the decoded rows. */
function readOf(rows: SeenRows): string[] {
  const read = rows.property('id');
  const without = rows.without?.('id');
  return Array.from({ length: rows.length }, (_, i) => {
    const row = rows.at(i);
    const id = isObject(row) ? getKey(row, 'id') : undefined;
    const digest = isObject(row) ? scalarsDigest(row) : 0;
    return JSON.stringify([
      [rows.digest?.(i), read?.(i) ?? null, without?.includes(i)],
      [digest, read === undefined ? null : (id ?? null), read === undefined ? undefined : id === undefined],
    ]);
  });
}

async function outcome(
  documents: readonly string[],
  { isRaw, look, extra, seen, threads, isPaired }: Use,
): Promise<Outcome> {
  const parser = createAutomaticParser({ log: silentLog });
  try {
    const read = documents.map((text) =>
      readPage(Buffer.from(text), {
        dataField: compilePath('data'),
        endpoint: 'books',
        describeUrl: () => '',
        redact: (shown) => shown,
      }),
    );
    const groups =
      isPaired === true ? [read.slice(0, 2), read.slice(2, 4), read.slice(4)] : read.map((page) => [page]);
    const pages = groups.map((group): PageRows => {
      const pieces = group.flatMap((page) => page.pieces);
      const rows = group.reduce((sum, page) => sum + page.rows, 0);
      const chunks = isRaw ? rawChunks(pieces) : undefined;
      return {
        dataType: 'books',
        extra,
        look,
        count: rows,
        chunks: () => pieces.map((piece) => piece.decode()),
        ...(chunks === undefined
          ? {}
          : { raw: { chunks, wanted: () => ['id'], see: (_, each) => void seen?.push(...readOf(each)) } }),
      };
    });
    const tables = Object.fromEntries(await writtenBy(parser, pages, threads));
    const types = Object.fromEntries(parser.types?.() ?? []);
    return { tables: { ...tables, struct: encodeExact(parser.struct ?? null), types }, error: undefined };
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    return { tables: {}, error: error.message };
  }
}

/** An extra column is renamed for a property that comes late, and the first page is written again. */
const RENAMED: [string[], NonNullable<PageRows['look']>, AnyObject, boolean] = [
  ['{"data":[{"say \\"hi\\"":"","a":["x"]}]}', '{"data":[{"id":0,"say \\"hi\\"":0,"a":[]}]}'],
  {},
  { id: 5, a_b: 'y' },
  false,
];

test(
  'rows written from their bytes are as those that were decoded, and so is what is said of wrong ones',
  { timeout: 120_000 },
  async () => {
    const extras = fc.constantFrom({}, { tag: 'x' }, { id: 5, a_b: 'y' });
    await fc.assert(
      fc.asyncProperty(documents, looks, extras, fc.boolean(), async (list, look, extra, isPaired) => {
        const seen: string[] = [];
        const raw = await outcome(list, { isRaw: true, look, extra, seen, isPaired });
        expect(raw).toEqual(await outcome(list, { isRaw: false, look, extra, isPaired }));
        for (const each of seen) {
          const [read, decoded] = JSON.parse(each) as [unknown, unknown];
          expect(read).toEqual(decoded);
        }
      }),
      { numRuns: times(600), examples: [RENAMED] },
    );
  },
);

/** The value that makes a column one of decimals is shown as it is in its cell. */
const WIDENED: [string[], NonNullable<PageRows['look']>, AnyObject] = [
  ['{"data":[{"id":1},{"id":2}]}', '{"data":[{"id":0.50},{"id":3}]}'],
  { types: true },
  {},
];

/** Keeps the bytes of a document elsewhere, to be scanned as a large one. */
function elsewhere(text: string): DocumentBytes {
  const bytes = Buffer.from(text);
  return { bytes: bytes.length, read: (at, length) => bytes.subarray(at, at + length) };
}

test(
  'many rows that are read and written at once are as those that are taken one by one',
  { timeout: 120_000 },
  async () => {
    const extras = fc.constantFrom({}, { tag: 'x' }, { id: 5, a_b: 'y' });
    await fc.assert(
      fc.asyncProperty(largeDocuments, looks, extras, async (list, look, extra) => {
        for (const text of list) {
          const one = scanLarge(elsewhere(text), ['data']);
          if (one !== undefined) expect(scanPage(Buffer.from(text), ['data'])).toEqual(one);
          else expect(() => scanPage(Buffer.from(text), ['data'])).toThrow(JsonSyntaxError);
        }
        const seen: string[] = [];
        const raw = await outcome(list, { isRaw: true, look, extra, seen });
        expect(raw).toEqual(await outcome(list, { isRaw: false, look, extra }));
        for (const each of seen) {
          const [read, decoded] = JSON.parse(each) as [unknown, unknown];
          expect(read).toEqual(decoded);
        }
      }),
      { numRuns: times(300), examples: [WIDENED] },
    );
  },
);

/** The lines of the only chunk of a page. */
async function firstOf(made: unknown): Promise<LinesMade | undefined> {
  const [lines] = (await made) as readonly (LinesMade | undefined)[]; // what the method under the spy gives
  return lines;
}

/** Documents for pages of two chunks each, the first of which shows the structure; the others are of several parts. */
function largePages(): string[] {
  const note = 'x'.repeat(200);
  const rows = Array.from({ length: 400 }, (_, i) => `{"id":${i}, "note":"${note}","tags":["a","b${i}"]}`);
  const short = `{"data":[${rows.slice(0, 1).join()}]}`;
  return [short, short, `{"data":[ ${rows.join(' ,\n')} ]}`, `{"data":[${rows.join()}]}`];
}

describe('other threads', () => {
  const always = { startBytes: 0, leastBytes: 0 };
  const pools = [1, 2, 4].map((most) => new LineThreads({ ...always, most }));
  const helped = new LineThreads({ ...always, most: 1, ahead: 0 });
  const all = [...pools, helped];
  beforeAll(async () => await Promise.all(all.map(async (pool) => await pool.start())));
  afterAll(async () => await Promise.all(all.map(async (pool) => await pool.close())));

  test(
    'write the same, however many they are and who helps them, and say the same of wrong rows',
    { timeout: 120_000 },
    async () => {
      const extras = fc.constantFrom({}, { tag: 'x' }, { id: 5, a_b: 'y' });
      await fc.assert(
        fc.asyncProperty(documents, looks, extras, fc.boolean(), async (list, look, extra, isPaired) => {
          const use = { isRaw: true, look, extra, isPaired };
          const seen: string[] = [];
          const alone = await outcome(list, { ...use, seen });
          for (const threads of all) {
            const seenThere: string[] = [];
            expect(await outcome(list, { ...use, seen: seenThere, threads })).toEqual(alone);
            expect(seenThere).toEqual(seen);
          }
        }),
        { numRuns: times(150) },
      );
    },
  );

  test('write the parts of a page in their order, with the place of each row', async () => {
    const list = largePages();
    for (const look of [{}, { unique: 'run', types: true }] as const) {
      const use = { isRaw: true, look, extra: {}, isPaired: true };
      const seen: string[] = [];
      const alone = await outcome(list, { ...use, seen });
      for (const threads of all) {
        const made = vi.spyOn(threads, 'make');
        const seenThere: string[] = [];
        expect(await outcome(list, { ...use, seen: seenThere, threads })).toEqual(alone);
        expect(seenThere).toEqual(seen);
        expect(made.mock.calls.map(([, parts]) => parts.length)).toEqual([6]);
        made.mockRestore();
      }
    }
  });

  test('are not started for pages that are not worth it, or would take too much memory', async () => {
    const threads = new LineThreads({ most: 1, startBytes: 0, leastBytes: 100 });
    onTestFinished(async () => await threads.close());
    const started = vi.fn<() => void>();
    process.on('worker', started);
    onTestFinished(() => void process.off('worker', started));
    for (const bytes of [99, 2 ** 30]) expect(threads.takes(bytes)).toBe('none');
    await turn();
    expect(started).not.toHaveBeenCalled();
    expect(threads.takes(100)).toBe('none');
    await turn();
    expect(started).toHaveBeenCalledOnce();
  });

  test('leave a page to this one when one of them ends', async () => {
    const use = { isRaw: true, look: {}, extra: {}, isPaired: true };
    const alone = await outcome(largePages(), use);
    const threads = new LineThreads({ ...always, most: 1 });
    await threads.start();
    const make = threads.make.bind(threads);
    const spy = vi.spyOn(threads, 'make').mockImplementation(async (...asked) => {
      const made = make(...asked);
      await threads.close();
      expect(await made).toContain(undefined);
      return await made;
    });
    expect(await outcome(largePages(), { ...use, threads })).toEqual(alone);
    expect(spy).toHaveBeenCalledOnce();
  });

  test('make lines, and do so again when the plan has changed', async () => {
    const [threads] = pools;
    const list = [
      '{"id":1,"tags":["a"]}',
      '{"id":2,"tags":[]}',
      '{"id":3,"late":1,"tags":["b"]}',
      '{"id":4}',
    ];
    const made = threads === undefined ? undefined : vi.spyOn(threads, 'make');
    await outcome(
      list.map((row) => `{"data":[${row},${row}]}`),
      { isRaw: true, look: {}, extra: {}, threads },
    );
    const results = await Promise.all(
      (made?.mock.results ?? []).map(async ({ value }) => await firstOf(value)),
    );
    expect(results.map((lines) => lines?.batches.map(({ rows }) => rows))).toEqual([[2], undefined, [2]]);
  });
});
