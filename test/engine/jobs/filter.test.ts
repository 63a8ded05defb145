import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileFilter } from '../../../src/engine/jobs/index.ts';
import { parseExact, toText, type Json } from '../../../src/lib/json/index.ts';
import { failure } from './support.ts';
import { workMs } from '../../support/work.ts';
import { times } from '../../support/sample.ts';

const AT = 'jobs[0].children[0].recursionFilter';
const passes = (filter: string, row: Json): boolean => compileFilter(filter, AT)(row);

describe('a recursion filter', () => {
  const cases: readonly (readonly [string, Json, boolean])[] = [
    // exact text
    ['role==parent', { role: 'parent' }, true],
    ['role==parent', { role: 'parents' }, false],
    ['role!=parent', { role: 'child' }, true],
    ['id==10', { id: 10 }, true],
    ['id==1e1', { id: 10 }, false],
    ['on==1', { on: true }, true],
    ['on==', { on: false }, true],
    ['on==', { on: null }, true],
    ['on==', {}, true],
    ['type!=', { type: 'x' }, true],
    ['type!=', { type: '' }, false],
    // paths
    ['a.b==1', { a: { b: 1 } }, true],
    ['a.0==x', { a: ['x'] }, true],
    ['scalar==7', 7, true],
    ['1==b', ['a', 'b'], true],
    ['scalar==', null, true],
    // numbers
    ['id>5', { id: 10 }, true],
    ['id>10', { id: 10 }, false],
    ['id>=10', { id: '10.0' }, true],
    ['id<=1e1', { id: 10 }, true],
    ['id<5', { id: 10 }, false],
    ['id<5', { id: '4' }, true],
    ['id>-1', { id: 0 }, true],
    // text by bytes
    ['date>2017-02-01', { date: '2017-02-02' }, true],
    ['date>2017-02-01', { date: '2017-01-31' }, false],
    ['name<b', { name: 'B' }, true],
    ['name>\uFFFD', { name: '\u{1F600}' }, true],
    ['id<5', {}, true],
    ['id>5', {}, false],
    ['id>5', { id: ' 10' }, true],
    ['id>5', { id: '10 ' }, false],
    // like
    ['type~~%min%', { type: 'admin' }, true],
    ['type~~min%', { type: 'admin' }, false],
    ['type!~%min%', { type: 'user' }, true],
    ['type~~adm', { type: 'admin' }, false],
    ['type~~%MIN%', { type: 'admin' }, false],
    ['type~~a.*', { type: 'admin' }, false],
    ['type~~%', {}, true],
    ['type~~a%a', { type: 'a' }, false],
    ['type~~%x', { type: 'a\nx' }, false],
    ['type~~a\n%', { type: 'a\nx' }, true],
    // and, or
    ['role==parent|id>300&id<400', { role: 'child', id: 350 }, true],
    ['role==parent|id>300&id<400', { role: 'parent', id: 1 }, true],
    ['role==parent|id>300&id<400', { role: 'child', id: 400 }, false],
    ['a==1&b==1|c==1', { c: 1 }, true],
    ['a==1&b==1|c==1', { a: 1 }, false],
    // blanks count
    ['a==1 & b==2', { a: '1 ', ' b': 2 }, true],
    ['a == 1', { a: 1 }, false],
    ['a == 1', { 'a ': ' 1' }, true],
    // which operator
    ['a>b==c', { 'a>b': 'c' }, true],
    ['a==b==c', { a: 'b' }, true],
    ['a===b', { a: '=b' }, true],
    ['a<b>c', { a: 'b>b' }, true],
    ['a>1>9', { a: 5 }, true],
  ];
  test.each(cases)('%s of %j is %s', (filter, row, expected) => {
    expect(passes(filter, row)).toBe(expected);
  });

  test('tells integers apart that a double cannot', () => {
    expect(passes('id>9007199254740992', parseExact('{"id":9007199254740993}'))).toBe(true);
    expect(passes('id>9007199254740993', parseExact('{"id":9007199254740993}'))).toBe(false);
  });

  const mistakes: readonly (readonly [string, RegExp])[] = [
    ['role', /“role” .* has no operator/],
    ['role=parent', /has no operator/],
    ['a==1&', /“” .* has no operator/],
    ['|a==1', /has no operator/],
    ['==1', /has no path/],
    ['id>', /has no value/],
  ];
  test.each(mistakes)('%s is refused', (filter, message) => {
    const error = failure(() => compileFilter(filter, AT));
    expect(error.path).toBe(AT);
    expect(error.message).toMatch(message);
    expect(error.hint).toBeDefined();
  });

  test('takes no long over a pattern made to be slow', () => {
    const like = compileFilter(`x~~${'a%'.repeat(5000)}b`, AT);
    const ms = workMs(() => expect(like({ x: 'a'.repeat(200_000) })).toBe(false));
    expect(ms).toBeLessThan(500);
  });
});

describe('against naive models', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '%', '\n', '.'), maxLength: 7 });

  test('like is the obvious regular expression', () => {
    fc.assert(
      fc.property(letters, letters, (pattern, text) => {
        const source = pattern.replaceAll('.', '\\.').replaceAll('%', '[^\\n]*');
        expect(passes(`x~~${pattern}`, { x: text })).toBe(new RegExp(`^(?:${source})$(?![^])`).test(text));
      }),
      { numRuns: times(500) },
    );
  });

  test('conditions join like && and ||', () => {
    const operators = {
      '==': (a: string, b: string) => a === b,
      '!=': (a: string, b: string) => a !== b,
      '>': (a: string, b: string) => Number(a) > Number(b),
      '<': (a: string, b: string) => Number(a) < Number(b),
      '>=': (a: string, b: string) => Number(a) >= Number(b),
      '<=': (a: string, b: string) => Number(a) <= Number(b),
    };
    const operator = fc.constantFrom<keyof typeof operators>('==', '!=', '>', '<', '>=', '<=');
    const condition = fc.tuple(fc.constantFrom('a', 'b', 'c'), operator, fc.integer({ min: -3, max: 3 }));
    const alternatives = fc.array(fc.array(condition, { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 3,
    });
    const row = fc.record({
      a: fc.integer({ min: -3, max: 3 }),
      b: fc.integer({ min: -3, max: 3 }),
      c: fc.integer({ min: -3, max: 3 }),
    });
    fc.assert(
      fc.property(alternatives, row, (tree, values) => {
        const filter = tree.map((all) => all.map((part) => part.join('')).join('&')).join('|');
        const expected = tree.some((all) =>
          all.every(([key, sign, value]) => operators[sign](toText(values[key]), String(value))),
        );
        expect(passes(filter, values)).toBe(expected);
      }),
      { numRuns: times(300) },
    );
  });
});
