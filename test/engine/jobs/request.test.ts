import { describe, expect, test } from 'vitest';
import { FunctionError } from '../../../src/lib/errors.ts';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import { childRuns, firstRequest, ROOT_RUN, type Job } from '../../../src/engine/jobs/index.ts';
import { entriesOf, type Json } from '../../../src/lib/json/index.ts';
import { child, evaluate, failure, first, job } from './support.ts';

const CONTEXTS = {
  attr: { '#token': 's3cret', 'server.port': 8080 },
  time: { previousStart: 0, currentStart: 1000 },
};

const request = (node: Json): JobRequest => firstRequest(job(node), ROOT_RUN, evaluate, CONTEXTS);

function withParam(value: Json): Job {
  return child({ endpoint: 'x', placeholders: { id: 'id' }, params: { a: value } });
}

/** The request of the first run that a row starts. */
function childRequest(node: Job, row: Json): JobRequest {
  const parameters = first(childRuns(node, [row], [], evaluate));
  return firstRequest(node, { parameters, rows: [row] }, evaluate, CONTEXTS);
}

describe('the first request of a job', () => {
  test('is the job without what belongs to its rows', () => {
    expect(request({ endpoint: 'users', dataField: 'a', params: { a: 1 }, headers: { 'X-A': 'b' } })).toEqual(
      {
        endpoint: 'users',
        method: 'GET',
        params: { a: 1 },
        headers: { 'X-A': 'b' },
      },
    );
  });

  test('leaves POST without parameters and FORM as they are', () => {
    expect(request({ endpoint: 'a', method: 'post' })).toEqual({
      endpoint: 'a',
      method: 'POST',
      params: {},
      headers: {},
    });
    expect(request({ endpoint: 'a', method: 'form' }).method).toBe('FORM');
  });

  test('says where the parameters go when the job does', () => {
    expect(request({ endpoint: 'a', method: 'POST', paramsIn: 'query' }).paramsIn).toBe('query');
  });

  test('has the functions of parameters and headers evaluated, in the order written', () => {
    const { params, headers } = request({
      endpoint: 'a',
      params: {
        z: { time: 'currentStart' },
        a: { function: 'concat', args: ['p', { attr: 'server.port' }] },
        m: 1,
      },
      headers: { 'X-Token': { function: 'concat', args: ['Bearer ', { attr: '#token' }] } },
    });
    expect(entriesOf(params)).toEqual([
      ['z', 1000],
      ['a', 'p8080'],
      ['m', 1],
    ]);
    expect(headers).toEqual({ 'X-Token': 'Bearer s3cret' });
  });

  test('leaves functions in a list at the top alone', () => {
    expect(request({ endpoint: 'a', params: { list: [{ attr: 'server.port' }] } }).params).toEqual({
      list: [{ attr: 'server.port' }],
    });
  });

  test('keeps braces that are no placeholders', () => {
    expect(request({ endpoint: 'a/{b}', params: { q: '{c}' } })).toMatchObject({
      endpoint: 'a/{b}',
      params: { q: '{c}' },
    });
  });

  test('has parent and placeholder as plain names in a job that is no child', () => {
    expect(request({ endpoint: 'a', params: { filter: { parent: 'x' } } }).params).toEqual({
      filter: { parent: 'x' },
    });
  });
});

describe('the first request of a child', () => {
  test('has its placeholders in endpoint, parameters and headers', () => {
    const node = child({
      endpoint: 'users/{id}/{token}',
      placeholders: { id: 'id', token: 'access.token' },
      params: { id: '{id}', deep: { list: ['{token}-{id}'] }, other: '{other}' },
      headers: { 'X-Token': '{token}' },
    });
    expect(childRequest(node, { id: 7, access: { token: 'abc' } })).toEqual({
      endpoint: 'users/7/abc',
      method: 'GET',
      params: { id: 7, deep: { list: ['abc-7'] }, other: '{other}' },
      headers: { 'X-Token': 'abc' },
    });
  });

  test('has functions that refer to placeholders and the parent row', () => {
    const node = child({
      endpoint: 'x',
      placeholders: { id: 'id' },
      params: {
        a: { placeholder: 'id' },
        b: { parent: 'user.email' },
        c: { function: 'concat', args: ['{id}', '-', { parent: 'tags.1' }, '-', { attr: 'server.port' }] },
      },
    });
    expect(childRequest(node, { id: 7, user: { email: 'a@b' }, tags: ['x', 'y'] }).params).toEqual({
      a: 7,
      b: 'a@b',
      c: '7-y-8080',
    });
  });

  test('takes a field that the parent row does not have for null, in a function that is there for it', () => {
    const node = child({
      endpoint: 'x',
      placeholders: { id: 'id' },
      method: 'POST',
      body: {
        a: { function: 'optional', args: [{ parent: 'no' }] },
        b: { function: 'coalesce', args: [{ parent: 'nothing' }, 'B'] },
        c: { function: 'if', args: [{ function: 'is', args: [{ parent: 'no' }, 'present'] }, 1, 2] },
        d: { function: 'optional', args: [{ parent: 'tags' }] },
        e: { function: 'optional', args: [{ parent: 'user' }] },
      },
      bodyFormat: 'json',
    });
    const row = { id: 7, nothing: null, tags: ['x'], user: { email: 'a@b' } };
    expect(childRequest(node, row)).toMatchObject({
      body: { b: 'B', c: 2, d: ['x'], e: { email: 'a@b' } },
    });
    const upper = withParam({ function: 'upper', args: [{ parent: 'no' }] });
    expect(() => childRequest(upper, { id: 7 })).toThrow('There is no value “no” in “parent”');
  });

  test('knows a row that is a single value as “scalar”', () => {
    const node = child({
      endpoint: 'x/{id}',
      placeholders: { id: '.' },
      params: { v: { parent: 'scalar' } },
    });
    expect(childRequest(node, 'abc')).toMatchObject({ endpoint: 'x/abc', params: { v: 'abc' } });
  });

  test('does not evaluate what a row says', () => {
    const node = child({ endpoint: 'x', placeholders: { id: 'id' }, params: { v: '{id}' } });
    expect(childRequest(node, { id: '{"attr":"#token"}' }).params).toEqual({ v: '{"attr":"#token"}' });
  });
});

describe('mistakes', () => {
  test('a header that is an object is named with its path', () => {
    const error = failure(() => request({ endpoint: 'a', headers: { 'X-A': { b: { c: 1 } } } }));
    expect(error.path).toBe('config.jobs[0].headers.X-A');
    expect(error.message).toBe('The header “X-A” is an object, not a text');
  });

  test('a reference to nothing is named with its path', () => {
    let path: string | undefined;
    try {
      request({ endpoint: 'a', params: { b: { attr: 'missing' } } });
    } catch (error) {
      path = error instanceof FunctionError ? error.where.path : undefined;
    }
    expect(path).toBe('config.jobs[0].params.b');
  });
});
