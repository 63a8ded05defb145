// @module-tag thorough
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gexHere } from '../../../cli/support.ts';
import { systemEnv } from '../../../../src/lib/env.ts';
import {
  createObjectFolder,
  type ObjectFolder,
} from '../../../../src/service/stores/objects/folder/folder.ts';
import { objectPath } from '../../../../src/service/stores/objects/folder/layout.ts';
import { clientOf, type FileBody } from '../../data/client.ts';
import type { Running } from '../../harness.ts';
import { serveFolder } from '../../domain/transfer/serve-folder.ts';

const MIB = 1024 * 1024;

let work: string;
beforeAll(async () => {
  work = await mkdtemp(path.join(tmpdir(), 'damage-'));
});
afterAll(async () => {
  await rm(work, { recursive: true, force: true });
});

/** Changes one bit of a file. */
async function flip(file: string, at: number): Promise<void> {
  const handle = await open(file, 'r+');
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, at);
  await handle.write(Buffer.of((byte[0] ?? 0) ^ 0x10), 0, 1, at);
  await handle.close();
}

const fileOf = (key: string): string => path.join(work, 'folder', 'objects', objectPath(key));

describe('an object of the folder', () => {
  const attributes = { isEncrypted: true, contentType: 'text/csv', userMetadata: { a: 'b' } };
  let folder: ObjectFolder;
  beforeAll(async () => {
    folder = createObjectFolder(path.join(work, 'folder'), systemEnv);
    await folder.open();
  });
  const readAll = async (key: string): Promise<unknown> => {
    const object = await folder.get(key);
    const { blocks: _, ...meta } = { blocks: undefined, ...object?.meta };
    return [meta, Buffer.concat((await object?.read().toArray()) ?? []).toString('latin1')];
  };

  test('with any bit changed is told, and is never given as another', async () => {
    await folder.put('k', [Buffer.from('some bytes')], { checksums: ['sha256'], attributes });
    const whole = await readAll('k');
    const bytes = await readFile(fileOf('k'));
    for (let at = 0; at < bytes.length * 8; at++) {
      const changed = Buffer.from(bytes);
      changed[at >> 3] = (changed[at >> 3] ?? 0) ^ (1 << (at & 7));
      await writeFile(fileOf('k'), changed);
      const read = await readAll('k').catch((error: unknown) => (error as Error).constructor.name);
      if (read !== 'DamagedObject') expect([at, read]).toEqual([at, whole]);
      if (at < 10 * 8) expect(read).toBe('DamagedObject');
    }
    await writeFile(fileOf('k'), bytes);
    expect(await readAll('k')).toEqual(whole);
  });

  test('is given wherever it is not damaged, in any range, however it came', async () => {
    const content = Buffer.alloc(3 * MIB + 5, 'abcdefg');
    await folder.put('put', content.length > 0 ? [content.subarray(0, 100), content.subarray(100)] : [], {
      checksums: [],
      attributes,
    });
    const adopted = path.join(work, 'adopted');
    await writeFile(adopted, content);
    await folder.adopt('adopted', adopted, attributes);
    const small = createObjectFolder(path.join(work, 'folder'), systemEnv, { minPartBytes: 1 });
    const id = await small.createUpload('joined', { attributes });
    const upload = await small.uploadOf('joined', id);
    const parts = [];
    for (const [i, part] of [content.subarray(0, 5), content.subarray(5)].entries())
      parts.push({
        part: i + 1,
        checksums: {},
        etag: (await small.putPart(upload, i + 1, [part], { checksums: [] })).etag,
      });
    await small.completeUpload('joined', id, parts, {});

    for (const key of ['put', 'adopted', 'joined']) {
      const part = async (start: number, end: number): Promise<Buffer> =>
        Buffer.concat((await (await folder.get(key))?.read({ start, end }).toArray()) ?? []);
      for (const [start, end] of [
        [0, content.length - 1],
        [MIB - 1, MIB],
        [content.length - 1, content.length - 1],
        [5, 2 * MIB + 7],
      ] as const)
        expect((await part(start, end)).equals(content.subarray(start, end + 1)), `${key} ${start}`).toBe(
          true,
        );
      await flip(fileOf(key), MIB + 17);
      expect((await part(0, MIB - 1)).equals(content.subarray(0, MIB))).toBe(true);
      expect((await part(2 * MIB, 2 * MIB)).equals(content.subarray(2 * MIB, 2 * MIB + 1))).toBe(true);
      await expect(part(MIB, MIB)).rejects.toThrow('damaged');
      await expect(part(0, content.length - 1)).rejects.toThrow('damaged');
    }
  });

  test('a damaged part makes no object', async () => {
    const id = await folder.createUpload('late', { attributes });
    const upload = await folder.uploadOf('late', id);
    const { etag } = await folder.putPart(upload, 1, [Buffer.from('part')], { checksums: [] });
    await flip(path.join(work, 'folder', 'uploads', id, '1'), 0);
    const parts = [{ part: 1, etag, checksums: {} }];
    await expect(folder.completeUpload('late', id, parts, {})).rejects.toThrow('damaged');
    expect(await folder.head('late')).toBeUndefined();
  });

  test('of before there were sums is given as it is', async () => {
    const meta = {
      ...attributes,
      key: 'old',
      bytes: 5,
      etag: 'e',
      modified: new Date(0).toISOString(),
      checksums: {},
    };
    const json = Buffer.from(JSON.stringify(meta));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(json.length);
    await folder.put('old', [], { checksums: [], attributes });
    await writeFile(
      fileOf('old'),
      Buffer.concat([Buffer.from('bytes'), json, length, Buffer.from('gexobj01')]),
    );
    expect(await readAll('old')).toEqual([meta, 'bytes']);
  });
});

