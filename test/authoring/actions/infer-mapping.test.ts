import { describe, expect, test } from 'vitest';
import { proposeMapping } from '../../../src/authoring/actions/propose-mapping.ts';
import {
  isList,
  isObject,
  keysOf,
  parseExact,
  type AnyObject,
  type Json,
} from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { parseMapping } from '../../../src/engine/records/mapping/parse.ts';
import { createMappedParser } from '../../../src/engine/records/mapping/parser.ts';
import { act, at, failed, startApi } from './support.ts';

const people = [
  { id: 1, name: 'Ann', address: { city: 'Brno', geo: { lat: 1, more: { deep: 1 } } }, tags: ['a'] },
  { id: 2, email: 'b@example.com', address: null, tags: [] },
];

async function infer(rows: unknown, parameters: object = {}, job: object = {}) {
  const api = await startApi(() => ({ json: rows }));
  return act('infer_mapping', {
    api: { baseUrl: api.url },
    config: { jobs: [{ endpoint: 'users', ...job }] },
    __SELECTED_JOB: '0',
    ...parameters,
  });
}

describe('infer_mapping', () => {
  test('takes the only job, unless one is named', async () => {
    expect(await infer(people, { __SELECTED_JOB: undefined })).toMatchObject({ id: 'id' });
  });

  test('opens two levels of objects, and keeps deeper ones and lists as text', async () => {
    const mapping = await infer(people);
    expect(mapping).toEqual({
      id: 'id',
      name: 'name',
      'address.city': 'address_city',
      'address.geo.lat': 'address_geo_lat',
      'address.geo.more': { type: 'column', mapping: { destination: 'address_geo_more' }, forceType: true },
      tags: { type: 'column', mapping: { destination: 'tags' }, forceType: true },
      email: 'email',
    });
    expect(Object.keys(mapping as object)).toEqual([
      'id',
      'name',
      'address.city',
      'address.geo.lat',
      'address.geo.more',
      'tags',
      'email',
    ]);
  });

  test('opens as many levels as asked for', async () => {
    const flat = await infer(people, { __NESTING_LEVEL: 0 });
    expect(at(flat, 'address')).toEqual({
      type: 'column',
      mapping: { destination: 'address' },
      forceType: true,
    });
    const one = await infer(people, { __NESTING_LEVEL: '1' });
    expect(at(one, 'address.geo')).toMatchObject({ forceType: true });
    const many = await infer(people, { __NESTING_LEVEL: 9 });
    expect(at(many, 'address.geo.more.deep')).toBe('address_geo_more_deep');
  });

  test('marks the primary key, by column or path', async () => {
    const mapping = await infer(people, { __PRIMARY_KEY: ['id', 'address.city'] });
    expect(at(mapping, 'id')).toEqual({ type: 'column', mapping: { destination: 'id', primaryKey: true } });
    expect(at(mapping, 'address.city')).toEqual({
      type: 'column',
      mapping: { destination: 'address_city', primaryKey: true },
    });
    expect(at(await infer(people, { __PRIMARY_KEY: 'id, name' }), 'name', 'mapping', 'primaryKey')).toBe(
      true,
    );
  });

  test('has columns for values of parents and user data', async () => {
    const api = await startApi(({ target }) => ({
      json: target === '/users' ? [{ id: 7 }, { id: 8 }] : [{ total: target.length }],
    }));
    const jobs = [
      {
        endpoint: 'users',
        children: [
          { endpoint: 'other' },
          { endpoint: 'users/{id}/orders', placeholders: { id: 'id' }, userData: { kind: 'x' } },
        ],
      },
    ];
    const mapping = await act('infer_mapping', {
      api: { baseUrl: api.url },
      config: { jobs },
      __SELECTED_JOB: '0_1',
      __PRIMARY_KEY: ['parent_id', 'total'],
    });
    expect(mapping).toEqual({
      total: { type: 'column', mapping: { destination: 'total', primaryKey: true } },
      kind: { type: 'user', mapping: { destination: 'kind' } },
      parent_id: { type: 'user', mapping: { destination: 'parent_id', primaryKey: true } },
    });
    expect(api.seen.map(({ target }) => target)).toEqual(['/users', '/users/7/orders', '/users/8/orders']);
  });

  test('looks at the first page only, as the job selects and filters its rows', async () => {
    const api = await startApi(() => ({ json: { data: [{ a: { b: 1 } }], next: 'x' } }));
    const mapping = await act('infer_mapping', {
      api: {
        baseUrl: api.url,
        pagination: { method: 'response.param', responseParam: 'next', queryParam: 'after' },
      },
      config: { jobs: [{ endpoint: 'users', dataField: 'data', responseFilter: 'a' }] },
      __SELECTED_JOB: 0,
    });
    expect(mapping).toEqual({ a: 'a' });
    expect(api.seen).toHaveLength(1);
  });

  test('gives rows that are no objects a column of their own', async () => {
    expect(await infer(['a', 1, null])).toEqual({ '.': 'data' });
    expect(await infer([['a']])).toEqual({
      '.': { type: 'column', mapping: { destination: 'data' }, forceType: true },
    });
    expect(await infer([{ a: 1 }, 'b'])).toEqual({
      a: 'a',
      '.': { type: 'column', mapping: { destination: 'data' }, forceType: true },
    });
    expect(await infer([{}])).toEqual({
      '.': { type: 'column', mapping: { destination: 'data' }, forceType: true },
    });
  });

  test('keeps a property whole that is an object here and a text there', async () => {
    expect(await infer([{ a: { b: 1 } }, { a: 'x' }])).toEqual({
      a: { type: 'column', mapping: { destination: 'a' }, forceType: true },
    });
    expect(await infer([{ a: { b: 1 } }, { a: null }, {}])).toEqual({ 'a.b': 'a_b' });
    expect(await infer([{ a: {} }])).toEqual({
      a: { type: 'column', mapping: { destination: 'a' }, forceType: true },
    });
  });

  test('needs rows', async () => {
    const api = await startApi(() => ({ json: [] }));
    const parameters = {
      api: { baseUrl: api.url },
      config: { jobs: [{ endpoint: 'users' }] },
      __SELECTED_JOB: '0',
    };
    expect((await failed('infer_mapping', parameters)).message).toBe(
      'The request brought no rows to make a mapping of.',
    );
  });

  test('fails when the API answers with an error', async () => {
    const api = await startApi(() => ({ status: 401, json: { error: 'no' } }));
    const parameters = {
      api: { baseUrl: api.url },
      config: { jobs: [{ endpoint: 'users' }] },
      __SELECTED_JOB: '0',
    };
    expect(await failed('infer_mapping', parameters)).toMatchObject({
      code: 'http.status',
      audience: 'user',
    });
  });

  test.each<[parameters: object, message: RegExp]>([
    [{ __PRIMARY_KEY: ['nam'] }, /no column “nam”/],
    [{ __PRIMARY_KEY: ['tags'] }, /“tags” cannot be part of the primary key/],
    [{ __PRIMARY_KEY: [['id']] }, /must be a list of columns/],
    [{ __NESTING_LEVEL: -1 }, /whole number of 0 or more/],
    [{ __NESTING_LEVEL: 'two' }, /whole number of 0 or more/],
  ])('refuses %j', async (parameters, message) => {
    const api = await startApi(() => ({ json: people }));
    const error = await failed('infer_mapping', {
      api: { baseUrl: api.url },
      config: { jobs: [{ endpoint: 'users' }] },
      __SELECTED_JOB: '0',
      ...parameters,
    });
    expect(error).toMatchObject({ code: 'action.invalid' });
    expect(error.message).toMatch(message);
  });
});

