import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/lib/json/index.ts';
import { items, paginatorOf, run, type Answer } from './helpers.ts';

const page = (more: object, rows = 2): Answer => ({
  body: { items: items(rows), ...more },
  dataField: ['items'],
});

const setting = (more: object = {}): Json => ({
  method: 'response.param',
  set: [
    { from: 'next.name', to: 'name' },
    { from: 'next.type', to: { header: 'X-Type' } },
  ],
  ...more,
});

const stopOf = (stopWhen: Json, pages: readonly Answer[]): string =>
  run(paginatorOf({ method: 'pagenum', stopWhen }), pages).stop;

describe('set', () => {
  test('puts several values into the next request, over the parameters of the job', () => {
    const { requests, stop } = run(paginatorOf(setting(), { params: { max: 2 } }), [
      page({ next: { name: 'a', type: 'T' } }),
      page({ next: { name: 'b' } }),
      page({ next: { type: 'T' } }),
    ]);
    expect(requests.map(({ params, headers }) => [params, headers])).toEqual([
      [{ max: 2 }, {}],
      [{ max: 2, name: 'a' }, { 'X-Type': 'T' }],
      [{ max: 2, name: 'b' }, {}],
    ]);
    expect(stop).toBe('the response has no `next.name`');
  });

  test('ends by its first value, end values among them', () => {
    const ended = run(paginatorOf(setting({ endValues: ['END'] })), [
      page({ next: { name: 'END', type: 'T' } }),
    ]);
    expect(ended.requests).toHaveLength(1);
  });

  test('and its short form are not written both', () => {
    expect(() => paginatorOf(setting({ responseParam: 'x' }))).toThrow('short form of one entry of `set`');
  });

  test.each<[Json, string]>([
    [[{ from: 'a' }], '`to` is missing'],
    [[{ to: 'a' }], '`from` is missing'],
    [[{ from: 'a', to: 'b', too: 1 }], '“too” is not known here'],
    [['a'], 'is written as an object'],
    [{}, '`responseParam` is missing'],
  ])('%j is refused', (set, message) => {
    expect(() => paginatorOf({ method: 'response.param', set })).toThrow(message);
  });
});

describe('merge', () => {
  const options = { method: 'response.param', merge: { from: 'continue', to: { query: '*' } } };

  test('puts a whole object into the request', () => {
    const { shown, stop } = run(paginatorOf(options, { params: { action: 'q', continue: '' } }), [
      page({ continue: { offset: 5, continue: '-||' } }),
      page({}),
    ]);
    expect(shown).toEqual([
      'GET users {"action":"q","continue":""}',
      'GET users {"action":"q","continue":"-||","offset":5}',
    ]);
    expect(stop).toBe('the response has no `continue`');
  });

  test('of something else is an error that names it', () => {
    expect(() => run(paginatorOf(options), [page({ continue: 'x' })])).toThrow(
      '`continue` of the response is to be merged into the request, and it is a text.',
    );
  });
});

describe('includeParams', () => {
  const pages = [page({ next: 'b' }), page({})];
  const params = { since: 1, size: 2 };
  const sent = (includeParams: Json | undefined, more: object = {}): string | undefined =>
    run(
      paginatorOf(
        {
          method: 'response.param',
          responseParam: 'next',
          queryParam: 'token',
          ...(includeParams === undefined ? {} : { includeParams }),
          ...more,
        },
        { params },
      ),
      pages,
    ).shown[1];

  test.each<[Json | undefined, string]>([
    [undefined, '{"token":"b"}'],
    [true, '{"since":1,"size":2,"token":"b"}'],
    [false, '{"token":"b"}'],
    [['size'], '{"size":2,"token":"b"}'],
    [{ except: ['since'] }, '{"size":2,"token":"b"}'],
  ])('%j', (includeParams, expected) => {
    expect(sent(includeParams)).toBe(`GET users ${expected}`);
  });

  test('is true where a source or a place is written as an object', () => {
    expect(sent(undefined, { responseParam: { path: 'next' } })).toBe(
      'GET users {"since":1,"size":2,"token":"b"}',
    );
    expect(sent(undefined, { queryParam: { param: 'token' } })).toBe(
      'GET users {"since":1,"size":2,"token":"b"}',
    );
  });

  test.each<Json>([{ but: ['a'] }, { except: 'a' }, [{}], 'some'])('%j is refused', (includeParams) => {
    expect(() => sent(includeParams)).toThrow(/includeParams|not said which/);
  });
});

describe('emptyPage', () => {
  const flag = { nextPageFlag: { field: 'more', stopOn: false } };

  test('stops a cursor that is always there', () => {
    const options = {
      method: 'response.param',
      responseParam: 'token',
      queryParam: 'token',
      emptyPage: 'stop',
    };
    expect(run(paginatorOf(options), [page({ token: 'a' }), page({ token: 'b' }, 0)]).stop).toBe(
      'the page has no rows',
    );
  });

  test.each([{ method: 'offset', limit: 2 }, { method: 'pagenum', limit: 2 }, { method: 'pagenum' }])(
    'goes on with %j until another rule ends it',
    (method) => {
      const pages = [page({ more: true }, 0), page({ more: true }, 1), page({ more: false }, 2)];
      expect(run(paginatorOf({ ...method, ...flag, emptyPage: 'goOn' }), pages).requests).toHaveLength(3);
      expect(() => paginatorOf({ ...method, emptyPage: 'goOn' })).toThrow('nothing ends the job');
    },
  );

  test('cannot go on by rows that do not come', () => {
    expect(() => paginatorOf({ method: 'offset', advance: 'rows', emptyPage: 'goOn', ...flag })).toThrow(
      'stands still',
    );
  });
});

describe('stopWhen', () => {
  test('keeps the page of which it holds, and says why', () => {
    const stop = stopOf({ value: 'page', is: 'atLeast', than: { path: 'pages' } }, [
      page({ page: 1, pages: 2 }),
      page({ page: 2, pages: 2 }),
    ]);
    expect(stop).toBe('stopWhen: page (2) is at least pages (2)');
  });

  test('is any of a list', () => {
    const conditions: Json = [
      { value: 'done', is: true },
      { value: { answer: 'rows' }, is: 'below', than: 2 },
    ];
    expect(stopOf(conditions, [page({}, 1)])).toBe('stopWhen: the number of rows (1) is below 2');
    expect(stopOf(conditions, [page({ done: 'yes' })])).toBe('stopWhen: done is true');
  });

  test('can compare with what was sent', () => {
    expect(stopOf({ value: { request: 'page' }, is: 'atLeast', than: 2 }, [page({}), page({})])).toBe(
      'stopWhen: the parameter “page” of the request (2) is at least 2',
    );
  });

  test.each<[Json, string]>([
    [{ value: { row: 'id' }, is: 'present' }, 'There is no “row” here.'],
    [{ value: 'a', is: 'atLest', than: 1 }, '“is” cannot be “atLest”.'],
    ['done', 'A condition is an object'],
  ])('%j is refused', (stopWhen, message) => {
    expect(() => paginatorOf({ method: 'link', stopWhen })).toThrow(
      expect.objectContaining({ code: 'pagination.invalid' }),
    );
    expect(() => paginatorOf({ method: 'link', stopWhen })).toThrow(
      new RegExp(message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')),
    );
  });
});