describe('a service over damaged files', () => {
  let api: Running;
  let file: FileBody;
  let rows: string;
  let damagedAt: string;
  beforeAll(async () => {
    api = await serveFolder(path.join(work, 'service'));
    await api.call('POST', 'buckets', { name: 'main', stage: 'in' });
    await clientOf(api).create('in.c-main', 't', 'id\n1\n');
    rows = `id\n${Array.from({ length: 300_000 }, (_, i) => i).join('\n')}\n`;
    file = await clientOf(api).upload(rows);
    damagedAt = path.join(api.dir, 'objects', 'objects', objectPath(file.uploadParams.key));
    await flip(damagedAt, MIB + 100);
  });
  afterAll(async () => {
    await api.stop();
  });

  test('gives what is right, an error for a damaged beginning, and a broken connection further on', async () => {
    const { body } = await clientOf(api).call<FileBody>('GET', `files/${file.id}?federationToken=1`);
    const get = async (range?: string): Promise<Response> =>
      await fetch(body.url, { headers: range === undefined ? {} : { Range: range } });
    expect(await (await get('bytes=0-99')).text()).toBe(rows.slice(0, 100));
    const part = await get(`bytes=${MIB}-${MIB + 9}`);
    expect([part.status, await part.text()]).toEqual([500, expect.stringContaining('damaged')]);
    const all = await get();
    expect(all.status).toBe(200);
    await expect(all.text()).rejects.toThrow('terminated');
    const headers = { 'X-StorageApi-Token': api.token };
    const content = fetch(`${api.addresses.url}/v2/storage/files/${file.id}/content`, { headers });
    await expect(content.then((answer) => answer.text())).rejects.toThrow('terminated');
  });

  test('refuses to load it, and says why', async () => {
    const job = await clientOf(api).run('POST', 'tables/in.c-main.t/import-async', { dataFileId: file.id });
    expect(job).toMatchObject({ status: 'error', error: { code: 'storage.fileDamaged' } });
    expect((await api.call('GET', 'tables/in.c-main.t/data-preview')).text).toBe('"id"\n"1"\n');
  });

  test('is backed up with a word on it, and is not migrated', async () => {
    const tar = path.join(work, 'damaged.tar');
    const said = expect.stringContaining(damagedAt) as string;
    expect(await gexHere('storage', 'backup', tar, '--storage', api.dir)).toMatchObject({
      code: 1,
      stderr: said,
    });
    await api.service.stop();
    expect(await gexHere('storage', 'backup', tar, '--storage', api.dir)).toMatchObject({
      code: 1,
      stderr: said,
    });
    const target = path.join(work, 'target');
    const migrated = await gexHere('storage', 'migrate', '--from', api.dir, '--to', target);
    expect(migrated).toMatchObject({ code: 1, stderr: said });
    // It is in the backup as it was, and is known there.
    const restored = path.join(work, 'restored');
    expect((await gexHere('storage', 'restore', tar, '--to', restored)).code).toBe(0);
    const again = await serveFolder(restored, api.token);
    const job = await clientOf(again).run('POST', 'tables/in.c-main.t/import-async', { dataFileId: file.id });
    expect(job.error?.code).toBe('storage.fileDamaged');
    await again.stop();
    // For the tests after it.
    api = await serveFolder(api.dir, api.token);
  });
});