describe('a proposed mapping', () => {
  test('has safe names that differ in more than case, none reserved', () => {
    const { table } = propose(
      `[{"a b":1,"a.b":2,"A_B":3,"":4,"č":5,"oid":6,"_timestamp":7,"__proto__":8,"constructor":9,"10":10,"${'x'.repeat(70)}":11}]`,
    );
    const [columns, values] = table;
    expect(columns?.slice(0, 9)).toEqual([
      'a_b',
      'a_b_u0',
      'A_B_u1',
      'column',
      'column_u0',
      'oid_',
      'timestamp',
      'proto',
      'constructor',
    ]);
    expect(columns?.every((name) => /^[A-Za-z0-9][\w-]{0,63}$/.test(name))).toBe(true);
    expect(values).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11']);
  });

  test('reaches keys with dots, and keys that look like paths', () => {
    const { table, mapping } = propose('[{"a":{"b":1,"c.d":2,"x/y.z":3},"a.b":4,"a/b":5,".":6,"..":7}]');
    expect(table[1]).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    expect(new Set(keysOf(mapping)).size).toBe(7);
  });

  test('leaves an extra column out that has the name of a property', () => {
    const { table } = propose('[{"parent_id":1}]', '{"parent_id":"p","parent_a/b":"q","tag":"t"}');
    expect(table).toEqual([
      ['parent_id', 'tag'],
      ['1', 't'],
    ]);
  });

  test('takes every value of rows of any kind', () => {
    const { table } = propose('[{"a":{"b":[1]}},{"a":{"b":{"c":2}}},"text",[3],{"d":{"e":{"f":{"g":4}}}}]');
    expect(table.flat().join(' ')).toMatch(/\[1\].*\{"c":2\}.*text.*\[3\].*\{"g":4\}/);
  });
});

/** The mapping for some rows, and the table that it makes of them. */
function propose(rows: string, extra = '{}'): { mapping: AnyObject; table: string[][] } {
  const list = parseExact(rows);
  const page = parseExact(extra);
  if (!isList(list) || !isObject(page)) throw new Error('a list and an object are expected');
  const mapping = proposeMapping({
    rows: list,
    extra: [page],
    nestingLevel: 2,
    primaryKey: [],
    log: silentLog,
  });
  return { mapping, table: tableOf(mapping, list, page) };
}

/** Returns the table that a run writes with a mapping: the header, then the rows. */
function tableOf(mapping: Json, rows: readonly Json[], extra: AnyObject): string[][] {
  const parser = createMappedParser({
    mappings: new Map([['users', parseMapping(mapping, 'mappings.users', 'users')]]),
    otherwise: { take: unexpected, finish: unexpected, struct: undefined },
    parseTime: () => undefined,
  });
  const table: string[][] = [];
  const page = { dataType: 'users', extra, count: rows.length, chunks: () => [rows] };
  parser.take(page, {
    open: ({ columns }) => {
      if (table.length === 0) table.push([...columns]);
    },
    append: (_table, lines) => {
      for (const line of Buffer.from(lines).toString().trimEnd().split('\n')) {
        table.push(
          [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell = '']) => cell.replaceAll('""', '"')),
        );
      }
    },
    relayout: unexpected,
    rewrite: unexpected,
  });
  return table;
}

function unexpected(): never {
  throw new Error('only the mapped table is expected to be written');
}
