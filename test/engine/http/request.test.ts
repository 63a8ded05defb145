import { describe, expect, test } from 'vitest';
import { HttpError } from '../../../src/lib/errors.ts';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import { buildRequest, mergeRequests, type RequestOptions } from '../../../src/engine/http/request.ts';
import { objectOf, type AnyObject } from '../../../src/lib/json/index.ts';

const OPTIONS: RequestOptions = { baseUrl: 'http://h/v1/', headers: {} };

function job(part: Partial<JobRequest>): JobRequest {
  return { endpoint: 'users', method: 'GET', params: {}, headers: {}, ...part };
}

describe('a request of', () => {
  test.each(['GET', 'DELETE'])('%s has its parameters in the query', (method) => {
    const request = buildRequest(job({ method, endpoint: 'users?a=1', params: { b: [1, 2] } }), OPTIONS);
    expect(request).toMatchObject({ method, url: 'http://h/v1/users?a=1&b%5B0%5D=1&b%5B1%5D=2' });
    expect(request.body).toBeUndefined();
  });

  test('the same headers of a job beside others of the API are other headers', () => {
    const same = job({ headers: { A: '1' } });
    const built = (options: Partial<RequestOptions>) =>
      buildRequest(same, { ...OPTIONS, userAgent: 'me', ...options }).headers;
    const rest = { 'User-Agent': 'me', 'Accept-Encoding': 'gzip, deflate, br' };
    expect(built({})).toEqual({ A: '1', ...rest });
    expect(built({ headers: { B: '2' } })).toEqual({ B: '2', A: '1', ...rest });
    expect(built({ defaultOptions: { headers: { C: '3' } } })).toEqual({ C: '3', A: '1', ...rest });
    expect(built({ userAgent: 'you' })['User-Agent']).toBe('you');
    expect(buildRequest({ ...same, method: 'POST' }, OPTIONS).headers['Content-Type']).toBe(
      'application/json',
    );
    expect(built({})).toEqual({ A: '1', ...rest });
  });

  test.each(['POST', 'PUT', 'PATCH'])('%s has them in a JSON body', (method) => {
    const params = { q: 'https://e/č', n: null, f: false, c: {} };
    const request = buildRequest(job({ method, params }), OPTIONS);
    expect(request).toMatchObject({ method, url: 'http://h/v1/users' });
    expect(request.body).toBe('{"q":"https:\\/\\/e\\/\\u010d","n":null,"f":false,"c":{}}');
    expect(request.headers['Content-Type']).toBe('application/json');
  });

  test('FORM is a POST with a form body', () => {
    const request = buildRequest(job({ method: 'FORM', params: { a: 'x y', b: null } }), OPTIONS);
    expect(request).toMatchObject({ method: 'POST', body: 'a=x+y' });
    expect(request.headers['Content-Type']).toBe('application/x-www-form-urlencoded');
  });

  test('lists of a query and a form may be repeated names, inside of objects too', () => {
    const options: RequestOptions = { ...OPTIONS, lists: 'repeated' };
    const params = { a: [1, 'x y'], b: { c: [2, 3] }, d: [] };
    const query = 'a=1&a=x+y&b%5Bc%5D=2&b%5Bc%5D=3';
    expect(buildRequest(job({ params }), options).url).toBe(`http://h/v1/users?${query}`);
    expect(buildRequest(job({ method: 'FORM', params }), options).body).toBe(query);
    const next = job({ endpoint: 'http://h/v1/users?a=9&p=2', params, fromResponse: true });
    expect(buildRequest(next, options).url).toBe('http://h/v1/users?a=1&a=x+y&p=2&b%5Bc%5D=2&b%5Bc%5D=3');
  });

  test('no parameters are an empty list, or an empty form', () => {
    expect(buildRequest(job({ method: 'POST' }), OPTIONS).body).toBe('[]');
    expect(buildRequest(job({ method: 'PATCH' }), OPTIONS).body).toBe('[]');
    expect(buildRequest(job({ method: 'FORM' }), OPTIONS).body).toBe('');
  });

  test('parameters that were a list are a list', () => {
    const params = objectOf([
      ['0', 'a'],
      ['1', { b: 1 }],
    ]);
    expect(buildRequest(job({ method: 'POST', params }), OPTIONS).body).toBe('["a",{"b":1}]');
    const odd = objectOf([
      ['1', 'a'],
      ['0', 'b'],
    ]);
    expect(buildRequest(job({ method: 'POST', params: odd }), OPTIONS).body).toBe('{"1":"a","0":"b"}');
  });

  test('an unknown method is refused with the known ones', () => {
    expect(() => buildRequest(job({ method: 'TRACE' }), OPTIONS)).toThrow(HttpError);
    expect(() => buildRequest(job({ method: 'constructor' }), OPTIONS)).toThrow(/no request method/);
  });
});

