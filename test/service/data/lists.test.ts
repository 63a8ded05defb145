import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Meta } from '../../../src/service/stores/metadata/database.ts';
import { recordFinishedJob } from '../../../src/service/stores/metadata/jobs.ts';
import { dataPart } from '../../../src/service/start/data.ts';
import { systemEnv } from '../../../src/lib/env.ts';
import { startService, type Running } from '../harness.ts';
import { clientOf, type JobBody } from './client.ts';

let api: Running;
let meta: Meta;
let client: ReturnType<typeof clientOf>;
beforeAll(async () => {
  api = await startService({
    parts: [
      (context) => {
        meta = context.meta;
        return {};
      },
      dataPart,
    ],
  });
  client = clientOf(api);
});
afterAll(async () => await api.stop());

test('a list of tables shows of each what its detail shows, whatever its columns and metadata are called', async () => {
  await api.call('POST', 'buckets', { name: 'main' });
  await api.call('POST', 'buckets', { name: 'other' });
  const names = ['b', 'constructor', '10', '2', 'toString'];
  await client.create('in.c-main', 'plain', `${names.join(',')}\n`);
  await client.create('in.c-main', 'plain10', 'a\n');
  await client.create('in.c-other', 'bare', 'a\n');
  await client.run('POST', 'buckets/in.c-other/tables-definition', {
    name: 'typed',
    primaryKeysNames: [],
    columns: [{ name: 'x', definition: { type: 'INTEGER' } }],
  });
  await api.call('POST', 'buckets/in.c-other/table-aliases', {
    sourceTable: 'in.c-main.plain',
    name: 'alias',
  });
  const odd = 'a "quoted" \\ value\u2028, \u{1F600} and\ta tab';
  for (const columnName of ['toString', 'constructor', '10', 'b'])
    for (const key of ['k1', 'k2'])
      await api.call('POST', `columns/in.c-main.plain.${columnName}/metadata`, {
        provider: 'p',
        metadata: [{ key, value: odd }],
      });
  await api.call('POST', 'tables/in.c-main.plain/metadata', {
    provider: 'q',
    metadata: [
      { key: 'later', value: '2' },
      { key: 'first', value: '1' },
    ],
  });
  await api.call('POST', 'tables/in.c-main.plain10/metadata', {
    provider: 'p',
    metadata: [{ key: 'k', value: '' }],
  });

  const { body } = await api.call(
    'GET',
    'tables?include=buckets,columns,metadata,columnMetadata,sourceMetadata,sourceColumnMetadata',
  );
  const list = body as { id: string; columnMetadata: object; metadata: { key: string }[]; bucket: object }[];
  expect(list.map(({ id }) => id)).toEqual([
    'in.c-main.plain',
    'in.c-main.plain10',
    'in.c-other.alias',
    'in.c-other.bare',
    'in.c-other.typed',
  ]);
  for (const table of list) {
    const detail = (await api.call('GET', `tables/${table.id}`)).body as { bucket: object };
    expect(detail).toEqual({ ...table, bucket: { ...table.bucket, metadata: [] } });
    // In the same order as well.
    expect(Object.keys(detail)).toEqual(Object.keys(table));
  }
  const [plain] = list;
  expect(
    Object.entries(plain?.columnMetadata ?? {}).map(([name, items]) => [name, items as unknown]),
  ).toEqual(
    ['10', 'toString', 'constructor', 'b'].map((name) => [
      name,
      [
        expect.objectContaining({ key: 'k1', value: odd, provider: 'p' }),
        expect.objectContaining({ key: 'k2', value: odd, provider: 'p' }),
      ],
    ]),
  );
  expect(plain?.metadata.map(({ key }) => key)).toEqual(['later', 'first']);
  expect(list.map(({ columnMetadata }) => columnMetadata).slice(1)).toEqual([[], [], [], []]);
});

const jobOf = (n: number): Parameters<typeof recordFinishedJob>[2] => ({
  branchId: 1,
  operation: 'tableUpdate',
  params: { n },
  results: JSON.stringify({ n, text: 'x'.repeat(n % 10 === 0 ? 1_000_000 : 10) }),
  runId: null,
  author: { creator_id: 1, creator_description: 'x' },
});

test(
  'a list of jobs is in order, and long parameters and results are shortened, also of many at once',
  { tags: 'thorough' },
  async () => {
    for (let n = 0; n < 60; n++) await recordFinishedJob(meta, systemEnv, jobOf(n));
    const { body } = await client.call<JobBody[]>('GET', 'jobs?limit=50');
    const results = body.map((each) => each.results as { n: number; text: string });
    expect(results.map(({ n }) => n)).toEqual(Array.from({ length: 50 }, (_, n) => 59 - n));
    for (const { text } of results) expect(text.length).toBeLessThan(2000);
    const { body: rest } = await client.call<JobBody[]>('GET', 'jobs?limit=5&offset=50');
    expect(rest.map((each) => (each.results as { n: number }).n)).toEqual([9, 8, 7, 6, 5]);
  },
);
