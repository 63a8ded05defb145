import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../src/lib/errors.ts';
import { encodeExact, md5, parseExact, type AnyObject } from '../../../../src/lib/json/index.ts';
import { silentLog, type Log } from '../../../../src/lib/log.ts';
import { createLegacyParser } from '../../../../src/engine/records/legacy/parser.ts';
import type { PageRows } from '../../../../src/engine/records/parser.ts';
import { page, run, type Collected } from '../collect.ts';

function legacy(...pages: PageRows[]): Collected {
  return run(createLegacyParser({ log: silentLog }), pages);
}

function rows(text: string, extra: AnyObject = {}): Collected {
  return legacy(page('users', text, extra));
}

/** The struct after a run, as the state file shows it. */
function structOf(struct: string | undefined, ...pages: PageRows[]): unknown {
  const parser = createLegacyParser({
    log: silentLog,
    struct: struct === undefined ? undefined : parseExact(struct),
  });
  run(parser, pages);
  return parser.struct === undefined ? undefined : JSON.parse(encodeExact(parser.struct));
}

describe('columns of the legacy parser', () => {
  test('are the union over all pages, in the order they were first seen', () => {
    const out = legacy(page('users', '[{"id": 1, "b": true}]'), page('users', '[{"c": false, "id": 2}]'));
    expect(out.show('users')).toEqual(['id | b | c', '1 | 1 | ', '2 |  | ']);
  });

  test('of nested objects have the name of their property in front', () => {
    const out = rows(
      '[{"id": 1, "ad dr": {"street.x": "S", "geo": {"lat": 1.5}}}, {"id": 2, "ad dr": null}]',
    );
    expect(out.show('users')).toEqual(['id | ad_dr_street_x | ad_dr_geo_lat', '1 | S | 1.5', '2 |  | ']);
  });

  test('runs of odd characters stay runs', () => {
    expect(rows('[{"a. b": 1}]').show('users')[0]).toBe('a__b');
  });

  test('of one name: values go to the first, the second is a digest and blank', () => {
    const out = rows('[{"a b": 1, "c": 2}, {"a.b": 3}]');
    expect(out.show('users')).toEqual([`a_b | c | ${md5('a.b')}`, '1 | 2 | ', '3 |  | ']);
    expect(rows('[{"o": {"x": 1}, "o_x": 2}]').show('users')).toEqual([`o_x | ${md5('o_x')}`, '2 | ']);
  });

  test('rows that are scalars, lists or null are in the column “data”', () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
    const out = run(createLegacyParser({ log }), [page('users', '["a", null, 5, ["x", 1], [2]]')]);
    expect(out.csv('users')).toBe('"data"\n"a"\n""\n"5"\n"[""x"",1]"\n"[2]"\n');
    expect(warnings).toEqual(['A list directly inside a list in “users” is written as JSON text']);
  });

  test('empty objects are ignored, and objects of nothing but empty objects', () => {
    const out = rows(
      '[{"id": 1, "a": {}, "b": {"c": {}, "d": {}}}, {"id": 2, "a": "x"}, {"id": 3, "a": {}}]',
    );
    expect(out.show('users')).toEqual(['id | a', '1 | ', '2 | x', '3 | ']);
  });

  test('odd keys are keys like any other', () => {
    const out = rows('[{"b": 1, "10": 2, "__proto__": 3, "constructor": {"toString": 4}}]');
    expect(out.show('users')).toEqual(['b | 10 | proto | constructor_toString', '1 | 2 | 3 | 4']);
  });
});

