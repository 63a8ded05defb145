import { describe, expect, test } from 'vitest';
import { getKey, toText, type AnyObject, type Json } from '../../../src/lib/json/index.ts';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import type { PaginatedJob } from '../../../src/engine/pagination/index.ts';
import { testPagination } from './contract.ts';
import { paginatorOf, type Answer } from './helpers.ts';

const SIZE = 3;

/** A place, the job that has it, and how an API reads it. */
interface PlaceCase {
  readonly name: string;
  readonly place: (name: string) => Json;
  readonly job: Partial<PaginatedJob>;
  readonly read: (request: JobRequest, name: string) => string | undefined;
}

const POST = { method: 'POST' } as const;

const PLACES: readonly PlaceCase[] = [
  {
    name: 'a parameter',
    place: (name) => name,
    job: {},
    read: ({ params }, name) => text(getKey(params, name)),
  },
  {
    name: 'the query of a POST',
    place: (name) => ({ query: name }),
    job: POST,
    read: ({ query = {} }, name) => text(getKey(query, name)),
  },
  {
    name: 'a key at a depth of the body',
    place: (name) => ({ body: `page.${name}` }),
    job: { ...POST, params: { page: { sort: 'id' }, filter: 'all' } },
    read: ({ params }, name) => text(getKey(getKey(params, 'page') as AnyObject, name)),
  },
  {
    name: 'a key of a body that is given',
    place: (name) => ({ body: name }),
    job: { ...POST, body: { filter: 'all' } },
    read: ({ body }, name) => text(getKey(body as AnyObject, name)),
  },
  {
    name: 'a header',
    place: (name) => ({ header: `X-${name}` }),
    job: {},
    read: ({ headers }, name) => text(getKey(headers, `X-${name}`)),
  },
  {
    name: 'the path',
    place: (name) => ({ path: name }),
    job: { endpoint: 'users/{at}/{size}/list' },
    read: ({ endpoint }, name) => partOf(endpoint, /^users\/([^/]*)\/([^/]*)\/list$/, name),
  },
  {
    name: 'a text',
    place: (name) => ({ template: name }),
    job: { params: { q: 'FROM users AT {at} LIMIT {size}' } },
    read: ({ params }, name) => partOf(toText(getKey(params, 'q')), /^FROM users AT (.*) LIMIT (.*)$/, name),
  },
];

function text(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : toText(value);
}

/** Both places stand in one text, `at` before `size`; an empty one has no value yet. */
function partOf(whole: string, pattern: RegExp, name: string): string | undefined {
  const [, at, size] = pattern.exec(whole) ?? [];
  const part = name === 'at' ? at : size;
  return part === '' || part?.startsWith('{') === true ? undefined : part;
}

type Reader = (request: JobRequest, name: string) => string | undefined;

const METHODS: readonly {
  readonly name: string;
  readonly options: (place: (name: string) => Json) => AnyObject;
  readonly page: (rows: readonly Json[], at: string | undefined) => Answer;
  readonly usesSize: boolean;
}[] = [
  {
    name: 'offset',
    options: (place) => ({
      method: 'offset',
      limit: SIZE,
      offsetParam: place('at'),
      limitParam: place('size'),
    }),
    page: (rows, at = '0') => ({ body: rows.slice(Number(at), Number(at) + SIZE) }),
    usesSize: true,
  },
  {
    name: 'offset by the rows that came',
    options: (place) => ({
      method: 'offset',
      limit: 100,
      advance: 'rows',
      offsetParam: place('at'),
      limitParam: place('size'),
    }),
    page: (rows, at = '0') => ({ body: rows.slice(Number(at), Number(at) + SIZE) }),
    usesSize: true,
  },
  {
    name: 'pagenum',
    options: (place) => ({
      method: 'pagenum',
      limit: SIZE,
      pageParam: place('at'),
      limitParam: place('size'),
    }),
    page: (rows, at = '1') => ({ body: rows.slice((Number(at) - 1) * SIZE, Number(at) * SIZE) }),
    usesSize: true,
  },
  {
    name: 'response.param by the last row',
    options: (place) => ({
      method: 'response.param',
      responseParam: { last: 'id' },
      queryParam: place('at'),
    }),
    page: (rows, at = '0') => ({ body: rows.slice(Number(at), Number(at) + SIZE) }),
    usesSize: false,
  },
  {
    name: 'response.param by a header',
    options: (place) => ({
      method: 'response.param',
      set: [{ from: { header: 'X-Next' }, to: place('at') }],
    }),
    page(rows, at = '0') {
      const rest = Number(at) + SIZE;
      return {
        body: rows.slice(Number(at), rest),
        headers: rest < rows.length ? { 'x-next': String(rest) } : {},
      };
    },
    usesSize: false,
  },
  {
    name: 'cursor',
    options: (place) => ({ method: 'cursor', idKey: 'id', param: place('at') }),
    page: (rows, at = '0') => ({ body: rows.slice(Number(at), Number(at) + SIZE) }),
    usesSize: false,
  },
];

for (const { name, options, page, usesSize } of METHODS) {
  for (const { name: where, place, job, read } of PLACES) {
    const api =
      (rows: readonly Json[]) =>
      (request: JobRequest): Answer => {
        const sized: Reader = read;
        if (usesSize && sized(request, 'size') === undefined) throw new Error('the size is not sent');
        return page(rows, read(request, 'at'));
      };
    testPagination({
      name: `${name}, in ${where}`,
      paginator: () => paginatorOf(options(place), job),
      pageSize: SIZE,
      api,
    });
  }
}

describe('a place that is not there', () => {
  test.each<[string, Json, Partial<PaginatedJob>, string]>([
    ['in the path', { path: 'page' }, {}, 'Put the name in braces into the `endpoint`'],
    ['in any text', { template: 'page' }, { params: { q: 'x' } }, 'Put the name in braces into a text'],
    ['in a body that is a text', { body: 'page' }, { ...POST, body: '<q/>' }, 'Write the body as an object'],
  ])('%s is refused', (_, place, job, hint) => {
    expect(() => paginatorOf({ method: 'pagenum', pageParam: place }, job)).toThrow(
      expect.objectContaining({
        code: 'pagination.invalid',
        where: { path: 'parameters.api.pagination.pageParam' },
        hint: expect.stringContaining(hint) as string,
      }),
    );
  });

  test('two values at one place are refused', () => {
    const options = { method: 'offset', limit: 2, offsetParam: 'n', limitParam: 'n' };
    expect(() => paginatorOf(options)).toThrow('`offsetParam` and `limitParam` are one place');
  });
});
