import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isOnPostgres } from '../../database.ts';
import { ask, share, type Shared } from './shared.ts';

describe.runIf(isOnPostgres)('work on different tables', () => {
  let shared: Shared;
  /** Somebody who holds what a process needs, so that it can be seen who waits for it. */
  let holder: Client;
  /** Within a transaction the same would be seen again and again. */
  let watcher: Client;
  let url = '';
  let token = '';
  beforeEach(async () => {
    shared = await share();
    const { addresses } = await shared.start();
    ({ url, masterToken: token = '' } = addresses);
    await ask(url, token, 'POST', 'buckets', { name: 'main' });
    for (const name of ['a', 'b'])
      await done(
        await call('POST', 'buckets/in.c-main/tables-definition', { name, columns: [{ name: 'id' }] }),
      );
    holder = new Client({ connectionString: shared.options.database?.url });
    await holder.connect();
    watcher = new Client({ connectionString: shared.options.database?.url });
    await watcher.connect();
  });
  afterEach(async () => {
    await holder.end();
    await watcher.end();
    await shared.stop();
  });

  const call = async (method: string, path: string, body?: unknown) =>
    await ask(url, token, method, path, body);
  const addColumn = async (table: string, name: string, to = url) =>
    await ask(to, token, 'POST', `tables/in.c-main.${table}/columns`, { name });
  async function done({ body }: { body: unknown }): Promise<void> {
    const { id } = body as { id: number };
    await expect
      .poll(async () => (await call('GET', `jobs/${id}`)).body)
      .toMatchObject({ status: 'success' });
  }
  /** Statements that wait in the database, and whether for a thing that somebody else is at work on. */
  const waits = async () => {
    const { rows } = await watcher.query<{ query: string; isForThing: boolean }>(
      `select query, wait_event = 'advisory' as "isForThing" from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return {
      things: rows.filter(({ isForThing }) => isForThing).length,
      inserts: rows.filter(({ query }) => query.startsWith('insert into "gex"."jobs"')).length,
      all: rows.length,
    };
  };

  test('ends beside each other, and apart from what changes any of them', async () => {
    await holder.query('begin');
    await holder.query("select from gex.tables where id = 'in.c-main.a' for update");
    const held = await addColumn('a', 'x');
    await expect.poll(waits).toMatchObject({ all: 1, things: 0 });
    await done(await addColumn('b', 'x'));
    const renamed = call('PUT', 'buckets/in.c-main', { displayName: 'shown' });
    await expect.poll(waits).toMatchObject({ things: 1 });
    const made = await call('POST', 'buckets/in.c-main/tables-definition', {
      name: 'c',
      columns: [{ name: 'id' }],
    });
    await expect.poll(waits).toMatchObject({ things: 2 });
    await holder.query('rollback');
    expect(await renamed).toMatchObject({ status: 200 });
    for (const job of [held, made]) await done(job);
  });

  test('is asked for beside each other, and that on one table in turn', async () => {
    const other = await shared.start({ roles: ['api'] });
    const { url: second } = other.addresses;
    await holder.query('begin');
    await holder.query('lock table gex.jobs in share mode');
    const first = addColumn('a', 'x');
    await expect.poll(waits).toMatchObject({ inserts: 1, things: 0 });
    const next = addColumn('a', 'y', second);
    await expect.poll(waits).toMatchObject({ inserts: 1, things: 1 });
    const beside = addColumn('b', 'x', second);
    await expect.poll(waits).toMatchObject({ inserts: 2, things: 1 });
    await holder.query('rollback');
    for (const asked of [await first, await next, await beside]) await done(asked);
    const { body } = await call('GET', 'tables/in.c-main.a');
    expect(body).toMatchObject({ columns: ['id', 'x', 'y'] });
  });
});