describe('extra columns of the legacy parser', () => {
  test('come after the data', () => {
    expect(rows('[{"id": 1}]', { source: 'api', n: 1 }).show('users')).toEqual([
      'id | source | n',
      '1 | api | 1',
    ]);
  });

  test('named like a data column replace it and leave a blank digest column', () => {
    const out = rows('[{"id": 1, "parent_id": 5}, {"id": 2}]', { parent_id: 'P', price: '$10' });
    expect(out.show('users')).toEqual([
      'id | parent_id | 6be379826b20cc58475f636e33f4606b | price',
      '1 | P |  | $10',
      '2 | P |  | $10',
    ]);
  });

  test('replace a list or an object too', () => {
    const out = rows('[{"tag": [1, 2], "o": {"x": 1}}]', { tag: 'T', o: 'O' });
    expect(out.show('users')).toEqual([`tag | o_x | ${md5('tag')} | o`, 'T |  |  | O']);
    expect(out.names).toEqual(['users']);
  });

  test('differing from page to page are all there, blank where a page has none', () => {
    const out = legacy(
      page('users', '[{"id": 1, "b": "data"}]', { a: 'A' }),
      page('users', '[{"id": 2, "b": "data"}]', { b: 'B' }),
    );
    expect(out.show('users')).toEqual([`id | b | a | ${md5('b')}`, '1 | data | A | ', '2 | B |  | ']);
  });

  test('that are lists are an error, objects are JSON text', () => {
    const errors: string[] = [];
    const log: Log = { ...silentLog, error: (message) => errors.push(message) };
    expect(
      run(createLegacyParser({ log }), [page('users', '[{"id": 1}]', { o: { a: 1 } })]).csv('users'),
    ).toBe('"id","o"\n"1","{""a"":1}"\n');
    expect(errors).toHaveLength(1);
    expect(() => rows('[{"id": 1}]', { l: [1] })).toThrow('The extra column “l” of “users” is a list');
  });
});

describe('lists in the legacy parser', () => {
  test('go to a table of their own, linked by the MD5 of the row', () => {
    const out = rows('[{"k": [1]}]', { parent_id: 7 });
    expect(out.show('users')).toEqual(['k | parent_id', 'users_4542129636f372358dfaabff65f09d28 | 7']);
    expect(out.show('users_k')).toEqual([
      'data | JSON_parentId',
      '1 | users_4542129636f372358dfaabff65f09d28',
    ]);
  });

  test('inside of objects are linked by the object, with the types joined by dots', () => {
    const out = legacy(page('a', '[{"id":1,"a":{"b":[{"c":[{"d":1}]}]}}]'));
    expect(out.show('a')).toEqual(['id | a_b', '1 | a.a_b464bb12084dc966973fd4bbbf427c2e']);
    expect(out.show('a_a_b')).toEqual([
      'c | JSON_parentId',
      'a.a.b_352b2a3cb4edbd3c82e763514673309b | a.a_b464bb12084dc966973fd4bbbf427c2e',
    ]);
    expect(out.show('a_a_b_c')).toEqual(['d | JSON_parentId', '1 | a.a.b_352b2a3cb4edbd3c82e763514673309b']);
  });

  test('that are empty, null or missing leave a blank cell and no table', () => {
    const out = rows('[{"id": 1, "k": []}, {"id": 2, "k": null}, {"id": 3}]');
    expect(out.show('users')).toEqual(['id | k', '1 | ', '2 | ', '3 | ']);
    expect(out.names).toEqual(['users']);
  });

  test('keep their items when the property is null later', () => {
    const out = legacy(page('users', '[{"k": [{"a": 1}]}]'), page('users', '[{"k": null}]'));
    expect(out.show('users_k')[0]).toBe('a | JSON_parentId');
    expect(out.show('users_k')).toHaveLength(2);
  });

  test('a lone value among lists is a list of one, whichever comes first', () => {
    const out = legacy(
      page('users', '[{"k": "a", "o": {"x": 1}}]'),
      page('users', '[{"k": ["b", null], "o": [{"x": 2}]}]'),
    );
    expect(out.show('users_k').map((line) => line.split(' | ')[0])).toEqual(['data', 'a', 'b', '']);
    expect(out.show('users_o').map((line) => line.split(' | ')[0])).toEqual(['x', '1', '2']);
    expect(
      rows('[{"k": [null]}, {"k": 5}]')
        .show('users_k')
        .map((line) => line.split(' | ')[0]),
    ).toEqual(['data', '', '5']);
  });
});

