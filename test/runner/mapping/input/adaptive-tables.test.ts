// @module-tag thorough
import { describe, expect, test } from 'vitest';
import type { StorageClient } from '../../../../src/storage/client/index.ts';
import { failureOf, keptLog, pull, textIn, useStorage } from './support.ts';

const storage = useStorage();

describe('only what changed', () => {
  test('“adaptive” fetches all at first, then what came since; no row is missed, and other state stays', async () => {
    const client = storage.client();
    const id = await storage.table('id,name\n1,Ann\n', { primaryKey: ['id'] });
    const mapping = { tables: [{ source: id, destination: 'users', changed_since: 'adaptive' }] };
    const folder = await storage.folder();
    const before = {
      other: 1,
      input: { tables: [{ source: 'in.c-gone.x', lastImportDate: '2020-01-01' }], mine: [2] },
    };

    const { lastImportDate } = await client.tables.detail(id);
    storage.wait(5000);
    const first = await pull(client, folder, mapping, { state: before });
    expect(textIn(folder, 'tables/users')).toBe('"id","name"\n"1","Ann"\n');
    const after = `${new Date(Date.parse(String(lastImportDate)) + 1000).toISOString().slice(0, 19)}+0000`;
    expect(first.state).toEqual({
      other: 1,
      input: { tables: [{ source: id, lastImportDate: after }], mine: [2], files: [] },
    });

    await storage.load(id, 'id,name\n2,Bo\n');
    const second = await pull(client, folder, mapping, { state: first.state });
    expect(textIn(folder, 'tables/users')).toBe('"id","name"\n"2","Bo"\n');
    // Perhaps in the very second of that import and that pull: it must not be passed over.
    await storage.load(id, 'id,name\n3,Cy\n');
    storage.wait(5000);
    const third = await pull(client, folder, mapping, { state: second.state });
    expect(textIn(folder, 'tables/users')).toContain('"3","Cy"\n');
    const fourth = await pull(client, folder, mapping, { state: third.state });
    expect(textIn(folder, 'tables/users')).toBe('"id","name"\n');
    expect(fourth.state).toEqual(third.state);
  });

  test('rows that are loaded while other tables are still fetched do not come again', async () => {
    const id = await storage.table('id\n1\n');
    const client = storage.client();
    const loadLater = new Proxy(client, {
      get: (target, key: keyof StorageClient) =>
        key === 'tables'
          ? {
              ...target.tables,
              find: async (given: string) => {
                const found = await target.tables.find(given);
                storage.wait(2000);
                await storage.load(id, 'id\n2\n');
                storage.wait(5000);
                return found;
              },
            }
          : target[key],
    });
    const mapping = { tables: [{ source: id, destination: 'users', changed_since: 'adaptive' }] };
    const folder = await storage.folder();
    const { state } = await pull(loadLater, folder, mapping);
    expect(textIn(folder, 'tables/users')).toBe('"id"\n"1"\n"2"\n');
    await pull(client, folder, mapping, { state });
    expect(textIn(folder, 'tables/users')).toBe('"id"\n');
  });

  test('rows that are loaded between the look at a table and its export come again, and are not lost', async () => {
    const id = await storage.table('id,name\n1,Ann\n', { primaryKey: ['id'] });
    const client = storage.client();
    const load = async (): Promise<void> => {
      storage.wait(2000);
      await storage.load(id, 'id,name\n2,Bo\n');
    };
    const interrupted = new Proxy(client, {
      get: (target, key: keyof StorageClient) =>
        key === 'tables'
          ? {
              ...target.tables,
              export: async (...all: Parameters<StorageClient['tables']['export']>) => {
                await load();
                return await target.tables.export(...all);
              },
            }
          : target[key],
    });
    const mapping = { tables: [{ source: id, destination: 'users', changed_since: 'adaptive' }] };
    const folder = await storage.folder();

    const { state } = await pull(interrupted, folder, mapping);

    expect(textIn(folder, 'tables/users')).toBe('"id","name"\n"1","Ann"\n"2","Bo"\n');
    await pull(client, folder, mapping, { state });
    expect(textIn(folder, 'tables/users')).toContain('"2","Bo"\n');
  });

  test('`changed_since`, `changed_until` and `days` are times', async () => {
    const client = storage.client();
    const id = await storage.table('id\n1\n', { primaryKey: ['id'] });
    const since = new Date(Date.parse((await client.tables.detail(id)).created) + 3_600_000).toISOString();
    const folder = await storage.folder();
    await pull(client, folder, {
      tables: [
        { source: id, destination: 'later', changed_since: since },
        { source: id, destination: 'earlier', changed_until: since },
        { source: id, destination: 'days', days: 2 },
        { source: id, destination: 'unix', changed_since: 1_700_000_000 },
      ],
    });
    expect(textIn(folder, 'tables/later')).toBe('"id"\n');
    for (const name of ['earlier', 'days', 'unix'])
      expect(textIn(folder, `tables/${name}`)).toBe('"id"\n"1"\n');
  });

  test('a state that cannot be used is an error, and none where nothing is adaptive', async () => {
    const client = storage.client();
    const id = await storage.table('id\n1\n');
    const folder = await storage.folder();
    const state = { input: { tables: [{ source: id }], files: 'x' } };
    const adaptive = { tables: [{ source: id, changed_since: 'adaptive' }] };
    const error = await failureOf(pull(client, folder, adaptive, { state }));
    expect(error.code).toBe('input.invalid');
    expect(error.message).toContain('state.storage.input.files: The state cannot be used');
    expect(error.message).toContain('state.storage.input.tables[0]:');
    expect((await failureOf(pull(client, folder, adaptive, { state: 7 }))).where.path).toBe('state.storage');
    await pull(client, folder, { tables: [{ source: id }] }, { state });
    expect((await pull(client, folder, adaptive, { state: [] })).state).toMatchObject({
      input: { files: [] },
    });
  });

  test('what “adaptive” would leave out for ever is warned of', async () => {
    const client = storage.client();
    const id = await storage.table('id\n1\n');
    const { log, lines } = keptLog();
    const tables = [
      { source: id, destination: 'a', changed_since: 'adaptive', limit: 5 },
      { source: id, destination: 'b', where_column: 'id', where_values: [] },
    ];
    await pull(client, await storage.folder(), { tables }, { log });
    expect(lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      expect.stringContaining('storage.input.tables[0]: with `limit` or `changed_until`, “adaptive”'),
      'storage.input.tables[1]: `where_column` has no `where_values`, so all rows are fetched',
    ]);
  });
});