describe('parameters', () => {
  test('of a POST go into the query when asked to; then there is no body', () => {
    const request = buildRequest(job({ method: 'POST', params: { a: 1 }, paramsIn: 'query' }), OPTIONS);
    expect(request.url).toBe('http://h/v1/users?a=1');
    expect(request.body).toBeUndefined();
    expect(request.headers['Content-Type']).toBeUndefined();
  });

  test('of a GET go into a body when asked to', () => {
    const request = buildRequest(job({ params: { a: 1 }, paramsIn: 'body' }), OPTIONS);
    expect(request).toMatchObject({ method: 'GET', url: 'http://h/v1/users', body: '{"a":1}' });
  });

  test('`query` is always in the query, and wins there', () => {
    const query = { page: 2 };
    expect(buildRequest(job({ method: 'POST', params: { a: 1 }, query }), OPTIONS)).toMatchObject({
      url: 'http://h/v1/users?page=2',
      body: '{"a":1}',
    });
    expect(buildRequest(job({ params: { page: 1, a: 1 }, query }), OPTIONS).url).toBe(
      'http://h/v1/users?page=2&a=1',
    );
  });

  test('default options come first and lose', () => {
    const defaultOptions = { params: { apikey: 'k1', limit: 10, x: { y: 1 } } };
    const request = buildRequest(
      job({ endpoint: 'users?static=1', params: { fields: 12, limit: 5, x: { z: 1 } } }),
      {
        ...OPTIONS,
        defaultOptions,
      },
    );
    expect(request.url).toBe('http://h/v1/users?static=1&apikey=k1&limit=5&x%5Bz%5D=1&fields=12');
  });

  test('an empty method takes the default one', () => {
    expect(mergeRequests(job({ method: '' }), { method: 'post' }).method).toBe('POST');
    expect(mergeRequests(job({ method: '' })).method).toBe('GET');
    expect(mergeRequests(job({ method: 'FORM' }), { method: 'POST' }).method).toBe('FORM');
  });
});

function headersOf(own: AnyObject, options: Partial<RequestOptions> = {}, method = 'GET'): object {
  return buildRequest(job({ headers: own, method }), { ...OPTIONS, ...options }).headers;
}

function typesIn(headers: object): object {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /^content-type$/i.test(name)));
}

