import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { storageNameProblem } from '../../../../src/lib/names.ts';
import {
  bucketIdProblem,
  defaultBucketOf,
  destinationOf,
} from '../../../../src/runner/mapping/output/plan/destination.ts';
import { mergeSettings } from '../../../../src/runner/mapping/output/plan/merge.ts';
import type { TableOptions } from '../../../../src/runner/mapping/output/plan/plan-options.ts';
import {
  settingsOf,
  type PushTableSettings,
} from '../../../../src/runner/mapping/output/plan/plan-settings.ts';

function settings(options: TableOptions): PushTableSettings {
  const read = settingsOf(options);
  if (typeof read === 'string') throw new Error(read);
  return read;
}

function merged(manifest: TableOptions, mapping: TableOptions): PushTableSettings {
  return mergeSettings(settings(manifest), settings(mapping));
}

describe('a manifest with a mapping over it', () => {
  test.each<[string, TableOptions, TableOptions, Partial<PushTableSettings>]>([
    ['the mapping wins', { destination: 'a' }, { destination: 'b' }, { destination: 'b' }],
    ['an empty text is no opinion', { destination: 'a' }, { destination: '' }, { destination: 'a' }],
    ['nor is the default', { incremental: true }, { incremental: false }, { incremental: true }],
    ['but what differs from it is', { incremental: false }, { incremental: true }, { incremental: true }],
    ['the default delimiter neither', { delimiter: ';' }, { delimiter: ',' }, { delimiter: ';' }],
    ['no enclosure is an enclosure', { enclosure: "'" }, { enclosure: '' }, { enclosure: '' }],
    ['a key replaces', { primary_key: ['a', 'b'] }, { primary_key: ['c'] }, { primaryKey: ['c'] }],
    ['so does an empty one', { primary_key: ['a'] }, { primary_key: [] }, { primaryKey: [] }],
    ['no key keeps', { primary_key: ['a'] }, {}, { primaryKey: ['a'] }],
    ['no columns are no opinion', { columns: ['a'] }, { columns: [] }, { columns: [{ name: 'a' }] }],
    [
      'columns take the place of a schema',
      { schema: [{ name: 'a', primary_key: true }] },
      { columns: ['b'] },
      { columns: [{ name: 'b' }], primaryKey: ['a'] },
    ],
    [
      'conditions of a deletion are merged one by one',
      { delete_where_column: 'a', delete_where_operator: 'ne', delete_where_values: ['1'] },
      { delete_where_operator: 'eq', delete_where_values: [2] },
      { deleteColumn: 'a', deleteOperator: 'ne', deleteValues: ['2'] },
    ],
    [
      'metadata is merged by its keys',
      {
        metadata: [
          { key: 'a', value: 1 },
          { key: 'b', value: 2 },
        ],
        description: 'old',
      },
      {
        metadata: [
          { key: 'b', value: true },
          { key: 'c', value: '' },
        ],
        description: 'new',
      },
      {
        metadata: [
          { key: 'a', value: '1' },
          { key: 'b', value: 'true' },
          { key: 'KBC.description', value: 'new' },
          { key: 'c', value: '' },
        ],
      },
    ],
    [
      'that of the columns too',
      { column_metadata: { x: [{ key: 'a', value: '1' }], y: [{ key: 'a', value: '1' }] } },
      { column_metadata: { x: [{ key: 'a', value: '2' }], z: [{ key: 'b', value: '3' }] } },
      {
        columnMetadata: new Map([
          ['x', [{ key: 'a', value: '2' }]],
          ['y', [{ key: 'a', value: '1' }]],
          ['z', [{ key: 'b', value: '3' }]],
        ]),
      },
    ],
  ])('%s', (_, manifest, mapping, expected) => {
    expect(merged(manifest, mapping)).toMatchObject(expected);
  });

  const word = fc.constantFrom('', 'a', 'b', 'in.c-a.b');
  const list = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 });
  const pairs = fc.array(fc.record({ key: fc.constantFrom('k', 'l'), value: word }), { maxLength: 3 });
  const options: fc.Arbitrary<TableOptions> = fc.record(
    {
      destination: word,
      columns: list,
      primary_key: list,
      incremental: fc.boolean(),
      delimiter: fc.constantFrom(',', ';'),
      enclosure: fc.constantFrom('"', "'", ''),
      delete_where_values: list,
      description: word,
      metadata: pairs,
      column_metadata: fc.dictionary(fc.constantFrom('a', '__proto__', '10'), pairs),
    },
    { requiredKeys: [] },
  );

  test('laid over it a second time, a mapping changes nothing', () => {
    fc.assert(
      fc.property(options, options, (manifest, mapping) => {
        const once = merged(manifest, mapping);
        expect(mergeSettings(once, settings(mapping))).toEqual(once);
      }),
    );
  });

  test('an empty mapping changes nothing but metadata keys that come twice; an empty manifest has no say', () => {
    fc.assert(
      fc.property(options, (given) => {
        const { metadata, columnMetadata, ...plain } = settings(given);
        const { metadata: own, columnMetadata: columns, ...rest } = merged(given, {});
        expect(rest).toEqual(plain);
        expect([...columns.keys()]).toEqual([...columnMetadata.keys()]);
        expect(new Set(own.map(({ key }) => key))).toEqual(new Set(metadata.map(({ key }) => key)));
        for (const { key, value } of own)
          expect(value).toBe(metadata.findLast((pair) => pair.key === key)?.value);
        expect(merged({}, given).primaryKey).toEqual(plain.primaryKey);
      }),
    );
  });
});

describe('destinations', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom(
      '',
      'users',
      'users.csv',
      'in.c-a.b',
      'out.c-a.b',
      'a.b',
      'in.c-_a.b',
      'in.c-a.b.c',
      'in.c-.b',
    ),
  );

  test('are ids that a storage takes, or in words why not', () => {
    fc.assert(
      fc.property(text, text, text, (mapped, manifest, source) => {
        const found = destinationOf({ mapped, manifest, source, defaultBucket: 'in.c-main' });
        if ('problem' in found) {
          expect(found.problem).toContain(`Failed to resolve destination for output table "${source}".`);
          return;
        }
        const [stage = '', bucket = '', name = '', ...more] = found.id.split('.');
        expect(['in', 'out']).toContain(stage);
        expect(bucket).toMatch(/^c-/);
        expect(more).toEqual([]);
        expect([storageNameProblem(bucket.slice(2)), storageNameProblem(name)]).toEqual([
          undefined,
          undefined,
        ]);
        expect([found.bucket, found.name]).toEqual([`${stage}.${bucket}`, name]);
        if (mapped !== '') expect(found.id).toBe(mapped);
      }),
    );
  });

  test('of a configuration are in a bucket that can be made, whatever it is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (configuration) => {
        const bucket = defaultBucketOf({ component: 'ex-generic-v2', configuration, isStored: false });
        expect(bucketIdProblem(bucket)).toBeUndefined();
      }),
    );
  });
});
