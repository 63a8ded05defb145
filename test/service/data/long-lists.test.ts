// @module-tag thorough
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { createConfiguration } from '../../../src/service/domain/configurations/write.ts';
import { createRow } from '../../../src/service/domain/configurations/rows.ts';
import type { Meta } from '../../../src/service/stores/metadata/database.ts';
import { transactionsOf } from '../../../src/service/stores/metadata/transaction.ts';
import { metaOf } from '../database.ts';
import { startService, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;
/** As another process over the same database has it. */
let meta: Meta;
beforeEach(async () => {
  api = await startService();
  client = clientOf(api);
  meta = await metaOf(api.dir);
});
afterEach(async () => {
  await meta.destroy();
  await api.stop();
});

const ODD = 'a "quoted" \\ / \u2028 \u{1F600}\u0001\u001F\u007F\0 \u{F8D0} \u{F8D0}0\t\r\n\b\f';

test('a long list is compressed for a client that takes it so, and the same for every other', async () => {
  await api.call('POST', 'buckets', { name: 'long' });
  for (let i = 0; i < 5; i++) await client.create('in.c-long', `table_${i}`, 'x,y\n');
  const list = async (encoding: string) =>
    await api.call('GET', 'tables', undefined, { 'accept-encoding': encoding });
  const [plain, packed, refused] = await Promise.all([list('identity'), list('gzip, br'), list('gzip;q=0')]);
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(packed.headers.get('vary')).toBe('Accept-Encoding');
  for (const { headers } of [plain, refused]) expect(headers.get('content-encoding')).toBeNull();
  expect(new Set([plain.text, packed.text, refused.text]).size).toBe(1);
});

test('a list is JSON as the platform writes it, whatever its texts are', async () => {
  await api.call('POST', 'buckets', { name: 'odd' });
  await client.create('in.c-odd', 'a', 'x,y\n');
  await client.create('in.c-odd', 'a-b', 'x\n');
  for (const owner of ['tables/in.c-odd.a', 'columns/in.c-odd.a.y', 'columns/in.c-odd.a-b.x'])
    await api.call('POST', `${owner}/metadata`, { provider: 'p', metadata: [{ key: 'k', value: ODD }] });
  const shown = { key: 'k', value: ODD, provider: 'p' };

  const tables = await api.call('GET', 'buckets/in.c-odd/tables');
  expect(tables.text).toBe(JSON.stringify(tables.body));
  expect(tables.headers.get('content-type')).toBe('application/json');
  expect(tables.headers.get('content-length')).toBe(String(Buffer.byteLength(tables.text)));
  expect(tables.body).toMatchObject([
    { id: 'in.c-odd.a', metadata: [shown], columnMetadata: { y: [shown] } },
    { id: 'in.c-odd.a-b', metadata: [], columnMetadata: { x: [shown] } },
  ]);

  const configs = 'components/ex-generic-v2/configs';
  const configuration = { b: ODD, a: [], n: 1 };
  const fields = { name: ODD, description: ODD, changeDescription: ODD, configuration };
  await api.call('POST', configs, { ...fields, configurationId: 'odd', state: { s: ODD } });
  for (const rowId of ['r2', 'r1']) await api.call('POST', `${configs}/odd/rows`, { ...fields, rowId });
  await api.call('POST', `${configs}/odd/rows`, { rowId: 'r0' });
  await api.call('PUT', `${configs}/odd`, { rowsSortOrder: ['r2', 'r0', 'r1'] });
  await api.call('POST', `${configs}/odd/rows`, { rowId: 'gone' });
  await api.call('DELETE', `${configs}/odd/rows/gone`);
  const detail = await api.call('GET', `${configs}/odd`);
  expect(detail.body).toMatchObject({
    name: ODD,
    configuration,
    rows: [{ id: 'r2' }, { id: 'r0' }, { id: 'r1' }],
  });
  expect((await api.call('GET', configs)).text).toBe(`[${detail.text}]`);
  const { body } = await api.call('GET', 'components?include=configuration,rows,state');
  expect(body).toMatchObject([{ id: 'ex-generic-v2', configurations: [JSON.parse(detail.text)] }]);
  await api.call('DELETE', `${configs}/odd`);
  expect((await api.call('GET', configs)).text).toBe('[]');
  expect((await api.call('GET', 'components')).text).toBe('[]');
});

test('a list shows at once what another process has changed, and a limited token what is its own', async () => {
  await api.call('POST', 'buckets', { name: 'seen' });
  await api.call('POST', 'buckets', { name: 'unseen' });
  await client.create('in.c-seen', 't', 'x\n');
  await client.create('in.c-unseen', 't', 'x\n');
  const token = (
    (
      await api.call('POST', 'tokens', {
        description: 'limited',
        bucketPermissions: { 'in.c-seen': 'read' },
      })
    ).body as { token: string }
  ).token;
  const list = async (): Promise<unknown> =>
    (
      await api.call('GET', 'tables?include=columns,metadata,columnMetadata,buckets', undefined, {
        'x-storageapi-token': token,
      })
    ).body;
  expect(await list()).toMatchObject([{ id: 'in.c-seen.t', columns: ['x'], metadata: [], rowsCount: 0 }]);

  await meta
    .updateTable('tables')
    .set({ rows_count: 7, display_name: 'u' })
    .where('id', '=', 'in.c-seen.t')
    .execute();
  await meta.updateTable('table_columns').set({ name: 'z' }).where('table_id', '=', 'in.c-seen.t').execute();
  await meta.updateTable('buckets').set({ description: 'new' }).where('id', '=', 'in.c-seen').execute();
  await api.call('POST', 'tables/in.c-seen.t/metadata', {
    provider: 'p',
    metadata: [{ key: 'k', value: 'v' }],
  });
  expect(await list()).toMatchObject([
    {
      id: 'in.c-seen.t',
      displayName: 'u',
      rowsCount: 7,
      columns: ['z'],
      metadata: [{ key: 'k', value: 'v' }],
      bucket: { description: 'new', rowsCount: 7 },
    },
  ]);
});

test('a list of more than is read at once has each of them once, in order', async () => {
  await api.call('POST', 'buckets', { name: 'many' });
  await client.create('in.c-many', 'model', 'x\n');
  const model = await meta
    .selectFrom('tables')
    .selectAll()
    .where('id', '=', 'in.c-many.model')
    .executeTakeFirstOrThrow();
  const names = Array.from({ length: 1500 }, (_, n) => `t${n}`);
  const rows = names.map((name) => ({ ...model, id: `in.c-many.${name}`, name, display_name: name }));
  for (let start = 0; start < rows.length; start += 250)
    await meta
      .insertInto('tables')
      .values(rows.slice(start, start + 250))
      .execute();
  const { body } = await api.call('GET', 'buckets/in.c-many/tables');
  expect((body as { name: string }[]).map(({ name }) => name)).toEqual(['model', ...names.toSorted()]);

  const key = { branch_id: model.branch_id, component_id: 'ex-generic-v2' };
  const change = { author: { creator_id: 1, creator_description: 'x' }, env: systemEnv, text: undefined };
  const ids = Array.from({ length: 102 }, (_, n) => `c${n}`);
  for (const configuration_id of ids) {
    const of = { ...key, configuration_id };
    // Longer together than what is sent at once.
    const configuration = JSON.stringify({ text: configuration_id.repeat(2000) });
    await createConfiguration(transactionsOf(meta), of, { name: configuration_id, configuration }, change);
  }
  await createRow(
    transactionsOf(meta),
    { ...key, configuration_id: 'c101' },
    'r',
    { name: 'r', configuration: '{}' },
    change,
  );
  const found = (await api.call('GET', 'components/ex-generic-v2/configs')).body as {
    id: string;
    configuration: { text: string };
    rows: object[];
  }[];
  for (const { id, configuration } of found) expect(configuration.text).toBe(id.repeat(2000));
  expect(found.map(({ id }) => id)).toEqual(ids.toSorted());
  expect(found.filter(({ rows: own }) => own.length > 0).map(({ id }) => id)).toEqual(['c101']);
});
