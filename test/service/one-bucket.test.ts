// @module-tag thorough
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { systemEnv } from '../../src/lib/env.ts';
import { storedOwner } from '../../src/service/domain/storage-identity.ts';
import { openMeta } from '../../src/service/stores/metadata/database.ts';
import { knownObjects } from '../../src/service/stores/metadata/known-objects.ts';
import { createExternalStore } from '../../src/service/stores/objects/external-store.ts';
import { bytesBody, StorageClient } from '../../src/storage/client/index.ts';
import { freshStore, OVER, type FreshStore } from './fresh-store.ts';
import { serveProcess } from './serve-process.ts';
import { asAdmin, makeDatabase, SERVER } from './stores/tables/postgres/database.ts';

const name = (url: string) => new URL(url).pathname.slice(1);

const TEXT = 'id,name\n1,Ann\n';

async function upload(url: string, token: string): Promise<{ id: number; key: string }> {
  const client = new StorageClient({ url, token });
  const { id } = await client.files.upload(bytesBody(TEXT), { name: 'users.csv' });
  const bucket = await client.buckets.create({ name: 'main' });
  await client.tables.create(bucket.id, { name: 'users', dataFileId: id });
  const answer = await fetch(`${url}/v2/storage/files/${id}?federationToken=1`, {
    headers: { 'X-StorageApi-Token': token },
  });
  const { s3Path } = (await answer.json()) as { s3Path: { key: string } };
  client.close();
  return { id, key: s3Path.key };
}

