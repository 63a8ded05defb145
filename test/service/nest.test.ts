import { describe, expect, test } from 'vitest';
import { nest, parseQuery } from '../../src/service/http/parsing/nest.ts';

const many = (count: number, name: (n: number) => string): [string, string][] =>
  Array.from({ length: count }, (_, n) => [name(n), '1']);

describe('the names of a form', () => {
  test.each([
    ['a=1', { a: '1' }],
    ['a', { a: '' }],
    ['a=1&a=2', { a: ['1', '2'] }],
    ['a[]=1', { a: ['1'] }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a=1&a[]=2', { a: ['1', '2'] }],
    ['a%5B%5D=1+2', { a: ['1 2'] }],
    ['a[2]=z&a[0]=x', { a: ['x', 'z'] }],
    ['a[10]=z&a[9]=x', { a: ['x', 'z'] }],
    ['a[0]=x&a[0]=y', { a: [['x', 'y']] }],
    ['a[10001]=x', { a: { 10001: 'x' } }],
    ['a[01]=x', { a: { '01': 'x' } }],
    ['a[b]=1&a[c][]=2', { a: { b: '1', c: ['2'] } }],
    ['a[b]=1&a[0]=2', { a: { b: '1', 0: '2' } }],
    ['a[b]=1&a[]=2', { a: { b: '1', 0: '2' } }],
    [
      'w[0][column]=a&w[0][values][]=1&w[1][column]=b',
      { w: [{ column: 'a', values: ['1'] }, { column: 'b' }] },
    ],
    ['w[][a]=1&w[][b]=2', { w: [{ a: '1', b: '2' }] }],
    ['a=1&a[b]=2', { a: ['1', { b: '2' }] }],
    ['a[in.c-main]=read&a.b=1', { a: { 'in.c-main': 'read' }, 'a.b': '1' }],
    ['a[b[c]]=1', { a: { 'b[c]': '1' } }],
    ['a[b=1&c]=2', { a: { '[b': '1' }, 'c]': '2' }],
    ['[a]=1', { a: '1' }],
    ['toString=1&a[constructor]=2', { toString: '1', a: { constructor: '2' } }],
    ['__proto__[x]=1&a[__proto__][x]=1&=2&&', {}],
    ['a=%E0%A4%A&b=x=[1]', { a: '%E0%A4%A', b: 'x=[1]' }],
  ])('%s', (text, value) => {
    expect(parseQuery(text)).toEqual(value);
    expect(Object.getPrototypeOf(parseQuery(text))).toBe(Object.prototype);
  });

  test('have 32 brackets at most, and what follows is a name', () => {
    const text = JSON.stringify(parseQuery(`a${'[b]'.repeat(40)}=1`));
    expect(text.match(/"b":/g)).toHaveLength(32);
    expect(text).toContain(`"${'[b]'.repeat(8)}":"1"`);
  });

  test('are bounded in all', { tags: 'thorough' }, () => {
    expect(() => nest(many(100_001, () => 'a'))).toThrow('more than 100000 fields');
    expect(() => nest(many(20_000, (n) => `a${n}${'[b]'.repeat(25)}`))).toThrow('more than 400000 names');
    expect(Object.keys(nest(many(100_000, (n) => `a${n}`)))).toHaveLength(100_000);
  });
});
