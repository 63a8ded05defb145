import { expect, test } from 'vitest';
import { nearest } from '../../src/lib/suggest.ts';

const METHODS = ['offset', 'pagenum', 'response.url', 'response.param', 'cursor', 'multiple'];

test.each([
  ['ofset', 'offset'],
  ['offest', 'offset'],
  ['page_num', 'pagenum'],
  ['PageNum', 'pagenum'],
  ['respons.param', 'response.param'],
  ['response.urls', 'response.url'],
  ['cursro', 'cursor'],
])('%s means %s', (word, wanted) => {
  expect(nearest(word, METHODS)).toBe(wanted);
});

test.each(['link', 'token', 'x', ''])('“%s” is near nothing', (word) => {
  expect(nearest(word, METHODS)).toBeUndefined();
});

test('the word itself is no suggestion', () => {
  expect(nearest('offset', ['offset'])).toBeUndefined();
});

test('the nearest of several is taken, the first of equally near ones', () => {
  expect(nearest('paramz', ['params', 'param'])).toBe('params');
  expect(nearest('limitt', ['limits', 'limit'])).toBe('limits');
});

test('short words are not replaced by others', () => {
  expect(nearest('id', ['to', 'is'])).toBeUndefined();
  expect(nearest('ID', ['id'])).toBe('id');
});
