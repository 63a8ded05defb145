import { describe, expect, test } from 'vitest';
import { validateConfig } from '../../../../src/engine/config/validate.ts';
import { parseExact, type AnyObject, type Json } from '../../../../src/lib/json/index.ts';
import { entryOf } from '../../../../src/runner/mapping/input/entry.ts';
import { readFileMappings } from '../../../../src/runner/mapping/input/file-mapping.ts';
import { createProblems } from '../../../../src/runner/mapping/input/problems.ts';
import { readTableMappings } from '../../../../src/runner/mapping/input/table-mapping.ts';

/** Returns the paths of the mistakes that `gex validate` finds in the mapping. */
async function refusedAt(mapping: Json): Promise<string[]> {
  const parameters = { api: { baseUrl: 'http://127.0.0.1/' }, config: { jobs: [{ endpoint: 'users' }] } };
  const problems = await validateConfig(JSON.stringify({ parameters, storage: { input: mapping } }));
  return problems.filter(({ severity }) => severity === 'error').map(({ path }) => path);
}

/** Reads the mapping as a run does, before it asks the storage for anything. */
function readMapping(mapping: Json): void {
  const problems = createProblems();
  const input = entryOf(parseExact(JSON.stringify(mapping)) as AnyObject, 'storage.input', problems); // an object
  readTableMappings(input, () => {});
  readFileMappings(input, 0);
  problems.throwIfAny();
}

const table = (options: object): Json => ({ tables: [{ source: 'in.c-a.t', ...options }] });
const files = (options: object): Json => ({ files: [{ tags: ['a'], ...options }] });
const KEYS =
  'destination columns column_types where_column where_operator where_values limit days changed_since overwrite';
const NULLS = Object.fromEntries(KEYS.split(' ').map((key) => [key, null]));

describe('what the validation of a configuration lets pass, the input mapping reads', () => {
  test.each<[string, Json]>([
    ['nothing', { tables: null, files: {} }],
    ['null in a table', table(NULLS)],
    ['null for files', files({ query: null, source: null, limit: null, overwrite: null, file_ids: null })],
    ['other kinds of empty', table({ columns: {}, where_operator: '', where_values: {}, limit: '' })],
    ['objects with numbers for keys', { tables: { 0: { source: 'in.c-a.t', columns: { 0: 'id', 1: 2 } } } }],
    ['numbers in texts', table({ limit: ' 10 ', days: '2' })],
    ['times', table({ changed_since: 1_700_000_000, changed_until: 'now' })],
    [
      'tags',
      { files: [{ source: { tags: [{ name: 'a' }, { name: 'b', match: '' }] } }, { file_ids: [1, '2'] }] },
    ],
  ])('%s', async (_, mapping) => {
    expect(await refusedAt(mapping)).toEqual([]);
    readMapping(mapping);
  });
});

describe('what the input mapping would refuse for its form is a mistake of the configuration', () => {
  test.each<[string, Json]>([
    ['tables[0].source', { tables: [{ destination: 'a' }] }],
    ['tables[0].columns', table({ columns: 'id' })],
    ['tables[0].limit', table({ limit: 'ten' })],
    ['tables[0].limit', table({ limit: -1 })],
    ['tables[0].limit', table({ limit: 1.5 })],
    ['tables[0].where_operator', table({ where_operator: 'gt' })],
    ['tables[0].column_types[0]', table({ column_types: ['id'] })],
    ['files[0].file_ids[0]', { files: [{ file_ids: ['x'] }] }],
    ['files[0].overwrite', files({ overwrite: 'no' })],
    ['files[0].source.tags[0].match', { files: [{ source: { tags: [{ name: 'a', match: 'maybe' }] } }] }],
  ])('%s: %j', async (at, mapping) => {
    expect(() => readMapping(mapping)).toThrow(/./);
    expect(await refusedAt(mapping)).toEqual([`storage.input.${at}`]);
  });
});
