import { afterAll, beforeAll, expect, test } from 'vitest';
import { brief } from '../../../src/lib/json/truncate-json.ts';
import { metaOf } from '../database.ts';
import { containing, startService, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;
beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'main' });
  await client.create('in.c-main', 't', 'id\n1\n2\n');
});
afterAll(async () => await api.stop());

const filter = (count: number, text = ''): { whereFilters: object[] } => ({
  whereFilters: [{ column: 'id', values: Array.from({ length: count }, (_, n) => `${n}${text}`) }],
});
const path = 'tables/in.c-main.t';

test('filters have 1,000 values at most, in whichever form they come', async () => {
  expect((await client.run('POST', `${path}/export-async`, filter(1000))).status).toBe('success');
  const older = { whereColumn: 'id', whereValues: Array.from({ length: 1001 }, (_, n) => String(n)) };
  for (const body of [filter(1001), older])
    for (const [method, place] of [
      ['POST', `${path}/export-async`],
      ['DELETE', `${path}/rows`],
    ] as const) {
      const refused = await api.call(method, place, body);
      expect([refused.status, refused.text]).toEqual([400, containing('1000 are allowed')]);
    }
  const two = [...filter(600).whereFilters, ...filter(600).whereFilters];
  expect((await api.call('POST', `${path}/export-async`, { whereFilters: two })).status).toBe(400);
});

test('a filter that is too large is refused before it is read', async () => {
  const refused = await api.call('DELETE', `${path}/rows`, filter(100, 'x'.repeat(20_000)));
  expect([refused.status, refused.body]).toMatchObject([413, { code: 'requestTooLarge' }]);
});

test(
  'a finished job keeps its parameters in short, and a list shows those of others so',
  { tags: 'thorough' },
  async () => {
    const job = await client.run('POST', `${path}/export-async`, filter(900, 'x'.repeat(900)));
    expect(job.status).toBe('success');
    const { text } = await api.call('GET', `jobs/${job.id}`);
    expect(text.length).toBeLessThan(20_000);
    expect(text).toContain('more"]');
    expect(JSON.parse(text)).toMatchObject({ operationParams: { export: { tableName: 'in.c-main.t' } } });

    const meta = await metaOf(api.dir);
    const params = JSON.stringify({ a: 'x'.repeat(30_000_000) });
    await meta.updateTable('jobs').set({ params }).where('id', '=', job.id).execute();
    await meta.destroy();
    const list = await api.call('GET', 'jobs?limit=20');
    expect(list.status).toBe(200);
    expect(list.text.length).toBeLessThan(200_000);
  },
);

test('what is short stays as it is, whatever it holds', () => {
  expect(brief('{"a":1.10,"b":[]}')).toBe('{"a":1.10,"b":[]}');
  const nested = { list: Array.from({ length: 500 }, () => Array.from({ length: 500 }, () => 'text')) };
  expect(brief(JSON.stringify(nested)).length).toBeLessThanOrEqual(16_384);
  expect(
    JSON.parse(brief(JSON.stringify({ id: 5, list: Array.from({ length: 9000 }, (_, n) => String(n)) }))),
  ).toEqual({
    id: 5,
    list: [...Array.from({ length: 20 }, (_, n) => String(n)), '… and 8980 more'],
  });
});