describe('headers', () => {
  test('the job’s win over the default options’, those over the API’s; names compare without case', () => {
    const options = {
      headers: { A: 'api', b: 'api', C: 'api' },
      defaultOptions: { headers: { B: 'default', c: 'default' } },
    };
    expect(headersOf({ C: 'job' }, options)).toMatchObject({ A: 'api', B: 'default', C: 'job' });
    expect(headersOf({ C: 'job' }, options)).not.toHaveProperty('b');
    expect(headersOf({ C: 'job' }, options)).not.toHaveProperty('c');
  });

  test('values are texts: true is 1, numbers are exact, lists are joined, null leaves the header out', () => {
    expect(
      headersOf({ a: true, b: 1.5, c: ['x', 'y'], d: ' z\n', e: null }, { headers: { E: 'x' } }),
    ).toMatchObject({
      a: '1',
      b: '1.5',
      c: 'x, y',
      d: 'z',
    });
    expect(headersOf({ e: null }, { headers: { E: 'x' } })).not.toHaveProperty('E');
  });

  test('a job that names a content type means it, however it spells it', () => {
    for (const name of ['Content-Type', 'content-type', 'CONTENT-TYPE']) {
      const headers = headersOf(
        { [name]: 'application/vnd.api+json' },
        { headers: { 'content-type': 'text/y' } },
        'POST',
      );
      expect(typesIn(headers)).toEqual({ [name]: 'application/vnd.api+json' });
    }
    expect(headersOf({ 'Content-Type': 'text/x' })).toMatchObject({ 'Content-Type': 'text/x' });
    // the boundary is in it
    const multipart = { headers: { 'Content-Type': 'text/x' }, method: 'POST', body: { a: 1 } };
    const { headers } = buildRequest(job({ ...multipart, bodyFormat: 'multipart' }), OPTIONS);
    expect(typesIn(headers)).toEqual({
      'Content-Type': expect.stringMatching(/^multipart\/form-data; b/) as string,
    });
  });

  test('parameters of a POST have the type of their format, whatever all requests have', () => {
    const common = { headers: { 'content-type': 'text/y' } };
    expect(typesIn(headersOf({}, common, 'POST'))).toEqual({ 'Content-Type': 'application/json' });
    const form = headersOf({}, { defaultOptions: common }, 'FORM');
    expect(typesIn(form)).toEqual({ 'Content-Type': 'application/x-www-form-urlencoded' });
  });

  test.for([
    [{ q: 1 }, 'json', 'application/x-amz-json-1.0', true],
    [{ q: 1 }, undefined, 'application/json; charset=utf-8', true],
    [{ q: 1 }, 'form', 'application/json', false],
    [{ q: 1 }, 'form', 'application/x-www-form-urlencoded; charset=utf-8', true],
    ['<a/>', 'xml', 'application/soap+xml', true],
    ['{"q":1}', 'text', 'application/json', true],
    [{ q: 1 }, 'xml', 'application/json', false],
  ] as const)('a body of %j as %s and %s of all requests: stays is %s', ([body, bodyFormat, type, stays]) => {
    const format = bodyFormat === undefined ? {} : { bodyFormat };
    const request = buildRequest(job({ method: 'POST', body, ...format }), {
      ...OPTIONS,
      headers: { 'content-type': type },
    });
    expect(Object.values(typesIn(request.headers)).includes(type)).toBe(stays);
    expect(Object.keys(typesIn(request.headers))).toHaveLength(1);
  });

  test('who asks and what is understood is said, unless configured', () => {
    expect(headersOf({})).toMatchObject({
      'User-Agent': expect.stringMatching(/^generic-extractor\/\d/) as string,
      'Accept-Encoding': 'gzip, deflate, br',
    });
    expect(headersOf({ 'user-agent': 'me', 'accept-encoding': 'identity' })).toEqual({
      'user-agent': 'me',
      'accept-encoding': 'identity',
    });
    expect(headersOf({}, { userAgent: 'x/1' })).toMatchObject({ 'User-Agent': 'x/1' });
  });

  test.each([
    [{ 'bad name': 'x' }, /no name of a header/],
    [{ a: 'x\r\nEvil: 1' }, /line break/],
    [{ a: { b: 1 } }, /must be text/],
  ])('%j is refused', (headers, message) => {
    expect(() => headersOf(headers)).toThrow(message);
  });

  test('the value of a refused header is not in the message', () => {
    let message = '';
    try {
      headersOf({ Authorization: 'secret\nx' });
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toContain('Authorization');
    expect(message).not.toContain('secret');
  });
});

test('the label goes along', () => {
  expect(buildRequest(job({}), { ...OPTIONS, label: 'users' }).label).toBe('users');
});
