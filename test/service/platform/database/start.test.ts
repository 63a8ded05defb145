import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../../src/lib/log.ts';
import { openDatabase, requireUsable } from '../../../../src/service/platform/database/database.ts';
import { openMeta } from '../../../../src/service/stores/metadata/database.ts';
import { migrate, missingMigrations } from '../../../../src/service/stores/metadata/migrate.ts';
import { databaseOf, forgetDatabase, isOnPostgres } from '../../database.ts';
import { containing } from '../../harness.ts';
import { proxyTo } from './proxy.ts';

/** Returns the error of a start with that address. */
async function refusal(url: string, waitMs = 0): Promise<unknown> {
  return await openDatabase({ url, waitMs }, silentLog).then(
    () => 'opened',
    (error: unknown) => error,
  );
}

test.each([
  ['postgres://u:se%ret@h/d', 'command.invalid'],
  ['http://u:secret@h/d', 'command.invalid'],
  ['u:secret@h', 'command.invalid'],
  ['postgres://u:secret@127.0.0.1:1/d', 'database.unreachable'],
  ['postgres://u:secret@no.invalid/d', 'database.unreachable'],
  ['postgres://u:secret@127.0.0.1:1/d?sslmode=verify-ca', 'database.tls'],
  ['postgres://u:secret@a:5432,b:5432/d', 'command.invalid'],
  ['postgres://u:secret@a,b', 'command.invalid'],
  ['postgres://a,b/d?password=secret&target_session_attrs=read-write', 'command.invalid'],
  ['postgres://u:secret@a/d?host=a,b', 'command.invalid'],
  ['postgres://u:secret,a@127.0.0.1:1/d?application_name=a,b', 'database.unreachable'],
])('%s is refused, and its password is in no message', async (url, code) => {
  const error = await refusal(url);
  expect(error).toMatchObject({ code, audience: 'user' });
  expect(JSON.stringify([error, String(error), (error as { hint: string }).hint])).not.toMatch(
    /secret|se%ret/,
  );
});

test.each([
  [{ version: 140_012, encoding: 'UTF8', is_replica: false, is_read_only: 'off' }, 'database.tooOld'],
  [{ version: 150_000, encoding: 'LATIN1', is_replica: false, is_read_only: 'off' }, 'database.refused'],
  [{ version: 150_000, encoding: 'UTF8', is_replica: true, is_read_only: 'off' }, 'database.readOnly'],
])('a server that is %o is refused', async (facts, code) => {
  const rows = async (): Promise<{ rows: (typeof facts)[] }> => Promise.resolve({ rows: [facts] });
  await expect(requireUsable(rows, 'postgres://h/d')).rejects.toMatchObject({ code });
});

