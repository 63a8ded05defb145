import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { validateConfig } from '../../../../src/engine/config/validate.ts';
import { parseExact, type AnyObject, type Json } from '../../../../src/lib/json/index.ts';
import { planOutputs } from '../../../../src/runner/mapping/output/plan/plan.ts';
import { ORIGIN, writeAll } from './support.ts';

const out = mkdtempSync(path.join(tmpdir(), 'validation-'));
writeAll(out, { 'tables/t': 'id,name\n', 'files/f': 'content' });
afterAll(() => rmSync(out, { recursive: true, force: true }));

/** Returns the paths of the mistakes that `gex validate` finds in the mapping. */
async function refusedAt(mapping: Json): Promise<string[]> {
  const parameters = { api: { baseUrl: 'http://127.0.0.1/' }, config: { jobs: [{ endpoint: 'users' }] } };
  const problems = await validateConfig(JSON.stringify({ parameters, storage: { output: mapping } }));
  return problems.filter(({ severity }) => severity === 'error').map(({ path: at }) => at);
}

/** Tells whether the mapping is one that a push takes. */
async function isTaken(mapping: Json): Promise<boolean> {
  const given = parseExact(JSON.stringify(mapping)) as AnyObject; // it is written as an object
  return await planOutputs({ out, mapping: given, origin: ORIGIN }).then(
    () => true,
    () => false,
  );
}

const table = (options: Json): Json => ({
  tables: [{ source: 't', destination: 'in.c-a.t', ...Object(options) }],
});
const file = (options: Json): Json => ({ files: [{ source: 'f', ...Object(options) }] });

const NOTHING = Object.fromEntries(
  [
    ['incremental', 'columns', 'has_header', 'primary_key', 'distribution_key', 'delete_where', 'delimiter'],
    ['delete_where_column', 'delete_where_operator', 'delete_where_values', 'enclosure', 'write_always'],
    ['metadata', 'table_metadata', 'column_metadata', 'schema', 'description'],
  ]
    .flat()
    .map((key) => [key, null]),
);

describe('what the validation of a configuration lets pass, the push takes', () => {
  test.each<[string, Json]>([
    ['nothing', {}],
    ['null everywhere', { ...Object(table(NOTHING)), files: null, default_bucket: null }],
    ['empty lists for objects', table({ column_metadata: [], table_metadata: [] })],
    [
      'empty objects for lists',
      table({ delete_where: {}, metadata: {}, schema: {}, columns: {}, primary_key: {} }),
    ],
    [
      'objects with numbers for keys',
      { tables: { 0: { source: 't', primary_key: { 0: 'id' } } }, files: {} },
    ],
    [
      'empty texts',
      table({ delete_where_operator: '', delete_where_column: '', delimiter: ',', description: '' }),
    ],
    ['numbers for names', table({ columns: [1, 2], primary_key: [1] })],
    ['numbers for tags', file({ tags: [1, 'b'] })],
    ['no destination', { tables: [{ source: 't', primary_key: ['id'] }] }],
    ['an empty default bucket', { default_bucket: '' }],
    [
      'conditions',
      table({
        delete_where: [
          { changed_since: 5, where_filters: [{ column: 'id', values_from_set: [1, true, 'a'] }] },
        ],
      }),
    ],
    [
      'a schema',
      table({
        table_metadata: { a: 1, b: null },
        schema: [
          {
            name: 'id',
            data_type: { base: { type: 'NUMERIC', length: 5, default: '1' }, other: { type: 'X' } },
          },
          { name: 'name', nullable: null, primary_key: true, metadata: { unit: 'EUR' }, data_type: {} },
        ],
      }),
    ],
  ])('%s', async (_, mapping) => {
    expect(await refusedAt(mapping)).toEqual([]);
    expect(await isTaken(mapping)).toBe(true);
  });
});

describe('what the push would refuse for its form is a mistake of the configuration', () => {
  test.each<[string, Json]>([
    ['tables[0].source', table({ source: 1 })],
    ['tables[0].incremental', table({ incremental: 'true' })],
    ['tables[0].primary_key', table({ primary_key: 'id' })],
    ['tables[0].primary_key[0]', table({ primary_key: [null] })],
    ['tables[0].delete_where_operator', table({ delete_where_operator: 'gt' })],
    [
      'tables[0].delete_where[0].where_filters[0].values_from_set',
      table({ delete_where: [{ where_filters: [{ column: 'id' }] }] }),
    ],
    [
      'tables[0].delete_where[0].where_filters[0].operator',
      table({ delete_where: [{ where_filters: [{ column: 'id', operator: 'lt', values_from_set: [] }] }] }),
    ],
    ['tables[0].metadata[0].value', table({ metadata: [{ key: 'a' }] })],
    ['tables[0].column_metadata.id[0].key', table({ column_metadata: { id: [{ value: 'a' }] } })],
    ['tables[0].schema[0].name', table({ schema: [{ nullable: true }] })],
    [
      'tables[0].schema[0].data_type.base.type',
      table({ schema: [{ name: 'id', data_type: { base: { type: 'TEXT' } } }] }),
    ],
    ['files[0].source', { files: [{ tags: ['a'] }] }],
    ['files[0].tags', file({ tags: 'a' })],
    ['default_bucket', { default_bucket: 5 }],
  ])('%s', async (at, mapping) => {
    expect(await isTaken(mapping)).toBe(false);
    expect(await refusedAt(mapping)).toEqual([`storage.output.${at}`]);
  });
});
