import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { OptionSchema } from '../../../src/lib/option.ts';
import { formatOptions } from '../../../src/engine/formats/format-options.ts';
import { jobDefinitions, jobsOption, parseJobs } from '../../../src/engine/jobs/index.ts';
import type { Json } from '../../../src/lib/json/index.ts';
import { languageDefinitions } from '../../../src/engine/language/index.ts';

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: true, strictTypes: false });
const definitions = { ...languageDefinitions, ...jobDefinitions };
const validate = ajv.compile({ ...jobsOption, definitions });

/** Every schema of a key, by its path. */
function* keySchemas(schema: unknown, at: string): Generator<readonly [string, OptionSchema]> {
  if (typeof schema !== 'object' || schema === null) return;
  if (Array.isArray(schema)) {
    for (const item of schema) yield* keySchemas(item, at);
    return;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties') {
      for (const [key, inner] of Object.entries(value as Record<string, OptionSchema>)) {
        yield [`${at}.${key}`, inner];
        yield* keySchemas(inner, `${at}.${key}`);
      }
    } else if (keyword === 'anyOf') yield* keySchemas(value, at);
  }
}
const KEYS = Object.entries(jobDefinitions).flatMap(([name, schema]) => [...keySchemas(schema, name)]);

describe('the schema of jobs', () => {
  test.each(KEYS)('%s has a title, a description, a default or a must, and examples', (_path, schema) => {
    expect(schema['title']).toMatch(/^[A-Z]/);
    expect(schema['description']).toMatch(/[.!]$/);
    // a source or a condition that is not set has no value that would mean the same
    expect(
      'default' in schema || 'allOf' in schema || String(schema['description']).endsWith('Required.'),
    ).toBe(true);
    expect(Array.isArray(schema['examples']) && schema['examples'].length > 0).toBe(true);
  });

  test.each(KEYS)('the examples and the default of %s are valid', (path, schema) => {
    const inner = ajv.compile({ ...schema, definitions });
    const values = [
      ...(schema['examples'] as unknown[]),
      ...('default' in schema ? [schema['default']] : []),
    ];
    for (const value of values) expect([path, value, inner(value)]).toEqual([path, value, true]);
  });

  test('has every key that is read', () => {
    const known = Object.keys(jobDefinitions.childJob['properties'] ?? {});
    const folder = new URL('../../../src/engine/jobs/', import.meta.url);
    const files = readdirSync(folder).filter((name) => name.endsWith('.ts'));
    const code = files.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
    const read = [...code.matchAll(/(?:getKey|read\.\w+)\((?:node|written), '(\w+)'/g)].map(
      (match) => match[1] ?? '',
    );
    // a folder of its own reads what is in it
    expect(new Set([...read, 'export', ...Object.keys(formatOptions)])).toEqual(new Set(known));
  });
});

describe('schema and reader agree', () => {
  const good: readonly Json[] = [
    [{ endpoint: 'a' }],
    { name: { endpoint: 'a' } },
    [
      {
        endpoint: 'a',
        params: [],
        headers: [],
        children: [],
        userData: [],
        dataField: [],
        responseFilter: [],
      },
    ],
    [
      {
        endpoint: 'a',
        params: null,
        dataField: null,
        dataType: null,
        method: null,
        id: null,
        scroller: null,
      },
    ],
    [{ endpoint: 'a', method: 'pOsT', dataType: 5, dataField: 1, anything: { else: true } }],
    [{ endpoint: 'a', dataField: { path: 'a', delimiter: '' }, userData: 'x' }],
    [
      {
        endpoint: 'a',
        children: { b: { endpoint: 'b/{id}', placeholders: { id: 'id' }, recursionFilter: '' } },
      },
    ],
    [
      {
        endpoint: 'a',
        children: [{ endpoint: 'b', placeholders: { id: { path: 'id', function: 'md5', args: [1] } } }],
      },
    ],
    [{ endpoint: { attr: 'x' }, dataType: 'a' }],
    [
      {
        endpoint: 'a/{year}',
        placeholders: { year: { function: 'date', args: ['Y', { window: 'from' }] } },
        windows: { from: { attr: 'since', default: '2025-01-01' }, to: 'today', step: '1 year' },
      },
    ],
  ];
  test.each(good.map((node) => ({ node })))('on what is right: $node', ({ node }) => {
    expect(validate(node)).toBe(true);
    expect(() => parseJobs(node, 'jobs')).not.toThrow();
  });

  const bad: readonly Json[] = [
    [],
    ['a'],
    [{}],
    [{ endpoint: '' }],
    [{ endpoint: ['x'] }],
    [{ endpoint: 'a', params: 'b' }],
    [{ endpoint: 'a', method: 'OPTIONS' }],
    [{ endpoint: 'a', id: 5 }],
    [{ endpoint: 'a', dataField: [['a']] }],
    [{ endpoint: 'a', paramsIn: 'header' }],
    [{ endpoint: 'a', responseFilter: [[]] }],
    [{ endpoint: 'a', children: [{ endpoint: 'b', placeholders: { id: '' } }] }],
    [{ endpoint: 'a', children: [{ endpoint: 'b', placeholders: { id: {} } }] }],
  ];
  test.each(bad.map((node) => ({ node })))('on what is wrong: $node', ({ node }) => {
    expect(validate(node)).toBe(false);
    expect(() => parseJobs(node, 'jobs')).toThrow();
  });
});