describe.runIf(isOnPostgres)('on a server', () => {
  test('each thing that is wrong has its name', async () => {
    const { url } = (await databaseOf('named')) ?? { url: '' };
    const changed = (change: (address: URL) => void): string => {
      const address = new URL(url);
      change(address);
      return address.href;
    };
    const wrong: readonly [string, string, string][] = [
      [changed((address) => (address.pathname = '/not_there')), 'database.refused', 'no database'],
      [changed((address) => (address.username = 'nobody_here')), 'database.refused', 'did not accept'],
      [changed((address) => (address.search = '?sslmode=require')), 'database.tls', 'secure connection'],
      [
        changed((address) => (address.search = '?options=-c%20default_transaction_read_only%3Don')),
        'database.readOnly',
        'takes no changes',
      ],
    ];
    for (const [address, code, message] of wrong)
      expect(await refusal(address)).toMatchObject({ code, message: containing(message) });
    await forgetDatabase('named');
  });

  test('a schema that another user owns is refused', async () => {
    const { url } = (await databaseOf('owned')) ?? { url: '' };
    const owner = await openDatabase({ url }, silentLog);
    const other = `other_${process.pid}`;
    await owner.pool.query(`create role ${other} login`);
    const address = new URL(url);
    address.username = other;
    const database = await openDatabase({ url: address.href }, silentLog);
    try {
      await expect(openMeta(database)).rejects.toMatchObject({
        code: 'database.refused',
        audience: 'user',
        message: containing('permission denied for schema gex'),
      });
    } finally {
      await database.close();
      await owner.pool.query(`drop role ${other}`);
      await owner.close();
      await forgetDatabase('owned');
    }
  });

  test('one that is not up yet is waited for', async () => {
    const { url } = (await databaseOf('waited')) ?? { url: '' };
    const proxy = await proxyTo(url);
    await proxy.cut();
    const lines: string[] = [];
    const log = { ...silentLog, warn: (text: string) => void lines.push(text) };
    const opening = openDatabase({ url: proxy.url }, log);
    await expect.poll(() => lines).toEqual(['Waiting for the database']);
    await proxy.mend();
    await (await opening).close();
    await forgetDatabase('waited');
  });

  test('a schema of a newer version is refused', async () => {
    const options = (await databaseOf('newer')) ?? { url: '' };
    const database = await openDatabase(options, silentLog);
    await database.pool.query(
      "insert into gex.kysely_migration values ('9999-later', '2030-01-01T00:00:00Z')",
    );
    await expect(openMeta(database)).rejects.toMatchObject({
      code: 'database.newer',
      message: containing('9999-later'),
    });
    await database.close();
    await forgetDatabase('newer');
  });

  test('a schema that the migrations of before have made goes on, and an older one is refused', async () => {
    const options = (await databaseOf('before')) ?? { url: '' };
    const database = await openDatabase(options, silentLog);
    const { pool } = database;
    const pretend = async (names: readonly string[]): Promise<void> => {
      await pool.query('delete from gex.kysely_migration');
      for (const name of names)
        await pool.query("insert into gex.kysely_migration values ($1, '2026-01-01T00:00:00Z')", [name]);
    };
    await pool.query("insert into gex.settings values ('kept', 'yes')");
    await pretend(OF_BEFORE);
    const meta = await openMeta(database);
    expect(await missingMigrations(meta)).toEqual([]);
    const kept = meta.selectFrom('settings').select('value').where('name', '=', 'kept');
    expect(await kept.executeTakeFirst()).toEqual({ value: 'yes' });
    await pretend(WITHOUT_THE_LAST);
    await expect(openMeta(database)).rejects.toMatchObject(OLDER);
    await database.close();
    await forgetDatabase('before');
  });
});

/** Some of the names that a database of before has, up to date in what came after them. */
const LATER = readdirSync(new URL('../../../../src/service/stores/metadata/migrations/', import.meta.url))
  .map((file) => file.replace('.ts', ''))
  .filter((name) => name > '0028')
  .toSorted();
const OF_BEFORE = [
  '0001-first',
  '0002-version-changes',
  '0024-jobs-of-tables',
  '0028-table-stamps',
  ...LATER,
];

const WITHOUT_THE_LAST = OF_BEFORE.slice(0, 3);

const OLDER = { code: 'database.older', message: containing('0024-jobs-of-tables') };

test('a folder of a newer version is refused', async () => {
  const { sql } = await import('kysely');
  const meta = await openMeta(':memory:');
  await sql`insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00Z')`.execute(meta);
  await expect(migrate(meta)).rejects.toMatchObject({ code: 'database.newer' });
  await meta.destroy();
});

test('a folder that the migrations of before have made goes on, also after a kill, and an older one is refused', async () => {
  const meta = await openMeta(':memory:');
  const done = meta.withTables<{ kysely_migration: { name: string; timestamp: string } }>();
  const pretend = async (names: readonly string[]): Promise<void> => {
    await done.deleteFrom('kysely_migration').execute();
    const timestamp = '2026-01-01T00:00:00Z';
    await done
      .insertInto('kysely_migration')
      .values(names.map((name) => ({ name, timestamp })))
      .execute();
  };
  await meta.insertInto('settings').values({ name: 'kept', value: 'yes' }).execute();
  for (const names of [OF_BEFORE, ['0001-schema', ...OF_BEFORE.slice(1)]]) {
    await pretend(names);
    expect(await missingMigrations(meta)).toEqual([]);
    await migrate(meta);
    const left = await done.selectFrom('kysely_migration').select('name').execute();
    expect(left.map(({ name }) => name)).toEqual(['0001-schema', ...LATER]);
  }
  expect(await meta.selectFrom('settings').selectAll().execute()).toEqual([{ name: 'kept', value: 'yes' }]);
  await pretend(WITHOUT_THE_LAST);
  await expect(migrate(meta)).rejects.toMatchObject(OLDER);
  await meta.destroy();
});
