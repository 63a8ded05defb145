import { expect, test } from 'vitest';
import type { TableBriefs } from '../../../src/storage/protocol/table-brief.ts';
import { startService } from '../harness.ts';

test('tables are listed page by page, as they are searched and sorted', async () => {
  const service = await startService();
  try {
    const make = async (stage: string, name: string, table: string, rows: number): Promise<string> => {
      await service.call('POST', 'buckets', { name, stage });
      const data = ['id,name', ...Array.from({ length: rows }, (_, i) => `${i},n`)].join('\n');
      const made = await service.call('POST', `buckets/${stage}.c-${name}/tables`, {
        name: table,
        dataString: data,
      });
      expect({ status: made.status, text: made.status === 201 ? '' : made.text }).toEqual({
        status: 201,
        text: '',
      });
      return `${stage}.c-${name}.${table}`;
    };
    const [orders, users, items] = [
      await make('in', 'shop', 'orders', 3),
      await make('in', 'shop', 'users', 1),
      await make('in', 'stock', 'items', 2),
    ];
    await service.call('POST', 'buckets', { name: 'seen', stage: 'out' });
    const alias = await service.call('POST', 'buckets/out.c-seen/table-aliases', {
      sourceTable: orders,
      name: 'orders',
    });
    expect(alias.status).toBe(201);
    const list = async (query: string, token?: string): Promise<TableBriefs> => {
      const headers = token === undefined ? {} : { 'X-StorageApi-Token': token };
      return (await service.call('GET', `tables/brief${query}`, undefined, headers)).body as TableBriefs;
    };
    const ids = async (query: string): Promise<readonly string[]> =>
      (await list(query)).tables.map(({ id }) => id);

    const all = await list('');
    expect(all).toMatchObject({ total: 4, totalRows: 6 });
    expect(all.tables.map(({ id }) => id)).toEqual([orders, users, items, 'out.c-seen.orders']);
    expect(all.tables[3]).toMatchObject({ isAlias: true, rowsCount: 3, bucket: 'out.c-seen' });
    expect(await ids('?sort=rows')).toEqual([orders, 'out.c-seen.orders', items, users]);
    expect(await ids('?sort=rows&isReversed=true&limit=1')).toEqual([users]);
    expect(await ids('?sort=changed&limit=1')).toEqual([items]);
    expect(await ids('?limit=2&offset=1')).toEqual([users, items]);
    expect(await list('?search=SHOP%20orders&limit=0')).toMatchObject({ total: 1, tables: [] });
    expect(await ids('?bucket=in.c-stock')).toEqual([items]);
    const { body } = await service.call('POST', 'tokens', {
      description: 'stock',
      bucketPermissions: { 'in.c-stock': 'read' },
    });
    const { token } = body as { token: string };
    expect(await list('', token)).toMatchObject({ total: 1, totalRows: 2, tables: [{ id: items }] });
    expect((await service.call('GET', 'tables/brief?sort=other')).status).toBe(400);
  } finally {
    await service.stop();
  }
});
