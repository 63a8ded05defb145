import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPostgresEngine } from '../../../../../src/service/stores/tables/postgres/engine.ts';
import { silentLog } from '../../../../../src/lib/log.ts';
import { asAdmin, makeDatabase, SERVER } from './database.ts';
import { load, openEngine, useDatabase } from './support.ts';
import type { Pool } from 'pg';
import type { TableEngine } from '../../../../../src/service/stores/tables/engine.ts';

describe.runIf(SERVER)('tables as people see them in the database', () => {
  const given = useDatabase();
  let engine: TableEngine;
  const create = { primaryKey: ['id'] };
  const query = async (sql: string, pool: Pool = given.database.pool): Promise<unknown[]> =>
    (await pool.query<unknown[]>({ text: sql, rowMode: 'array' })).rows;
  const readers = async (): Promise<unknown> =>
    await query(`select rolname from pg_roles where starts_with(rolname, current_database()) order by 1`);
  const roles: string[] = [];

  beforeAll(async () => {
    engine = await openEngine(given.database.pool);
  });
  afterAll(async () => {
    for (const bucket of ['in.c-main', 'in.c_main', 'in.c-Long', 'in.c-rights'])
      await engine.dropBucket(bucket);
    for (const role of roles) await asAdmin(`DROP ROLE IF EXISTS ${role}`);
  });

  test('have the names that they have in the storage', async () => {
    await load(engine, { bucket: 'in.c-main', table: 'My-Users' }, 'id,First_name,select\n1,Ann,x\n', {
      create,
    });
    expect(
      await query('select id, "First_name", "select", _timestamp from gex_in_c_main."My-Users"'),
    ).toEqual([['1', 'Ann', 'x', expect.any(Date)]]);
    // Another bucket whose schema would have the same name.
    await load(engine, { bucket: 'in.c_main', table: 'My-Users' }, 'id\n2\n', { create });
    expect(
      await query(
        `select nspname ~ '^gex_in_c_main(_[0-9a-f]{12})?$' from pg_namespace where nspname like 'gex_in%' order by 1`,
      ),
    ).toEqual([[true], [true]]);
    const long = { bucket: 'in.c-Long', table: 'x'.repeat(90) };
    await load(engine, long, `id,${'y'.repeat(64)}\n1,2\n`, { create });
    const [row] = await query(
      `select relname, attname from pg_class join pg_attribute on attrelid = pg_class.oid and attname like 'yy%' where relname like 'xx%' and relkind = 'r'`,
    );
    expect(row).toEqual([
      expect.stringMatching(/^x{50}~[0-9a-f]{12}$/),
      expect.stringMatching(/^y{50}~[0-9a-f]{12}$/),
    ]);
    await engine.drop(long);
    await engine.dropBucket(long.bucket);
  });

  test('can be read, and nothing else, by the role of their bucket, also when they are replaced', async () => {
    const table = { bucket: 'in.c-rights', table: 'users' };
    await load(engine, table, 'id\n1\n', { create });
    const [[reader] = []] = (await query(
      `select reader from gex.table_buckets where bucket = 'in.c-rights'`,
    )) as string[][];
    expect(reader).toMatch(/_gex_in_c_rights_read$/);
    const person = `person_${process.pid}`;
    roles.push(person);
    await given.database.pool.query(`create role ${person} login in role "${reader}"`);
    const pool = given.database.connect({
      connectionString: given.database.url.replace('gex@', `${person}@`),
    });
    for (const content of ['id\n2\n', 'id,more\n3,x\n']) {
      await load(engine, table, content);
      expect(await query('select id from gex_in_c_rights.users', pool)).toHaveLength(1);
    }
    await engine.create({ bucket: 'in.c-rights', table: 'made' }, { columns: ['a'], primaryKey: [] });
    expect(await query('select * from gex_in_c_rights.made', pool)).toEqual([]);
    for (const sql of [
      `insert into gex_in_c_rights.made values ('x', now(), 1)`,
      'drop table gex_in_c_rights.users',
      'select * from gex.table_catalog',
      'create table gex_in_c_rights.mine (a text)',
    ])
      await expect(query(sql, pool)).rejects.toThrow(/permission denied|must be owner/);
    for (const name of ['users', 'made']) await engine.drop({ ...table, table: name });
    await engine.dropBucket('in.c-rights');
    expect(await query(`select to_regnamespace('gex_in_c_rights')`)).toEqual([[null]]);
    expect(JSON.stringify(await readers())).not.toContain('rights');
    await engine.dropBucket('in.c-rights');
  });

  test('have a role that may read them in a database whose name PostgreSQL would keep for its own roles', async () => {
    const database = await makeDatabase('pg');
    try {
      const others = await openEngine(database.pool);
      await load(others, { bucket: 'in.c-main', table: 'users' }, 'id\n1\n', { create });
      expect(await query('select reader from gex.table_buckets', database.pool)).toEqual([
        [expect.stringMatching(/^_pg_\w+_gex_in_c_main_read$/)],
      ]);
      await others.close();
    } finally {
      await database.drop();
    }
  });

  test('keep what people granted and wrote about one table when it is replaced', async () => {
    const table = { bucket: 'in.c-rights', table: 'given' };
    await load(engine, table, 'id,secret\n1,x\n', { create });
    const [[reader] = []] = (await query(
      `select reader from gex.table_buckets where bucket = 'in.c-rights'`,
    )) as string[][];
    const person = `given_${process.pid}`;
    roles.push(person);
    const place = 'gex_in_c_rights.given';
    await given.database.pool.query(
      `create role ${person} login; grant usage on schema gex_in_c_rights to ${person};` +
        `grant select (id) on ${place} to ${person}; grant insert on ${place} to ${person} with grant option;` +
        `grant references on ${place} to public; revoke select on ${place} from "${reader}";` +
        `comment on table ${place} is 'It''s \\ ours'; comment on column ${place}.id is 'Of the person'`,
    );
    const rights = async (): Promise<unknown> => [
      await query(
        `select a.privilege_type, a.grantee::regrole::text, a.is_grantable from pg_class, aclexplode(relacl) a where oid = '${place}'::regclass order by 1, 2`,
      ),
      await query(
        `select attname, col_description(attrelid, attnum), attacl::text from pg_attribute where attrelid = '${place}'::regclass and attnum > 0 and not attisdropped and attname <> 'more' order by 1`,
      ),
      await query(`select obj_description('${place}'::regclass)`),
    ];
    const oid = async (): Promise<unknown> => await query(`select '${place}'::regclass::oid`);
    const [before, first] = [await rights(), await oid()];
    expect(JSON.stringify(before)).toContain('Of the person');
    // A few rows come into the table itself, many come with another one in its place.
    await load(engine, table, 'id,secret\n2,y\n');
    expect(await oid()).toEqual(first);
    expect(await rights()).toEqual(before);
    const large = await openEngine(given.database.pool, { few: { rows: -1, bytes: -1 } });
    for (const content of ['id,secret\n2,y\n', 'id,secret,more\n3,z,\n']) await load(large, table, content);
    expect(await oid()).not.toEqual(first);
    expect(await rights()).toEqual(before);
    const pool = given.database.connect({
      connectionString: given.database.url.replace('gex@', `${person}@`),
    });
    expect(await query(`select id from ${place}`, pool)).toEqual([['3']]);
    await expect(query(`select secret from ${place}`, pool)).rejects.toThrow(/permission denied/);
    await pool.end();
    await engine.drop(table);
    await engine.dropBucket('in.c-rights');
    await given.database.pool.query(`drop owned by ${person}`);
  });

  test('a bucket with tables, or with something that others have put into it, stays', async () => {
    const table = { bucket: 'in.c-main', table: 'stays' };
    await load(engine, table, 'id\n1\n', { create });
    await engine.dropBucket('in.c-main');
    expect(await engine.describe(table)).toMatchObject({ rows: 1 });
    const other = { bucket: 'in.c-others', table: 'users' };
    await load(engine, other, 'id\n1\n', { create });
    await given.database.pool.query('create table gex_in_c_others.mine (a text)');
    await engine.drop(other);
    await engine.dropBucket('in.c-others');
    expect(await query(`select to_regclass('gex_in_c_others.mine') is null`)).toEqual([[false]]);
    await load(engine, other, 'id\n1\n', { create });
    await given.database.pool.query('drop table gex_in_c_others.mine');
    await engine.drop(other);
    await engine.dropBucket('in.c-others');
    expect(await query(`select to_regnamespace('gex_in_c_others')`)).toEqual([[null]]);
  });

  test('are made without roles by a user who may make none, who is told what it lacks otherwise', async () => {
    const role = `plain_${process.pid}`;
    roles.push(role);
    await asAdmin(`CREATE ROLE ${role} LOGIN`);
    const url = given.database.url.replace('gex@', `${role}@`);
    const notes: string[] = [];
    const log = { ...silentLog, info: (message: string) => void notes.push(message) };
    const own = createPostgresEngine({
      pool: given.database.connect({ connectionString: url }),
      schema: 'plain',
      log,
    });
    await expect(own.open()).rejects.toThrow('permission denied for database');
    await expect(own.open()).rejects.toMatchObject({ code: 'storage.tables.notAllowed' });
    const [[name] = []] = (await query('select current_database()')) as string[][];
    await given.database.pool.query(`grant create on database ${name} to ${role}`);
    await own.open();
    expect(notes).toEqual([expect.stringContaining('No roles for readers')]);
    const table = { bucket: 'in.c-main', table: 'users' };
    await load(own, table, 'id\n1\n', { create });
    await load(own, table, 'id\n2\n', { incremental: true });
    expect(await query('select id from plain_in_c_main.users order by id')).toEqual([['1'], ['2']]);
    await given.database.pool.query(`drop owned by ${role} cascade`);
  });
});