describe(`storages over one bucket, in ${OVER}`, () => {
  let dir: string;
  let store: FreshStore;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'one-bucket-'));
    store = await freshStore();
  });
  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  });

  const serve = async (folder: string, ...more: string[]) =>
    await serveProcess(
      ['--dir', path.join(dir, folder), '--s3-port=0', ...store.named(), ...more],
      store.keys,
    );

  test('the second one is refused with the names of both, and a third under a prefix of its own is not', async () => {
    const first = await serve('first');
    const file = await upload(first.url, first.token);
    const other = await serve('second');
    expect(other.ended?.code).toBe(1);
    expect(other.ended?.stderr).toMatch(
      /belongs to the storage [\da-f]{16} of the folder \S+first of .*, and this is the storage [\da-f]{16} of the folder \S+second of /,
    );
    expect(other.ended?.stderr).toContain('--s3-prefix');

    const third = await serve('third', '--s3-prefix=team-b');
    const own = await upload(third.url, third.token);
    // The same number, and neither lies on the other.
    expect(own.id).toBe(file.id);
    expect(own.key).toMatch(/^team-b\/[\da-f]{16}\/exp-15\/1\/files\//);
    expect(file.key).toMatch(/^[\da-f]{16}\/exp-15\/1\/files\//);
    expect(await store.list()).toEqual(expect.arrayContaining([file.key, own.key]));
    for (const { url, token } of [first, third]) {
      const client = new StorageClient({ url, token });
      expect(await text(await client.files.read(file.id))).toBe(TEXT);
      client.close();
    }
  });

  test('a new one is refused over a bucket that an earlier version has used', async () => {
    await store.put('exp-15/1/files/2026/01/02/1004.users.csv', TEXT);
    const { ended } = await serve('first');
    expect(ended?.code).toBe(1);
    expect(ended?.stderr).toMatch(/has files of another storage, and the storage [\da-f]{16} of .* is new/);
    expect(await store.list()).toHaveLength(1);
  });

  test('one of an earlier version goes on with its keys as they are', async () => {
    const first = await serve('first');
    const { id, key } = await upload(first.url, first.token);
    await first.stop();
    // As an earlier version has left it: no id, and no marker.
    const meta = new DatabaseSync(path.join(dir, 'first', 'meta.sqlite'));
    meta.exec("delete from settings where name = 'storage'");
    meta.close();
    const plain = key.slice(key.indexOf('/') + 1);
    await store.put(plain, TEXT);
    for (const each of [key, 'gex-storage.json']) await store.remove(each);
    const again = await serve('first');
    const client = new StorageClient({ url: again.url, token: first.token });
    onTestFinished(() => client.close());
    expect(await text(await client.files.read(id))).toBe(TEXT);
    const next = await client.files.upload(bytesBody(TEXT), { name: 'next.csv' });
    expect((await store.list('exp-15/')).filter((each) => each.includes(`/${next.id}.`))).toHaveLength(1);
    expect(await store.list('gex-storage.json')).toHaveLength(1);
  });

  test('objects that belong to nothing are dropped, and neither those of the storage nor those of others', async () => {
    const first = await serve('first');
    const { key } = await upload(first.url, first.token);
    const client = new StorageClient({ url: first.url, token: first.token });
    await text(await client.tables.read('in.c-main.users'));
    client.close();
    await first.stop();
    const [id = ''] = key.split('/');
    const kept = await store.list();
    expect(kept.filter((each) => each.includes('/table-exports/'))).not.toEqual([]);
    const others = ['exp-15/1/files/2026/01/02/999.x.csv', 'other.csv', `${id}/unknown/form.csv`];
    for (const each of others) await store.put(each, TEXT);
    for (const each of [
      'exp-15/1/files/2026/01/02/999.x.csv',
      'recordings/999/claims/000001',
      'exp-2/1/table-exports/in/c-main/users/999.csv_0_0_0.csv',
      'exp-2/1/table-exports/in/c-main/users/999-2.csv.gzmanifest',
    ])
      await store.put(`${id}/${each}`, TEXT);
    const meta = await openMeta(path.join(dir, 'first', 'meta.sqlite'));
    const own = await createExternalStore({
      ...store.options,
      owner: await storedOwner(meta, 'first'),
      env: systemEnv,
    });
    const known = async (keys: readonly string[]) => await knownObjects(meta, keys);
    await own.dropUnknown(new Date(Date.now() - 3_600_000), known);
    expect(await store.list()).toHaveLength(kept.length + others.length + 4);
    await own.dropUnknown(new Date(Date.now() + 3_600_000), known);
    expect((await store.list()).toSorted()).toEqual([...kept, ...others].toSorted());
    own.close();
    await meta.destroy();
  });

  test.runIf(SERVER !== undefined)(
    'a backup goes into a fresh database over its own bucket when it is said to take it over',
    async () => {
      const [lost, fresh] = [await makeDatabase(), await makeDatabase()];
      onTestFinished(async () => {
        await lost.drop();
        await fresh.drop();
      });
      const key = { GEX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
      const over = async (url: string) =>
        await serveProcess(['--database', url, ...store.named()], { ...store.keys, ...key });
      const gex = async (...args: string[]) => {
        const { runHere } = await import('../cli/support.ts');
        return await runHere(['storage', ...args], { env: store.keys });
      };
      const first = await over(lost.url);
      const { id } = await upload(first.url, first.token);
      const file = path.join(dir, 'storage.tar');
      expect(await gex('backup', file, '--from', lost.url, ...store.named('from'))).toMatchObject({
        code: 0,
      });
      const wrong = await gex(
        'backup',
        file,
        '--from',
        lost.url,
        ...store.named('from'),
        '--from-s3-prefix=x',
      );
      expect(wrong.stderr).toContain('Check --from-s3-bucket and --from-s3-prefix');

      const refused = await over(fresh.url);
      for (const { url } of [lost, fresh])
        expect(refused.ended?.stderr).toContain(`${new URL(url).pathname}, schema gex`);
      const restore = ['restore', file, '--to', fresh.url, ...store.named('to')];
      const unsaid = await gex(...restore);
      expect(unsaid.code).toBe(1);
      expect(unsaid.stderr).toContain('--to-s3-take-over');
      expect(await gex(...restore, '--to-s3-take-over')).toMatchObject({ code: 0 });

      const second = await over(fresh.url);
      const client = new StorageClient({ url: second.url, token: first.token });
      onTestFinished(() => client.close());
      expect(await text(await client.files.read(id))).toBe(TEXT);
      // The one before is not ready any more, and deletes nothing.
      await expect.poll(async () => await first.ready()).toMatchObject({ status: 'degraded' });
    },
    120_000,
  );

  test.runIf(SERVER !== undefined)(
    'a copy of a database is refused over the bucket of the first one, until it is said to go on in its place',
    async () => {
      const [first, copy] = [await makeDatabase(), await makeDatabase()];
      onTestFinished(async () => {
        // Its rights are those of the roles of the first one.
        await copy.drop();
        await first.drop();
      });
      const key = { GEX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
      const over = async (url: string, ...more: string[]) =>
        await serveProcess(['--database', url, ...store.named(), ...more], { ...store.keys, ...key });
      const before = await over(first.url);
      const { id } = await upload(before.url, before.token);
      await before.stop();
      // As an earlier version has marked it.
      const marker = async () => JSON.parse(await store.read('gex-storage.json')) as Record<string, string>;
      const { database = '', ...early } = await marker();
      expect(database).toMatch(/^\d+\/\d+$/);
      await store.put('gex-storage.json', JSON.stringify(early));
      const again = await over(first.url);
      expect(await marker()).toEqual({ ...early, database });

      await first.pool.end();
      again.kill();
      await asAdmin(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name(first.url)}'`,
      );
      await copy.drop();
      await asAdmin(`CREATE DATABASE ${name(copy.url)} TEMPLATE ${name(first.url)}`);
      const kept = await store.list();
      const refused = await over(copy.url);
      expect(refused.ended?.code).toBe(1);
      for (const { url } of [first, copy])
        expect(refused.ended?.stderr).toContain(`/${name(url)}, schema gex`);
      expect(refused.ended?.stderr).toContain('--s3-take-over');
      expect(await store.list()).toEqual(kept);
      const goesOn = await over(first.url);
      expect(goesOn.ended).toBeUndefined();

      const second = await over(copy.url, '--s3-take-over');
      expect(second.said()).toContain('The bucket is taken over from another database');
      const client = new StorageClient({ url: second.url, token: before.token });
      onTestFinished(() => client.close());
      expect(await text(await client.files.read(id))).toBe(TEXT);
      await expect.poll(async () => await goesOn.ready()).toMatchObject({ status: 'degraded' });
      await second.stop();
      expect((await over(copy.url)).ended).toBeUndefined();
      expect((await over(first.url)).ended?.code).toBe(1);
    },
    120_000,
  );
});
