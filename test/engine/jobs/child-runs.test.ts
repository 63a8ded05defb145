import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FunctionError } from '../../../src/lib/errors.ts';
import { childRuns, type Parameters } from '../../../src/engine/jobs/index.ts';
import { toText, type Json } from '../../../src/lib/json/index.ts';
import { child, evaluatePlaceholder, failure, first, job, json } from './support.ts';

/** The runs as maps of values. */
function runs(
  placeholders: Json,
  rows: readonly Json[],
  inherited: Parameters = [],
): readonly Record<string, Json>[] {
  return childRuns(atDepth(placeholders, rows.length), rows, inherited, evaluatePlaceholder).map((run) =>
    Object.fromEntries(run.map(({ name, value }) => [name, value])),
  );
}

/** A child with so many rows above it. */
function atDepth(placeholders: Json, depth: number) {
  let node: Json = { endpoint: 'x', placeholders };
  for (let level = 0; level < depth; level++) node = { endpoint: 'x', children: [node] };
  let found = job(node);
  while (found.children.length > 0) found = first(found.children);
  return found;
}

const inheritedId = { name: 'id', path: 'id', value: 1 };

describe('the runs of a child', () => {
  test('take a value from the row that starts it', () => {
    expect(runs({ 'user-id': 'user.id' }, [{ user: { id: 7 } }])).toEqual([{ 'user-id': 7 }]);
  });

  test('take values from the rows above by level', () => {
    const rows = [{ id: 'item' }, { id: 'order' }, { id: 'user' }];
    expect(runs({ '3:user': 'id', '1:item': 'id', order: 'id' }, rows)).toEqual([
      { '3:user': 'user', '1:item': 'item', order: 'item' },
    ]);
  });

  test('a list gives one run for each item, in order', () => {
    expect(runs({ id: 'ids' }, [{ ids: [3, 'x', true, null] }])).toEqual([
      { id: 3 },
      { id: 'x' },
      { id: true },
      { id: null },
    ]);
  });

  test('two lists give all combinations, the first placeholder varying slowest', () => {
    expect(runs({ a: 'as', fixed: 'c', b: 'bs' }, [{ as: [1, 2], bs: ['x', 'y'], c: 0 }])).toEqual([
      { a: 1, fixed: 0, b: 'x' },
      { a: 1, fixed: 0, b: 'y' },
      { a: 2, fixed: 0, b: 'x' },
      { a: 2, fixed: 0, b: 'y' },
    ]);
  });

  test('an empty list gives no run, whatever the others are', () => {
    expect(runs({ a: 'as', b: 'bs' }, [{ as: [1, 2], bs: [] }])).toEqual([]);
  });

  test('null is a value, and so are numbers that a double cannot hold', () => {
    expect(runs({ id: 'id' }, [{ id: null }])).toEqual([{ id: null }]);
    const [run] = runs({ id: 'id' }, [json('{"id":12345678901234567890}')]);
    expect(toText(run?.['id'])).toBe('12345678901234567890');
  });

  test('the path “.” is the row itself', () => {
    expect(runs({ id: '.' }, ['a'])).toEqual([{ id: 'a' }]);
    expect(runs({ id: '.' }, [['a', 'b']])).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  test('a function makes the value', () => {
    const placeholder = { path: 'id', function: 'concat', args: ['<', { placeholder: 'value' }, '>'] };
    expect(runs({ id: placeholder }, [{ id: 5 }])).toEqual([{ id: '<5>' }]);
    expect(runs({ id: { path: 'id', placeholder: 'value' } }, [{ id: 5 }])).toEqual([{ id: 5 }]);
    const encoded = { path: 'name', function: 'urlencode', args: [{ placeholder: 'value' }] };
    expect(runs({ name: encoded }, [{ name: 'a b/č' }])).toEqual([{ name: 'a+b%2F%C4%8D' }]);
  });

  test('without placeholders there is one run for each row', () => {
    expect(runs([], [{ id: 1 }])).toEqual([{}]);
  });
});

describe('inherited values', () => {
  test('come first, and are enough', () => {
    const node = child({ endpoint: 'x', placeholders: { b: 'b' } });
    expect(childRuns(node, [{ b: 2 }], [inheritedId], evaluatePlaceholder)).toEqual([
      [inheritedId, { name: 'b', path: 'b', value: 2 }],
    ]);
    expect(childRuns(child({ endpoint: 'x' }), [{}], [inheritedId], evaluatePlaceholder)).toEqual([
      [inheritedId],
    ]);
  });

  test('give way to an own value of the same name, which takes their place', () => {
    const inherited = [inheritedId, { name: 'other', path: 'o', value: 'o' }];
    const node = child({ endpoint: 'x', placeholders: { new: 'n', id: 'key' } });
    expect(childRuns(node, [{ n: 'n', key: 9 }], inherited, evaluatePlaceholder)).toEqual([
      [
        { name: 'id', path: 'key', value: 9 },
        { name: 'other', path: 'o', value: 'o' },
        { name: 'new', path: 'n', value: 'n' },
      ],
    ]);
  });
});

describe('a value that cannot be used is a mistake with its path', () => {
  const call = { path: 'id', function: 'concat', args: [{ placeholder: 'value' }] };
  const cases: readonly (readonly [string, Json, Json, RegExp])[] = [
    ['nothing at the path', 'key', { id: 1 }, /found nothing at “key”/],
    ['nothing in a list', 'ids.3', { ids: [1] }, /found nothing/],
    ['an object', 'id', { id: { a: 1 } }, /is an object/],
    ['an object in a list', 'id', { id: [1, {}] }, /item of the list at “id” is an empty object/],
    ['a list in a list', 'id', { id: [[1]] }, /is a list/],
    ['null for a function', call, { id: null }, /needs one value, and there is null/],
    ['a list for a function', call, { id: [1] }, /needs one value, and there is a list/],
    ['an object form that gives an object', { path: 'id', a: 1, b: 2 }, { id: 1 }, /gives an object/],
  ];
  test.each(cases)('%s', (_name, placeholder, row, message) => {
    const error = failure(() => runs({ id: placeholder }, [row]));
    expect(error.path).toBe('config.jobs[0].children[0].placeholders.id');
    expect(error.message).toMatch(message);
    expect(error.hint).toBeDefined();
  });

  test('a message holds no value of the row', () => {
    const error = failure(() => runs({ id: 'id' }, [{ id: { secret: 'hunter2' } }]));
    expect(error.message + String(error.hint)).not.toContain('hunter2');
  });

  test('a function that fails names the placeholder', () => {
    const broken = { path: 'id', placeholder: 'vale' };
    expect(() => runs({ id: broken }, [{ id: 1 }])).toThrow(FunctionError);
  });

  test('so many combinations that nobody can mean them', () => {
    const row = { a: Array.from({ length: 1001 }, () => 1), b: Array.from({ length: 1000 }, () => 1) };
    const error = failure(() => runs({ a: 'a', b: 'b' }, [row]));
    expect(error.path).toBe('config.jobs[0].children[0].placeholders');
    expect(error.message).toMatch(/1001000 combinations/);
  });
});

test('the combinations are those of nested loops', () => {
  const values = fc.array(fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null)), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(values, values, values, (a, b, c) => {
      const expected: Json[] = [];
      for (const x of a) for (const y of b) for (const z of c) expected.push({ a: x, b: y, c: z });
      expect(runs({ a: 'a', b: 'b', c: 'c' }, [{ a, b, c }])).toEqual(expected);
    }),
  );
});
