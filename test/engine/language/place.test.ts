import { describe, expect, test } from 'vitest';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import type { Json } from '../../../src/lib/json/index.ts';
import { compilePlace } from '../../../src/engine/language/index.ts';
import { requestOf } from './support.ts';

function put(place: Json, value: Json, request: Partial<JobRequest> = {}): JobRequest {
  return compilePlace(place, { at: 'here' }).put(requestOf(request), value);
}

describe('a place', () => {
  test('is a parameter, which keeps its place', () => {
    expect(JSON.stringify(put('after', 2, { params: { after: 1, b: 1 } }).params)).toBe('{"after":2,"b":1}');
  });

  test('is the query of a POST', () => {
    const made = put({ query: 'after' }, 'x', { method: 'POST', params: { a: 1, after: 'y' } });
    expect(made.params).toEqual({ a: 1 });
    expect(made.query).toEqual({ after: 'x' });
  });

  test('is a key of the body at any depth, what is beside it stays', () => {
    const params = { query: 'q', variables: { first: 10, list: [{ a: 1 }] } };
    const method = 'POST';
    expect(put({ body: 'variables.after' }, 'c', { method, params }).params).toEqual({
      query: 'q',
      variables: { first: 10, list: [{ a: 1 }], after: 'c' },
    });
    expect(put({ body: 'variables.list.0.b' }, 2, { method, params }).params).toEqual({
      query: 'q',
      variables: { first: 10, list: [{ a: 1, b: 2 }] },
    });
  });

  test('is a key of a body of its own, also of a GET', () => {
    const body = { variables: { first: 10 } };
    expect(put({ body: 'variables.after' }, 'c', { body, params: { v: 1 } })).toMatchObject({
      params: { v: 1 },
      body: { variables: { first: 10, after: 'c' } },
    });
    expect(put({ body: '0.after' }, 'c', { body: [{ a: 1 }] }).body).toEqual([{ a: 1, after: 'c' }]);
    expect(put({ body: 'after' }, 'c')).toMatchObject({ params: {}, body: { after: 'c' } });
    expect(compilePlace({ body: 'after' }, { at: 'here' }).isIn(requestOf({ body: 'text' }))).toBe(false);
  });

  test('inside of a body that is a text is written as its format wants it', () => {
    const body = '<from>{after}</from>';
    expect(put({ template: 'after' }, 'a&b', { body, bodyFormat: 'xml' }).body).toBe('<from>a&amp;b</from>');
    expect(put({ template: 'after' }, 'a&b', { body }).body).toBe('<from>a&b</from>');
    expect(put({ template: 'after' }, 'a&b', { body: [{ sql: '{after}' }] }).body).toEqual([{ sql: 'a&b' }]);
  });

  test('is the query, where the body takes no parameters', () => {
    expect(put({ query: 'after' }, 1, { method: 'POST', body: 'text' })).toMatchObject({
      params: { after: 1 },
    });
  });

  test('is a header, whatever its case', () => {
    expect(put({ header: 'x-page' }, 3, { headers: { 'X-Page': '1' } }).headers).toEqual({ 'X-Page': 3 });
  });

  test('is a part of the endpoint', () => {
    expect(put({ path: 'page' }, 'a/b', { endpoint: 'items/{page}/list' }).endpoint).toBe('items/a%2Fb/list');
  });

  test('is a part of any text', () => {
    const params = { q: 'LIMIT {offset},10', deep: [{ x: '{offset}' }] };
    expect(put({ template: 'offset' }, 20, { params }).params).toEqual({
      q: 'LIMIT 20,10',
      deep: [{ x: 20 }],
    });
  });

  test('takes a whole object', () => {
    const place = compilePlace({ query: '*' }, { at: 'here' });
    expect(
      place.merge(requestOf({ params: { action: 'query', continue: '' } }), { continue: '-||', sroffset: 10 })
        .params,
    ).toEqual({
      action: 'query',
      continue: '-||',
      sroffset: 10,
    });
  });

  test('inside of a text holds its first value before there is one', () => {
    const request = requestOf({ endpoint: 'items/{page}' });
    expect(compilePlace({ path: 'page', first: 1 }, { at: 'here' }).blank(request).endpoint).toBe('items/1');
    expect(compilePlace({ path: 'other' }, { at: 'here' }).isIn(request)).toBe(false);
  });

  test.each<[Json, string]>([
    [{ boddy: 'x' }, 'Did you mean “body”?'],
    [{ body: 'x', header: 'y' }, 'does not say one place'],
    [{ body: '' }, 'needs the name of the place'],
    [{ header: 'x', first: 1 }, '“first” is for places inside of a text'],
    [[], 'A place in the request is the name of a parameter'],
  ])('%j is refused', (place, message) => {
    let text = '';
    try {
      compilePlace(place, { at: 'here' });
    } catch (error) {
      text = `${String(error)} ${JSON.stringify(error, Object.getOwnPropertyNames(error))}`;
    }
    expect(text).toContain(message);
  });
});