describe('records that do not fit', () => {
  test.each([
    ['[{"a": 1}, {"a": {"b": 1}}]', 'Type change in “users.a”: it was a scalar, and now it is an object'],
    [
      '[{"a": [1]}, {"a": {"b": 1}}]',
      'Type change in “users.a”: it was a list of scalars, and now it is an object',
    ],
    [
      '[{"a": [1]}, {"a": [{"b": 1}]}]',
      'Type change in “users.a”: it was a list of scalars, and now it is a list of objects',
    ],
    ['[{"a": [1, null, {"b": 1}]}]', 'Incompatible types in “users.a”: a list of scalars and objects'],
  ])('%s is an error', (text, message) => {
    expect(() => rows(text)).toThrow(RecordError);
    expect(() => rows(text)).toThrow(message);
  });
});

describe('pages without rows', () => {
  test('of an unknown type make no table', () => {
    expect(legacy(page('users', '[]'), page('users', '[null]')).names).toEqual([]);
  });

  test('of a type that the state knows make a table with its header', () => {
    const struct = parseExact(
      '{"users": {"id": "scalar", "tags": "arrayOfscalar"}, "users.tags": {"data": "scalar"}}',
    );
    for (const text of ['[]', '[null]']) {
      const out = run(createLegacyParser({ log: silentLog, struct }), [page('users', text, { x: 1 })]);
      expect(out.csv('users')).toBe('"id","tags","x"\n');
      expect(out.names).toEqual(['users']);
    }
  });
});

describe('the struct in the state', () => {
  test('is flat: types by dotted name, with the kind of each property', () => {
    const struct = structOf(
      undefined,
      page('users', '[{"id": 1, "n": null, "o": {"x": [1]}, "l": [{"y": 1}], "e": []}]', { extra: 1 }),
    );
    expect(struct).toEqual({
      users: { id: 'scalar', n: 'NULL', o: 'object', l: 'arrayOfobject', e: 'NULL' },
      'users.o': { x: 'arrayOfscalar' },
      'users.o.x': { data: 'scalar' },
      'users.l': { y: 'scalar' },
    });
  });

  test('is none when nothing was learned', () => {
    expect(structOf(undefined, page('users', '[]'))).toBeUndefined();
  });

  test('gives stored columns first, blank where the data has none', () => {
    const struct = parseExact('{"users": {"old": "scalar", "id": "NULL"}}');
    const out = run(createLegacyParser({ log: silentLog, struct }), [page('users', '[{"new": 1, "id": 2}]')]);
    expect(out.show('users')).toEqual(['old | id | new', ' | 2 | 1']);
    expect(
      structOf('{"users": {"old": "scalar", "id": "NULL"}}', page('users', '[{"new": 1, "id": 2}]')),
    ).toEqual({
      users: { old: 'scalar', id: 'scalar', new: 'scalar' },
    });
  });

  test('read back gives the same tables', () => {
    const pages = [page('users', '[{"id": 1, "l": [{"y": 1}], "o": {"x": {"z": 1}}}]')];
    const first = createLegacyParser({ log: silentLog });
    const out = run(first, pages);
    const again = run(createLegacyParser({ log: silentLog, struct: first.struct }), pages);
    for (const name of out.names) expect(again.csv(name)).toBe(out.csv(name));
    expect(again.names).toEqual(out.names);
  });

  test('an empty list stands for no properties', () => {
    expect(structOf('{"users": [], "x": {"a": "scalar"}}', page('users', '[{"id": 1}]'))).toEqual({
      users: { id: 'scalar' },
      x: { a: 'scalar' },
    });
  });

  test.each(['"text"', '{"users": "scalar"}', '{"users": {"id": "integer"}}', '{"users": {"id": 1}}'])(
    'of an unknown form is left out with a warning: %s',
    (stored) => {
      const warnings: string[] = [];
      const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
      const out = run(createLegacyParser({ log, struct: parseExact(stored) }), [page('users', '[{"a": 1}]')]);
      expect(out.show('users')).toEqual(['a', '1']);
      expect(warnings).toHaveLength(1);
    },
  );
});
