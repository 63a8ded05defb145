import { describe, expect, test } from 'vitest';
import { JsonMap, JsonNumber, parseExact, type Json } from '../../../src/lib/json/index.ts';
import type { PaginatedJob } from '../../../src/engine/pagination/index.ts';
import { items, paginatorOf, run, type Answer } from './helpers.ts';

const page = (next?: Json): Answer => ({
  body: { items: items(1), meta: next === undefined ? {} : { next } },
  dataField: ['items'],
});
const options = (more: object = {}): Json => ({
  method: 'response.param',
  responseParam: 'meta.next',
  queryParam: 'cursor',
  ...more,
});

describe('response.param', () => {
  test('sends the value of the response in a parameter, and no other', () => {
    const { shown, stop } = run(paginatorOf(options(), { params: { q: 'x' } }), [
      page('a'),
      page('b'),
      page(),
    ]);
    expect(shown).toEqual(['GET users {"q":"x"}', 'GET users {"cursor":"a"}', 'GET users {"cursor":"b"}']);
    expect(stop).toBe('the response has no `meta.next`');
  });

  test('includeParams keeps those of the job; one of the same name is overridden in its place', () => {
    const paginator = paginatorOf(options({ includeParams: true }), { params: { cursor: '0', q: 'x' } });
    expect(run(paginator, [page('a'), page()]).shown[1]).toBe('GET users {"cursor":"a","q":"x"}');
  });

  test.each<Json>([null, '', false, [], {}, new JsonMap()])('ends at %j', (value) => {
    expect(run(paginatorOf(options()), [page(value)]).shown).toHaveLength(1);
  });

  test.each<[Json, string]>([
    [0, '0'],
    ['0', '"0"'],
    [true, 'true'],
    [' ', '" "'],
    [{ a: [1] }, '{"a":[1]}'],
    [new JsonNumber('12345678901234567890123'), '12345678901234567890123'],
  ])('goes on with %j', (value, text) => {
    expect(run(paginatorOf(options()), [page(value), page()]).shown[1]).toBe(`GET users {"cursor":${text}}`);
  });

  test.each<[Json, Json, number]>([
    [[0], 0, 1],
    [[0], parseExact('0.0'), 1],
    [[0], '0', 2],
    [['END'], 'END', 1],
    [['END'], 'end', 2],
    [[{ b: 1, a: [2] }], { a: [2], b: 1 }, 1],
    [[parseExact('9007199254740993')], parseExact('9007199254740992'), 2],
  ])('endValues %j and the value %j', (endValues, value, requests) => {
    expect(run(paginatorOf(options({ endValues })), [page(value), page()]).shown).toHaveLength(requests);
  });

  test('a value at the root, and keys with dots by a delimiter', () => {
    const root = paginatorOf({ method: 'response.param', responseParam: 'next', queryParam: 'c' });
    expect(run(root, [{ body: { next: 'a' } }, { body: {} }]).shown[1]).toBe('GET users {"c":"a"}');
    const dotted = paginatorOf({
      method: 'response.param',
      responseParam: 'a.b/c',
      delimiter: '/',
      queryParam: 'c',
    });
    expect(run(dotted, [{ body: { 'a.b': { c: 'x' } } }, { body: {} }]).shown[1]).toBe('GET users {"c":"x"}');
  });

  test('an empty response ends it', () => {
    expect(run(paginatorOf(options()), [{ body: null, status: 204 }]).stop).toBe('the response is empty');
  });

  const scrolled: readonly [string, object, Partial<PaginatedJob>, string][] = [
    [
      'replaces endpoint, method and parameters',
      { scrollRequest: { endpoint: 'scroll', method: 'get', params: { keep: '1m' } } },
      { method: 'POST', params: { q: 'x' } },
      'GET scroll {"keep":"1m","cursor":"a"}',
    ],
    [
      'falls back to the endpoint of the job',
      { scrollRequest: { method: 'GET' } },
      { method: 'POST', params: { q: 'x' } },
      'GET users {"cursor":"a"}',
    ],
    [
      'falls back to the method of the job',
      { scrollRequest: { endpoint: 's' } },
      { method: 'POST' },
      'POST s {"cursor":"a"}',
    ],
    [
      'keeps the parameters of the job only with includeParams, and stands over them',
      { includeParams: true, scrollRequest: { params: { q: 'y', o: { z: 1 }, l: [9] } } },
      { params: { p: 1, q: 'x', o: { w: 2 }, l: [1, 2] } },
      'GET users {"p":1,"q":"y","o":{"z":1},"l":[9,2],"cursor":"a"}',
    ],
    [
      'has its own parameter overridden by the value',
      { scrollRequest: { params: { cursor: 'old', keep: 1 } } },
      {},
      'GET users {"cursor":"a","keep":1}',
    ],
    [
      'changes nothing when it is empty',
      { scrollRequest: [] },
      { params: { q: 'x' } },
      'GET users {"cursor":"a"}',
    ],
    [
      'with queryParamIn sends the value in the query and its parameters in the body',
      { queryParamIn: 'query', scrollRequest: { method: 'POST', params: { keep: 1 } } },
      {},
      'POST users {"keep":1} ?{"cursor":"a"}',
    ],
  ];
  test.each(scrolled)('scrollRequest %s', (_name, more, changes, request) => {
    expect(run(paginatorOf(options(more), changes), [page('a'), page()]).shown[1]).toBe(request);
  });

  test('scrollRequest adds headers, and every following page is made from the job anew', () => {
    const paginator = paginatorOf(options({ scrollRequest: { endpoint: 's', headers: { B: '2' } } }), {
      headers: { A: '1', B: '1' },
    });
    const { requests } = run(paginator, [page('a'), page('b'), page()]);
    expect(requests.slice(1)).toEqual([
      { endpoint: 's', method: 'GET', params: { cursor: 'a' }, headers: { A: '1', B: '2' } },
      { endpoint: 's', method: 'GET', params: { cursor: 'b' }, headers: { A: '1', B: '2' } },
    ]);
  });

  test('the place of the parameters follows the method that scrollRequest sets', () => {
    const paginator = paginatorOf(options({ scrollRequest: { method: 'GET' } }), {
      method: 'POST',
      paramsIn: 'body',
    });
    expect(run(paginator, [page('a'), page()]).requests[1]).not.toHaveProperty('paramsIn');
    const given = paginatorOf(options({ scrollRequest: { paramsIn: 'query' } }), { method: 'POST' });
    expect(run(given, [page('a'), page()]).requests[1]).toHaveProperty('paramsIn', 'query');
  });

  test('an endpoint of the configuration is trusted although the endpoint of the job was not', () => {
    const from = { endpoint: 'https://other.example/x', fromResponse: true };
    const own = paginatorOf(options({ scrollRequest: { endpoint: 'scroll' } }), from);
    expect(run(own, [page('a'), page()]).requests[1]).not.toHaveProperty('fromResponse');
    expect(run(paginatorOf(options(), from), [page('a'), page()]).requests[1]).toHaveProperty(
      'fromResponse',
      true,
    );
  });

  test.each<[string, object, string]>([
    ['responseParam is missing', { responseParam: '' }, 'responseParam'],
    ['queryParam is missing', { queryParam: null }, 'queryParam'],
    ['scrollRequest is text', { scrollRequest: 'scroll' }, 'scrollRequest'],
    ['scrollRequest.endpoint is a list', { scrollRequest: { endpoint: ['a'] } }, 'scrollRequest.endpoint'],
    ['scrollRequest.params is text', { scrollRequest: { params: 'a=1' } }, 'scrollRequest.params'],
    ['scrollRequest.method is unknown', { scrollRequest: { method: 'PSOT' } }, 'scrollRequest.method'],
    ['endValues is no list', { endValues: 'END' }, 'endValues'],
  ])('is refused when %s', (_name, more, key) => {
    expect(() => paginatorOf(options(more))).toThrow(
      expect.objectContaining({
        code: 'pagination.invalid',
        where: { path: `parameters.api.pagination.${key}` },
      }),
    );
  });

  test('suggests the method that was meant', () => {
    expect(() => paginatorOf(options({ scrollRequest: { method: 'PSOT' } }))).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('Did you mean POST?') as unknown }),
    );
  });
});
