import { describe, expect, test } from 'vitest';
import { StorageError } from '../../../../src/lib/errors.ts';
import { failureOf, isIn, pull, textIn, useStorage } from './support.ts';

const storage = useStorage();

describe('a mapping that is wrong', () => {
  test('a table that is missing is named with its place and the nearest one there is', async () => {
    const client = storage.client();
    const id = await storage.table('id\n1\n');
    const folder = await storage.folder();
    const error = await failureOf(
      pull(client, folder, { tables: [{ source: id.replace('users', 'user') }] }),
    );
    expect(error).toMatchObject({
      code: 'input.invalid',
      message: `There is no table “${id.replace('users', 'user')}” in the storage.`,
      where: { path: 'storage.input.tables[0].source' },
      hint: `Did you mean “${id}”?`,
      audience: 'user',
    });
    const bucket = id.replace('.users', '');
    const other = await failureOf(pull(client, folder, { tables: [{ source: `${bucket}.something` }] }));
    expect(other.hint).toBe(`The bucket ${bucket} has the tables users.`);
    const none = await failureOf(pull(client, folder, { tables: [{ source: 'out.c-elsewhere.something' }] }));
    expect(none.hint).toBe('An id has a stage, a bucket and a name, such as in.c-main.users.');
    expect(isIn(folder, '')).toBe(false);
  });

  test('all mistakes are told at once, in the order of the mapping, before anything is fetched', async () => {
    const client = storage.client();
    const id = await storage.table('id,name\n1,Ann\n');
    const folder = await storage.folder();
    const error = await failureOf(
      pull(client, folder, {
        tables: [
          { source: id, destination: 'users' },
          { source: id, destination: 'users', columns: ['nam'], where_column: 'x', where_values: ['1'] },
          { source: id, destination: '../out', days: 1, changed_since: '-1 day' },
          { destination: 'a', limit: 'many', where_operator: 'ge', columns: 'id' },
          { source: 'in.c-nowhere.users', destination: 'b', where_values: ['1'] },
        ],
        files: [{ limit: 3 }, { tags: ['a'], source: { tags: [{ name: 'b', match: 'maybe' }] } }],
      }),
    );
    expect(error.code).toBe('input.invalid');
    expect(error.message.split('\n')).toEqual([
      'The input mapping has 14 mistakes; nothing was fetched.',
      'storage.input.files[0].tags: Nothing says which files are meant. Give `tags`, `source.tags`, `query` or `file_ids`.',
      'storage.input.files[1].source.tags: `tags` and `source.tags` exclude each other. Keep `source.tags`.',
      'storage.input.files[1].source.tags[0].match: “maybe” is no way to match. Write `include` or `exclude`.',
      'storage.input.tables[1].columns[0]: The table has no column “nam”. Did you mean “name”?',
      'storage.input.tables[1].destination: “users” is the file of storage.input.tables[0], too. Give each table a file name of its own.',
      'storage.input.tables[1].where_column: The table has no column “x”. It has id, name.',
      'storage.input.tables[2].days: `days` and `changed_since` exclude each other. Keep `changed_since`.',
      'storage.input.tables[2].destination: “../out” cannot be the name of a file: it must be a name without slashes.',
      'storage.input.tables[3].columns: `columns` must be a list.',
      'storage.input.tables[3].limit: `limit` must be a whole number from 0.',
      'storage.input.tables[3].source: `source` is missing. It is the id of a table, such as in.c-main.users.',
      'storage.input.tables[3].where_operator: “ge” is no operator. Write `eq` or `ne`.',
      'storage.input.tables[4].source: There is no table “in.c-nowhere.users” in the storage. An id has a stage, a bucket and a name, such as in.c-main.users.',
      'storage.input.tables[4].where_column: `where_values` needs `where_column`.',
    ]);
    expect(isIn(folder, '')).toBe(false);
  });

  test('what the storage refuses or loses is told with its place', async () => {
    const client = storage.client();
    const id = await storage.table('id\n1\n');
    const folder = await storage.folder();
    const tables = [{ source: id, changed_since: 'the day before' }];
    const error = await failureOf(pull(client, folder, { tables }));
    expect(error).toMatchObject({ code: 'input.failed', where: { path: 'storage.input.tables[0]' } });
    expect(error.message).toContain(`The table “${id}” could not be fetched: The storage service answered`);
    expect(error.message).toContain('"the day before" is no time');

    const stranger = storage.client({ token: '1-1-wrong' });
    await expect(pull(stranger, folder, { tables: [{ source: id }] })).rejects.toThrow(StorageError);
  });

  test('a table that the token may not read is named', async () => {
    const [mine, other] = [await storage.table('id\n1\n'), await storage.table('id\n1\n')];
    const bucketPermissions = { [mine.replace('.users', '')]: 'read' } as const;
    const { token = '' } = await storage
      .client()
      .tokens.create({ description: 'one bucket', bucketPermissions });
    const client = storage.client({ token });
    const folder = await storage.folder();
    await pull(client, folder, { tables: [{ source: mine, destination: 'mine' }] }, { branch: '77' });
    expect(textIn(folder, 'tables/mine')).toBe('"id"\n"1"\n');
    const error = await failureOf(pull(client, folder, { tables: [{ source: other }] }));
    expect(error.message).toContain(`The table “${other}” may not be read:`);
    expect(error.where.path).toBe('storage.input.tables[0].source');
  });
});
