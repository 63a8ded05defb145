import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectOf, type AnyObject, type Json } from '../../src/json/index.ts';
import { silentLog, type Log } from '../../src/log.ts';
import { createAutomaticParser } from '../../src/records/automatic.ts';
import type { PageRows } from '../../src/records/parser.ts';
import { Sink } from '../../src/sink/sink.ts';
import { twoPhase } from './two-phase.ts';

/** Tables as the parser writes them through a real sink, by name. */
async function written(pages: readonly PageRows[], log: Log = silentLog): Promise<Map<string, string>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-automatic-'));
  try {
    const sink = new Sink(path.join(folder, 'work'));
    const parser = createAutomaticParser({ log });
    for (const page of pages) parser.take(page, sink);
    await sink.settle(true);
    parser.finish(() => pages, sink);
    const tables = await sink.close();
    const files = new Map(tables.map(({ name, file }) => [name, readFileSync(file, 'utf8')]));
    for (const { name, rows } of tables)
      expect(rows, `rows of ${name}`).toBe((files.get(name) ?? '').split('\n').length - 2);
    return files;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function warningsOf(pages: readonly PageRows[]): Promise<string> {
  const lines: string[] = [];
  await written(pages, { ...silentLog, warn: (message) => lines.push(message) });
  return lines.join('\n');
}

function page(dataType: string, rows: readonly Json[], extra: AnyObject = {}): PageRows {
  return { dataType, extra, count: rows.length, chunks: () => [rows] };
}

/** The shape of the values at one place; every place keeps to one kind, so that no type changes. */
type Shape = 'scalar' | { readonly list: Shape } | { readonly fields: readonly (readonly [string, Shape])[] };

const CONFLICTING = ['id', 'a', 'b', 'a_b', 'a.b', 'a b', 'tag', 'tag_u0', 'data', '10', '__proto__', 'č'];
const PLAIN = ['id', 'name', 'kind', 'size', 'note', 'tags', 'box'];

function shapes(keys: readonly string[], depth: number): fc.Arbitrary<Shape> {
  const scalar = fc.constant<Shape>('scalar');
  if (depth === 0) return scalar;
  const inner = shapes(keys, depth - 1);
  const fields = fieldsOf(keys, inner);
  return fc.oneof(
    { weight: 3, arbitrary: scalar },
    { weight: 2, arbitrary: fields },
    { weight: 2, arbitrary: fc.oneof(scalar, fields).map((list): Shape => ({ list })) },
  );
}

function fieldsOf(keys: readonly string[], inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> {
  const names = fc.uniqueArray(fc.constantFrom(...keys), { minLength: 1, maxLength: 5 });
  return names
    .chain((list) => fc.tuple(...list.map((name) => fc.tuple(fc.constant(name), inner))))
    .map((fields) => ({ fields }));
}

const scalars = fc.oneof(
  fc.integer({ min: -9, max: 99 }),
  fc.constantFrom('x', 'say "hi"', 'č,', ''),
  fc.boolean(),
);

/** A value of a shape. Anything may be null or missing, and a list of one may stand without its brackets. */
function values(shape: Shape): fc.Arbitrary<Json> {
  if (shape === 'scalar')
    return fc.oneof({ weight: 5, arbitrary: scalars }, { weight: 1, arbitrary: fc.constant(null) });
  if ('list' in shape) {
    const item = values(shape.list);
    return fc.oneof(
      { weight: 3, arbitrary: fc.array(item, { maxLength: 3 }) },
      { weight: 2, arbitrary: item },
    );
  }
  const fields = shape.fields.map(([name, inner]) =>
    fc.tuple(fc.constant(name), fc.option(values(inner), { nil: undefined })),
  );
  const object = fc
    .tuple(...fields)
    .map((entries) =>
      objectOf(
        entries.flatMap(([name, value]): [string, Json][] => (value === undefined ? [] : [[name, value]])),
      ),
    );
  return fc.oneof({ weight: 6, arbitrary: object }, { weight: 1, arbitrary: fc.constant(null) });
}

const extras = fc.dictionary(fc.constantFrom('tag', 'a_b', 'id', 'parent_id', 'data'), scalars, {
  maxKeys: 2,
  noNullPrototype: true,
});

/** Pages of up to two data types, each with its own shape, in any order. */
const runs = fc
  .tuple(fieldsOf(CONFLICTING, shapes(CONFLICTING, 2)), fieldsOf(CONFLICTING, shapes(CONFLICTING, 2)))
  .chain(([first, second]) =>
    fc.array(
      fc.oneof(
        fc.tuple(fc.constant('books'), fc.array(values(first), { maxLength: 4 }), extras),
        fc.tuple(fc.constant('loans'), fc.array(values(second), { maxLength: 4 }), extras),
      ),
      { maxLength: 6 },
    ),
  );

test(
  'writing page by page gives what learning everything first and writing afterwards gives',
  { timeout: 60_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (list) => {
        const pages = list.map(([dataType, rows, extra]) => page(dataType, rows, extra));
        const expected = expectedOf(pages);
        if (expected === undefined)
          expect(await warningsOf(pages)).toContain('although their columns differ');
        else
          expect(inOrder(await written(pages), expected.shared)).toEqual(
            inOrder(expected.files, expected.shared),
          );
      }),
      { numRuns: 250 },
    );
  },
);

const sorted = (text: string): string => text.split('\n').toSorted().join('\n');

function inOrder(files: Map<string, string>, shared: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries([...files].map(([name, text]) => [name, shared.has(name) ? sorted(text) : text]));
}

/** Undefined when two lists share a table and their columns differ: its rows then cannot all fit the header. */
function expectedOf(pages: readonly PageRows[]): ReturnType<typeof twoPhase> | undefined {
  try {
    return twoPhase(pages);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('two headers')) return undefined;
    throw error;
  }
}

const oneTable = fieldsOf(PLAIN, shapes(PLAIN, 2)).chain((shape) =>
  fc.array(
    fc.array(
      values(shape).filter((row) => row !== null),
      { maxLength: 4 },
    ),
    { maxLength: 6 },
  ),
);

test('how rows are split into pages changes nothing', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(oneTable, async (lists) => {
      const split = await written(lists.map((rows) => page('books', rows, { library: 'north' })));
      const together = await written([page('books', lists.flat(), { library: 'north' })]);
      expect(Object.fromEntries(split)).toEqual(Object.fromEntries(together));
    }),
    { numRuns: 100 },
  );
});
