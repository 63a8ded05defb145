import { describe, expect, test } from 'vitest';
import { normalise } from '../../../src/engine/config/normalise.ts';
import { isWrapped, readResource } from '../../../src/engine/config/resource.ts';
import { planRows } from '../../../src/engine/config/rows.ts';
import { ConfigError } from '../../../src/lib/errors.ts';
import { parseExact, toJsonText, type AnyObject, type Json } from '../../../src/lib/json/index.ts';

const row = (id: string, more: object = {}): Json => ({
  id,
  configuration: { parameters: { row: id } },
  ...more,
});
const resource = (rows: Json, more: object = {}): ReturnType<typeof readResource> =>
  readResource({ configuration: { parameters: { root: 1 } }, rows, ...more });
const ids = (...args: Parameters<typeof planRows>): (string | undefined)[] =>
  planRows(...args).runs.map(({ id }) => id);

describe('the form of a document', () => {
  test.each<[string, Json, 'component' | 'resource']>([
    ['parameters', { parameters: {} }, 'component'],
    ['nothing', {}, 'component'],
    ['configuration', { configuration: {} }, 'resource'],
    ['an empty list for a configuration', { configuration: [] }, 'resource'],
    ['rows alone', { rows: [] }, 'resource'],
    ['parameters beside configuration', { parameters: {}, configuration: {} }, 'component'],
    ['a configuration that is no object', { configuration: 'x' }, 'component'],
  ])('%s', (_name, document, form) => {
    expect(readResource(document).form).toBe(form);
  });

  test('a second wrapping is noticed and never unwrapped', () => {
    const { configuration } = readResource({ configuration: { configuration: { parameters: {} } } });
    expect(isWrapped(configuration)).toBe(true);
    expect(configuration).toEqual({ configuration: { parameters: {} } });
    expect(isWrapped({ parameters: {} })).toBe(false);
  });

  test.each<[string, Json]>([
    ['a row without an id', [{}]],
    ['two rows with one id', [row('a'), row('a')]],
    ['a row id that leaves the folder', [row('../x')]],
    ['a row id that is the folder', [row('..')]],
    ['rows that are no list', { a: 1 }],
    ['a row that is no object', [5]],
    ['a configuration of a row that is no object', [row('a', { configuration: 5 })]],
  ])('%s is a mistake', (_name, rows) => {
    expect(() => resource(rows)).toThrow(ConfigError);
  });
});

describe('which rows run', () => {
  test('without rows the root runs once, with its own state', () => {
    const { runs } = planRows(resource([], { name: 'Shop', state: { component: { a: 1 } } }));
    expect(runs).toEqual([
      {
        name: 'Shop',
        configuration: { parameters: { root: 1 } },
        state: { component: { a: 1 } },
        disabled: false,
      },
    ]);
  });

  test('each row is merged over the root, with its own state and not the state of the root', () => {
    const { runs } = planRows(resource([row('a', { state: { b: 2 } }), row('b')], { state: { a: 1 } }));
    expect(runs.map(({ configuration }) => toJsonText(configuration))).toEqual([
      '{"parameters":{"root":1,"row":"a"}}',
      '{"parameters":{"root":1,"row":"b"}}',
    ]);
    expect(runs.map(({ state }) => state)).toEqual([{ b: 2 }, undefined]);
  });

  test('rowsSortOrder gives the order; the others follow; unknown and repeated ids count for nothing', () => {
    const rows = [row('a'), row('b'), row('c'), row('d')];
    expect(ids(resource(rows, { rowsSortOrder: ['c', 'x', 'a', 'c'] }))).toEqual(['c', 'a', 'b', 'd']);
  });

  test('ids may be numbers', () => {
    expect(ids(resource([row('1'), { id: 2 }], { rowsSortOrder: [2, '1'] }))).toEqual(['2', '1']);
  });

  test('disabled rows are skipped unless they are named', () => {
    const rows = resource([row('a'), row('b', { isDisabled: true })]);
    expect(ids(rows)).toEqual(['a']);
    expect(planRows(rows).skipped.map(({ id }) => id)).toEqual(['b']);
    expect(planRows(rows, ['b']).runs).toMatchObject([{ id: 'b', disabled: true }]);
  });

  test('when all are disabled, nothing runs', () => {
    expect(planRows(resource([row('a', { isDisabled: true })])).runs).toEqual([]);
  });

  test('named rows run in the order of the configuration', () => {
    expect(ids(resource([row('a'), row('b'), row('c')]), ['c', 'a'])).toEqual(['a', 'c']);
  });

  test('an unknown row is a mistake, with the nearest one', () => {
    expect(failure(['orderz'], [row('orders'), row('users')])).toMatchObject({
      message: 'There is no row “orderz”.',
      hint: 'Did you mean orders?',
    });
    expect(failure(['zzz'], [row('orders'), row('users')])).toMatchObject({
      hint: 'The rows are: orders, users.',
    });
    expect(failure(['a'], [])).toMatchObject({
      message: 'The configuration has no rows, so there is no row “a”.',
    });
  });
});

describe('normalising', () => {
  test.each([
    ['{}', '[]'],
    ['{"a":{}}', '{"a":[]}'],
    ['{"0":"a","1":{"0":{}}}', '["a",[[]]]'],
    ['{"1":"a","0":"b"}', '{"1":"a","0":"b"}'],
    ['{"0":"a","2":"b"}', '{"0":"a","2":"b"}'],
    ['{"00":1}', '{"00":1}'],
    ['[{"a":1.50}]', '[{"a":1.5}]'],
  ])('%s is %s', (source, expected) => {
    expect(toJsonText(normalise(parseExact(source) as AnyObject))).toBe(expected);
  });
});

function failure(named: string[], rows: Json): unknown {
  try {
    return planRows(resource(rows), named);
  } catch (error) {
    return error;
  }
}
