import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeError, RecordError } from '../../../src/lib/errors.ts';
import type { Json } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { createAutomaticParser } from '../../../src/engine/records/automatic.ts';
import { createLegacyParser } from '../../../src/engine/records/legacy/parser.ts';
import { compileLook, type RowLook } from '../../../src/engine/records/look.ts';
import { parseMappings } from '../../../src/engine/records/mapping/parse.ts';
import { createMappedParser } from '../../../src/engine/records/mapping/parser.ts';
import type { PageRows } from '../../../src/engine/records/parser.ts';
import { writtenBy } from './written.ts';
import { times } from '../../support/sample.ts';

const UNIQUE: RowLook = { unique: '1777593600000' };
const WORDS: RowLook = { words: { null: 'NULL', true: 'yes', false: 'no' } };

/** @param size rows of a chunk; several chunks are a page whose count is not known */
function pageOf(rows: readonly Json[], look: RowLook, size = rows.length): PageRows {
  const chunks = Array.from({ length: Math.ceil(rows.length / Math.max(1, size)) }, (_, i) =>
    rows.slice(i * size, (i + 1) * size),
  );
  return {
    dataType: 'books',
    extra: {},
    look,
    count: chunks.length > 1 ? Infinity : rows.length,
    chunks: () => chunks,
  };
}

async function tables(pages: readonly PageRows[]): Promise<Record<string, string>> {
  return Object.fromEntries(await writtenBy(createAutomaticParser({ log: silentLog }), pages));
}

function linksIn(csv: string | undefined, column: string): readonly string[] {
  const records = parse<Record<string, string>>(csv ?? '', { columns: true });
  return records.map((record) => record[column] ?? '').filter((cell) => cell !== '');
}

describe('links of their own', () => {
  const twins = [
    { n: 1, tags: ['a'] },
    { n: 1, tags: ['a'] },
  ];

  test('tell equal rows apart, where they share one by default', async () => {
    const equal = await tables([pageOf(twins, {})]);
    expect(new Set(linksIn(equal['books'], 'tags')).size).toBe(1);
    const unique = await tables([pageOf(twins, UNIQUE)]);
    expect(new Set(linksIn(unique['books'], 'tags')).size).toBe(2);
    expect(linksIn(unique['books_tags'], 'JSON_parentId')).toEqual(linksIn(unique['books'], 'tags'));
  });

  test('are others in another run', async () => {
    const one = await tables([pageOf(twins, UNIQUE)]);
    const other = await tables([pageOf(twins, { unique: '1777593600001' })]);
    expect(linksIn(one['books'], 'tags')).not.toEqual(linksIn(other['books'], 'tags'));
  });

  const item = fc.record({
    a: fc.constantFrom(1, 2),
    list: fc.array(
      fc.record({ b: fc.constantFrom('x', 'y'), in: fc.array(fc.constant(1), { maxLength: 2 }) }),
      { maxLength: 3 },
    ),
  });
  const late = fc.record({ a: fc.constant(1), late: fc.constant({ c: [1] }) });
  const rows = fc.array(fc.oneof({ weight: 4, arbitrary: item }, { weight: 1, arbitrary: late }), {
    maxLength: 8,
  });

  test('join each item to one row, at any depth, however the rows come in chunks and whatever comes late', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rows, { maxLength: 4 }),
        fc.integer({ min: 1, max: 3 }),
        async (pages, size) => {
          const whole = await tables(pages.map((each) => pageOf(each, UNIQUE)));
          const chunked = await tables(pages.map((each) => pageOf(each, UNIQUE, size)));
          expect(chunked).toEqual(whole);
          for (const [table, column, inner] of [
            ['books', 'list', 'books_list'],
            ['books_list', 'in', 'books_list_in'],
            ['books', 'late_c', 'books_late_c'],
          ] as const) {
            const links = linksIn(whole[table], column);
            expect(new Set(links).size).toBe(links.length);
            for (const link of linksIn(whole[inner], 'JSON_parentId')) expect(links).toContain(link);
          }
        },
      ),
      { numRuns: times(150) },
    );
  });

  test('are there in a mapping whose rows have no key, too', async () => {
    const mappings = parseMappings(
      { books: { n: 'n', tags: { type: 'table', destination: 'tags', tableMapping: { '.': 'tag' } } } },
      'mappings',
    );
    const otherwise = createAutomaticParser({ log: silentLog });
    const mapped = createMappedParser({ mappings, otherwise, parseTime: () => undefined });
    const written = Object.fromEntries(
      await writtenBy(mapped, [pageOf(twins, UNIQUE), pageOf(twins, UNIQUE)]),
    );
    expect(new Set(linksIn(written['books'], 'tags')).size).toBe(4);
    expect(linksIn(written['tags'], 'books_pk')).toEqual(linksIn(written['books'], 'tags'));
  });
});

describe('words of cells', () => {
  const mixed: Json[] = [
    { a: true, b: false, c: null, d: { e: null, f: [null, true] }, g: 'NULL' },
    { a: null, d: null, c: 0 },
  ];

  test('tell true, false, null and what is missing apart, in nested tables, too', async () => {
    const written = await tables([pageOf(mixed, WORDS)]);
    const link = linksIn(written['books'], 'd_f')[0] ?? '';
    expect(written['books']).toBe(
      `"a","b","c","d_e","d_f","g"\n"yes","no","NULL","NULL","${link}","NULL"\n"NULL","","0","","",""\n`,
    );
    expect(written['books_d_f']).toBe(`"data","JSON_parentId"\n"NULL","${link}"\n"yes","${link}"\n`);
  });

  test('are those of JSON by one word', () => {
    expect(compileLook({ cells: 'json' }, 'job', 0)).toEqual({
      words: { null: 'null', true: 'true', false: 'false' },
    });
    expect(compileLook({ cells: { true: 'T' }, links: 'equal' }, 'job', 0)).toEqual({
      words: { null: '', true: 'T', false: '' },
    });
  });

  test('stand in mapped cells and keys', async () => {
    const mappings = parseMappings(
      { books: { a: { mapping: { destination: 'a', primaryKey: true } }, b: 'b' } },
      'mappings',
    );
    const otherwise = createAutomaticParser({ log: silentLog });
    const mapped = createMappedParser({ mappings, otherwise, parseTime: () => undefined });
    expect(Object.fromEntries(await writtenBy(mapped, [pageOf(mixed, WORDS)]))['books']).toBe(
      '"a","b"\n"yes","no"\n"NULL",""\n',
    );
  });
});

test.each([
  [{ cells: 'jsn' }, '“cells” cannot be a text'],
  [{ cells: { treu: 'x' } }, 'Did you mean “true”?'],
  [{ cells: { true: true } }, 'The word for true is true'],
  [{ links: 'uniq' }, '“links” is "unique" or "equal"'],
])('what is wrong is told: %j', (settings, words) => {
  expect(() => compileLook(settings, 'job', 0)).toThrow(RecordError);
  try {
    compileLook(settings, 'job', 0);
  } catch (error) {
    expect(describeError(error)).toContain(words);
  }
});

test('the older way of tables refuses both', async () => {
  const legacy = createLegacyParser({ log: silentLog });
  await expect(writtenBy(legacy, [pageOf([{ a: 1 }], UNIQUE)])).rejects.toThrow(
    '“cells” and “links” are not known',
  );
});
