import { describe, expect, test } from 'vitest';
import {
  parseColumns,
  parseOrderBy,
  parseWhereFilters,
} from '../../../../src/service/stores/tables/row-query.ts';

const readTime = (text: string): Date | undefined => (text === 'soon' ? undefined : new Date(text));
const filters = (value: unknown): unknown => parseWhereFilters(value, readTime);

describe('whereFilters of a request', () => {
  test('get their defaults, whatever way the lists were written', () => {
    const expected = [{ column: 'id', operator: 'eq', values: ['1', '2'] }];
    expect(filters([{ column: 'id', values: [1, '2'] }])).toEqual(expected);
    expect(filters({ 0: { column: 'id', operator: 'eq', values: { 0: '1', 3: '2' } } })).toEqual(expected);
    expect(filters([{ column: 'id', values: [null] }])).toEqual([
      { column: 'id', operator: 'eq', values: [''] },
    ]);
    expect(filters(undefined)).toEqual([]);
    expect(filters([{ column: 'n', operator: 'gt', values: ['1'], dataType: 'double' }])).toEqual([
      { column: 'n', operator: 'gt', values: ['1'], dataType: 'DOUBLE' },
    ]);
  });

  test('may compare times', () => {
    expect(
      filters([{ column: 't', operator: 'ge', values: ['2026-01-02T03:04:05Z'], type: 'TIME_STRING' }]),
    ).toEqual([{ column: 't', operator: 'ge', values: ['2026-01-02 03:04:05'], isTime: true }]);
  });

  test.each<[unknown, string]>([
    ['string', 'Parameter "whereFilters" should be an array, but parameter contains:\n"string"'],
    [['x'], 'All items in param "whereFilters" should be an arrays, but parameter contains:\n["x"]'],
    [
      { column: 'a' },
      'All items in param "whereFilters" should be an arrays, but parameter contains:\n{"column":"a"}',
    ],
    [[{ column: 'a' }], 'Invalid request:\n - whereFilters[0][values]: "This field is missing."'],
    [
      [{}],
      'Invalid request:\n - whereFilters[0][column]: "This field is missing."\n - whereFilters[0][values]: "This field is missing."',
    ],
    [[{ column: 'a', operator: 'like', values: ['x'] }], 'Invalid where operator like'],
    [[{ column: 'a', values: ['x'], dataType: 'TEXT' }], 'Data type TEXT not recognized'],
    [
      [{ column: 'a', operator: 'gt', values: ['1', '2'] }],
      'The where operator gt needs exactly one value, but 2 were given.',
    ],
    [
      [{ column: 'a', values: ['x'], type: 'DAY' }],
      'Filter type DAY not recognized. Available types are [SCALAR|TIME_STRING]',
    ],
    [
      [{ column: 'a', values: ['x'], type: 'TIME_STRING', dataType: 'REAL' }],
      'The dataType of a filter of type TIME_STRING must be empty.',
    ],
    [[{ column: 'a', values: ['soon'], type: 'TIME_STRING' }], 'The filter value "soon" is no time.'],
    [[{ column: ['a'], values: ['x'] }], 'A text was expected in a filter, but it contains:\n["a"]'],
  ])('%j is refused', (value, message) => {
    expect(() => filters(value)).toThrow(
      expect.objectContaining({ code: 'storage.tables.validation', message }) as Error,
    );
  });
});

describe('orderBy of a request', () => {
  test('is ascending unless told', () => {
    expect(parseOrderBy([{ column: 'a' }, { column: 'b', order: 'DESC', dataType: 'INTEGER' }])).toEqual([
      { column: 'a', order: 'ASC' },
      { column: 'b', order: 'DESC', dataType: 'INTEGER' },
    ]);
  });

  test.each<[unknown, string]>([
    ['x', 'Parameter "orderBy" should be an array, but parameter contains:\n"x"'],
    [
      { column: 'a' },
      'All items in param "orderBy" should be an arrays, but parameter contains:\n{"column":"a"}',
    ],
    [[{ column: 'a', order: 'UP' }], 'Invalid sort order UP. Available orders are [DESC|ASC]'],
    [[{ column: 'a', dataType: 'UP' }], 'Data type UP not recognized'],
    [[{}], 'Invalid request:\n - orderBy[0][column]: "This field is missing."'],
  ])('%j is refused', (value, message) => {
    expect(() => parseOrderBy(value)).toThrow(
      expect.objectContaining({ code: 'storage.tables.validation', message }) as Error,
    );
  });
});

test('columns of a request are a list, or names joined by commas', () => {
  expect(parseColumns('id, name')).toEqual(['id', 'name']);
  expect(parseColumns(['id'])).toEqual(['id']);
  expect(parseColumns('')).toBeUndefined();
  expect(parseColumns(undefined)).toBeUndefined();
});
