import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectOf, type AnyObject, type Json } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { createAutomaticParser } from '../../../src/engine/records/automatic.ts';
import type { PageRows } from '../../../src/engine/records/parser.ts';
import { twoPhase } from './two-phase.ts';
import { writtenBy } from './written.ts';
import { times } from '../../support/sample.ts';

async function written(pages: readonly PageRows[]): Promise<Map<string, string>> {
  return writtenBy(createAutomaticParser({ log: silentLog }), pages);
}

function page(dataType: string, rows: readonly Json[], extra: AnyObject = {}): PageRows {
  return { dataType, extra, count: rows.length, chunks: () => [rows] };
}

/** The shape of the values at one place; every place keeps to one kind, so that no type changes. */
type Shape = 'scalar' | { readonly list: Shape } | { readonly fields: readonly (readonly [string, Shape])[] };

const CONFLICTING = [
  'id',
  'a',
  'b',
  'a_b',
  'a.b',
  'a b',
  'tag',
  'tag_u0',
  'data',
  '10',
  '__proto__',
  'č',
  'long_'.repeat(14),
];
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

test('writing page by page gives what learning everything first and writing afterwards gives', async () => {
  await fc.assert(
    fc.asyncProperty(runs, async (list) => {
      const pages = list.map(([dataType, rows, extra]) => page(dataType, rows, extra));
      expect(Object.fromEntries(await written(pages))).toEqual(Object.fromEntries(twoPhase(pages)));
    }),
    { numRuns: times(250) },
  );
});

const oneTable = fieldsOf(PLAIN, shapes(PLAIN, 2)).chain((shape) =>
  fc.array(
    fc.array(
      values(shape).filter((row) => row !== null),
      { maxLength: 4 },
    ),
    { maxLength: 6 },
  ),
);

test('how rows are split into pages changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(oneTable, async (lists) => {
      const split = await written(lists.map((rows) => page('books', rows, { library: 'north' })));
      const together = await written([page('books', lists.flat(), { library: 'north' })]);
      expect(Object.fromEntries(split)).toEqual(Object.fromEntries(together));
    }),
    { numRuns: times(100) },
  );
});
