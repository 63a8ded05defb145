import { describe, expect, test } from 'vitest';
import { parseExact, type Json } from '../../../src/lib/json/index.ts';
import { compileCondition } from '../../../src/engine/language/index.ts';
import { viewOf } from './support.ts';

const BODY = parseExact(
  '{"page":3,"pages":"3","more":false,"yes":"true","no":"0","zero":0,"null":null,"blank":"","list":[1,"x"],"map":{"a":null},"id":9007199254740993,"at":"2026-03-01T12:00:00+02:00","word":"Zulu"}',
);

function holds(condition: Json): boolean {
  return compileCondition(condition, { at: 'here' }).holds(viewOf({ body: BODY, status: 404 }));
}

describe('a condition', () => {
  test.each<[Json, boolean]>([
    [{ value: 'page' }, true],
    [{ value: 'other' }, false],
    [{ value: 'null', is: 'absent' }, true],
    [{ value: 'blank', is: 'empty' }, true],
    [{ value: 'zero', is: 'empty' }, false],
    [{ value: 'more', is: 'false' }, true],
    [{ value: 'more', is: false }, true],
    [{ value: 'other', is: 'false' }, false],
    [{ value: 'no', is: 'false' }, true],
    [{ value: 'yes', is: 'true' }, true],
    [{ value: 'page', is: 'atLeast', than: { path: 'pages' } }, true],
    [{ value: 'page', is: 'above', than: { path: 'pages' } }, false],
    [{ value: 'page', is: 'atLeast', than: 10 }, false],
    [{ value: 'page', is: 'equals', than: '3' }, true],
    [{ value: 'pages', is: 'equals', than: '3.0' }, false],
    [{ value: 'pages', is: 'equals', than: '3.0', as: 'number' }, true],
    [{ value: 'id', is: 'above', than: parseExact('9007199254740992') }, true],
    [{ value: 'at', is: 'below', than: '2026-03-01T10:00:01Z' }, true],
    [{ value: 'at', is: 'atMost', than: '2026-03-01T09:59:59.999Z' }, false],
    [{ value: 'word', is: 'above', than: 'apple' }, false],
    [{ value: 'word', is: 'matches', than: '^Z.lu$' }, true],
    [{ value: 'word', is: 'in', than: ['Alpha', 'Zulu'] }, true],
    [{ value: 'list', is: 'contains', than: 1 }, true],
    [{ value: 'word', is: 'contains', than: 'ul' }, true],
    [{ value: 'map', is: 'contains', than: 'a' }, true],
    [{ value: 'map', is: 'contains', than: 'null' }, false],
    [{ value: 'word', is: 'startsWith', than: 'Zu' }, true],
    [{ value: 'word', is: 'endsWith', than: 'x' }, false],
    [{ value: 'other', is: 'differs', than: 'x' }, true],
    [{ value: 'other', is: 'below', than: 10 }, false],
    [{ status: 404 }, true],
    [{ status: ['5xx', '400-403'] }, false],
    [{ status: '4xx' }, true],
    [{ all: [{ status: '4xx' }, { value: 'more', is: 'false' }] }, true],
    [{ all: [{ status: '4xx' }, { value: 'more', is: 'true' }] }, false],
    [{ not: { value: 'page' } }, false],
    [[{ value: 'other' }, { value: 'page' }], true],
  ])('%j is %j', (condition, expected) => {
    expect(holds(condition)).toBe(expected);
  });

  test('says what it saw', () => {
    const condition = compileCondition(
      { value: 'page', is: 'atLeast', than: { path: 'pages' } },
      { at: 'here' },
    );
    expect(condition.text).toBe('page is at least pages');
    expect(condition.describe(viewOf({ body: BODY }))).toBe('page (3) is at least pages (“3”)');
  });

  test.each<[Json, string]>([
    [{ value: 'x', is: 'equal', than: 1 }, 'Did you mean “equals”?'],
    [{ value: 'x', is: 'equals' }, '“equals” needs something to compare with.'],
    [{ value: 'x', is: 'in', than: 'a' }, '“in” needs a list.'],
    [{ vale: 'x' }, 'Did you mean “value”?'],
    [{ status: 'bad' }, 'A status is written'],
    [[], 'A list of conditions has none in it.'],
    ['x', 'A condition is an object'],
  ])('%j is refused', (condition, message) => {
    let text = '';
    try {
      compileCondition(condition, { at: 'here' });
    } catch (error) {
      text = `${String(error)} ${JSON.stringify(error, Object.getOwnPropertyNames(error))}`;
    }
    expect(text).toContain(message);
  });
});
