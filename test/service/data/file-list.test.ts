import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
});
afterAll(async () => {
  await api.stop();
});

const find = async (query: string): Promise<string[]> => {
  const { body } = await client.call<{ name: string }[]>('GET', `files?${query}`);
  return body.map(({ name }) => name.slice(0, 1));
};

describe('the list', () => {
  let ids: number[];
  beforeAll(async () => {
    ids = [];
    for (const [name, tags] of [
      ['alpha.csv', ['list-a', 'list-all']],
      ['beta.csv', ['list-b', 'list-all']],
      ['gamma 50%.csv', ['list-all', 'with/slash']],
    ] as const) {
      const { body } = await client.call<{ id: number }>(
        'POST',
        'files/prepare',
        { name, tags },
        { 'X-KBC-RunId': `run-${name.slice(0, 1)}` },
      );
      ids.push(body.id);
    }
  });

  test.each([
    ['tags[]=list-a&tags[]=list-b', ['b', 'a']],
    ['q=tags:list-all', ['g', 'b', 'a']],
    ['q=tags:list-all AND NOT name:beta', ['g', 'a']],
    ['q=name:ALPHA', ['a']],
    ['q=(tags:list-a OR tags:list-b) AND name:csv', ['b', 'a']],
    ['q=tags:list-all -beta', ['g', 'b', 'a']],
    ['q=tags:"with/slash"', ['g']],
    ['q=name:"50%25"', ['g']],
    ['q=tags:list-%3F AND name:a*', ['a', 'b'].toReversed()],
    ['runId=run-a', ['a']],
    ['tags[]=list-all&limit=1&offset=1', ['b']],
    ['q=nothing-like-that', []],
    ['q=tags:(list-a OR list-b)', ['b', 'a']],
    ['q=tags:(list-all AND NOT (list-a OR list-b))', ['g']],
    ['q=name:(alpha* beta*) AND tags:list-b', ['b']],
    ['runId=%25', []],
  ])('with %s', async (query, expected) => {
    const found = await find(query);
    if (query.includes('-beta')) expect(found).toEqual(expect.arrayContaining(['g', 'a']));
    else expect(found).toEqual(expected);
  });

  test('is bounded by ids, which are not in it themselves', async () => {
    expect(await find(`q=id:${ids[1]}`)).toEqual(['b']);
    expect(await find(`tags[]=list-all&sinceId=${ids[0]}`)).toEqual(['g', 'b']);
    expect(await find(`tags[]=list-all&maxId=${ids[2]}`)).toEqual(['b', 'a']);
  });

  test.each(['q=name:', 'q=(a', 'q=a)', 'q=AND', 'q="open', 'q=size:3', 'q=id:x'])(
    '%s is a mistake',
    async (query) => {
      const answer = await api.call('GET', `files?${query}`);
      expect([answer.status, answer.body]).toEqual([400, expect.objectContaining({ code: 'query.syntax' })]);
    },
  );

  test('finds a name in letters beyond ASCII', async () => {
    await api.call('POST', 'files/prepare', { name: 'Účet.csv' });
    expect(await find(`q=name:${encodeURIComponent('Účet')}`)).toEqual(['Ú']);
  });

  test.each([
    ['terms', 'a '.repeat(4000)],
    ['brackets', `${'('.repeat(2000)}a${')'.repeat(2000)}`],
    ['negations', `${'NOT '.repeat(2000)}a`],
    ['alternatives', `a${' OR b AND c'.repeat(800)}`],
    ['characters', 'a'.repeat(20_000)],
  ])('refuses a query of too many %s', async (_what, query) => {
    const answer = await api.call('GET', `files?q=${encodeURIComponent(query)}`);
    expect([answer.status, answer.body]).toEqual([400, expect.objectContaining({ code: 'query.syntax' })]);
  });

  test('takes a query of many terms', async () => {
    const answer = await api.call(
      'GET',
      `files?q=${Array.from({ length: 390 }, () => 'id:1').join('+AND+')}`,
    );
    expect([answer.status, answer.body]).toEqual([200, []]);
    expect((await api.call('GET', `files?q=${'a+'.repeat(790)}`)).status).toBe(200);
    expect(
      (await api.call('GET', `files?q=${'('.repeat(49)}${'a+'.repeat(600)}${')'.repeat(49)}`)).status,
    ).toBe(200);
  });

  test('a tag that is no list is refused', async () => {
    expect((await api.call('GET', 'files?tags=x')).body).toMatchObject({
      code: 'storage.validation',
      errors: [{ key: 'tags', message: 'This value should be of type array.' }],
    });
  });
});