describe.runIf(SERVER)('a database that is spread over several servers', () => {
  const given = useDatabase();

  test('is told to spread tables with a key by its first column', async () => {
    const { pool } = given.database;
    // This creates the part of the extension that we use.
    await pool.query('create table public.asked (place text, by text)');
    await pool.query(
      'set allow_system_table_mods = on; create function pg_catalog.create_distributed_table(regclass, text) returns void language sql as ' +
        '$$ insert into public.asked values ($1::text, $2) $$; reset allow_system_table_mods',
    );
    await pool.query(
      `insert into pg_extension select 99999, 'citus', extowner, extnamespace, extrelocatable, extversion from pg_extension limit 1`,
    );
    const engine = await openEngine(pool);
    const key = { bucket: 'in.c-spread', table: 'with_key' };
    const asked = async (): Promise<string[]> =>
      (
        await pool.query<{ place: string; by: string }>('delete from public.asked returning place, by')
      ).rows.map(({ place, by }) => `${place.replaceAll(/~[0-9a-f]{12}/g, '~')} by ${by}`);
    await load(engine, key, 'a,id,part\n1,2,3\n', { create: { primaryKey: ['id', 'part'] } });
    expect(await asked()).toEqual(['gex_in_c_spread."with_key~" by id']);
    await load(engine, key, 'a,id,part\n1,2,3\n4,5,6\n', { incremental: true });
    expect(await asked()).toEqual(['gex_in_c_spread."with_key~" by id']);
    expect((await pool.query(`select relpersistence from pg_class where relname = 'with_key'`)).rows).toEqual(
      [{ relpersistence: 'p' }],
    );
    await engine.create({ ...key, table: 'made' }, { columns: ['x'], primaryKey: ['x'] });
    expect(await asked()).toEqual(['gex_in_c_spread.made by x']);
    await load(engine, { ...key, table: 'without_key' }, 'a\n1\n', { create: { primaryKey: [] } });
    expect(await asked()).toEqual([]);
  });
});
