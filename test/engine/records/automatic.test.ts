import { expect, test } from 'vitest';
import { isList, isObject, md5OfObject, parseExact } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { createAutomaticParser } from '../../../src/engine/records/automatic.ts';
import type { PageRows } from '../../../src/engine/records/parser.ts';
import { writtenBy } from './written.ts';

function page(text: string, dataType = 'books'): PageRows {
  const rows = parseExact(text);
  if (!isList(rows)) throw new Error('a page is a list');
  return { dataType, extra: {}, count: rows.length, chunks: () => [rows] };
}

async function tables(...pages: readonly PageRows[]): Promise<Record<string, string>> {
  return Object.fromEntries(await writtenBy(createAutomaticParser({ log: silentLog }), pages));
}

test('a list that never held anything but null has no column of its own, like one of empty objects', async () => {
  const nulls = await tables(page('[{"tags": [null, null]}]'));
  expect(nulls.books_tags).toMatch(/^"JSON_parentId"\n("books_[0-9a-f]{32}"\n){2}$/);
  const objects = await tables(page('[{"tags": [{}, {}]}]'));
  expect(objects.books_tags).toMatch(/^"JSON_parentId"\n("books_[0-9a-f]{32}"\n){2}$/);
});

test('a list of nulls gets its column when a later page holds values', async () => {
  const { books_tags } = await tables(page('[{"tags": [null]}]'), page('[{"tags": ["new"]}]'));
  expect(books_tags).toMatch(/^"data","JSON_parentId"\n"","books_\w+"\n"new","books_\w+"\n$/);
});

test('an object after nulls in a list fixes the kind of the list', async () => {
  await expect(
    tables(page('[{"tags": [null]}]'), page('[{"tags": [{}]}]'), page('[{"tags": [1]}]')),
  ).rejects.toThrow('Incompatible types');
});

test('a row stands behind the items of its own list when both are in one table', async () => {
  const { books } = await tables(page('[{"id": 1, "č": ["a", "b"]}, {"id": 2, "č": ["c"]}]'));
  const cells = books?.replace(/"?books_[0-9a-f]{32}"?/g, 'link');
  expect(cells).toBe('"id",""\n"a",link\n"b",link\n"1",link\n"c",link\n"2",link\n');
});

test('a lone value that became a list is not lost from a table that another list wrote first', async () => {
  const { books_a_b } = await tables(page('[{"a b": "x", "a.b": []}]'), page('[{"a b": [], "a.b": [{}]}]'));
  expect(books_a_b).toMatch(/^"data","JSON_parentId"\n"x","books_\w+"\n"books_\w+"\n$/);
});

test('a list is linked by the name that another table has given to the link column in between', async () => {
  const { books, books_a, books_a_x } = await tables(
    page('[{"a": [{}], "b": [{"JSON_parentId": "own"}]}, {"a": [{"x": [1]}]}]'),
  );
  expect(books?.split('\n')[0]).toBe('"a","b"');
  const [header, , second] = books_a?.split('\n') ?? [];
  expect(header).toBe('"x","JSON_parentId"');
  const [x, parent] = second?.split(',').map((cell) => cell.slice(1, -1)) ?? [];
  const row = parseExact(`{"x": [1], "JSON_parentId_u0": "${parent}"}`);
  if (!isObject(row)) throw new Error('a row is an object');
  expect(x).toBe(`books.a_${md5OfObject(row, undefined, '')}`);
  expect(books_a_x).toBe(`"data","JSON_parentId_u0"\n"1","${x}"\n`);
});
