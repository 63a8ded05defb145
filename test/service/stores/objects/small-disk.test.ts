import type * as FileSystem from 'node:fs/promises';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startEmbedded, textOf, type Embedded } from './support.ts';

/* A disk with so much room, as a full one behaves: the last write comes in short, and only the one after it fails. */
const { disk, failure } = vi.hoisted(() => ({
  disk: { room: Infinity, other: '' },
  failure: (code: string) => Object.assign(new Error(`${code}: as a disk says it`), { code }),
}));
vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof FileSystem>();
  return {
    ...real,
    async open(...given: Parameters<typeof real.open>) {
      const handle = await real.open(...given);
      const write = handle.write.bind(handle);
      const limited = async (bytes: Uint8Array, offset = 0, length = bytes.length - offset, at?: number) => {
        const fitting = Math.min(length, disk.room);
        if (fitting === 0) throw failure('ENOSPC');
        disk.room -= fitting;
        return await write(bytes, offset, fitting, at);
      };
      return Object.assign(handle, { write: limited });
    },
    async rename(...given: Parameters<typeof real.rename>) {
      if (disk.other !== '' && String(given[0]).startsWith(disk.other)) throw failure('EXDEV');
      await real.rename(...given);
    },
  };
});

let embedded: Embedded;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'small-disk-'));
  embedded = await startEmbedded();
});
afterEach(() => {
  disk.room = Infinity;
  disk.other = '';
});
afterAll(async () => {
  await embedded.close();
  await rm(folder, { recursive: true });
});

const BODY = 'x'.repeat(1000);
const put = (Key: string, Body = BODY) =>
  embedded.client().send(new PutObjectCommand({ Bucket: embedded.store.bucket, Key, Body }));
const get = async (key: string) => textOf(await embedded.store.read(key));
const staged = () => readdir(path.join(embedded.directory, 'staging'));

test.each([
  ['nothing', 0],
  ['a part of the bytes', 400],
  ['all but what is known of it', BODY.length],
  ['all but the last byte', BODY.length + 200],
])('an upload of which %s fits is answered with 507, and the object stays what it was', async (_, room) => {
  const key = `full-${room}`;
  await put(key, 'before');
  disk.room = room;
  await expect(put(key)).rejects.toMatchObject({
    name: 'InsufficientStorage',
    $metadata: { httpStatusCode: 507 },
  });
  disk.room = Infinity;
  expect(await get(key)).toBe('before');
  expect(await staged()).toEqual([]);
  await put(key);
  expect(await get(key)).toBe(BODY);
});

test('a file of this machine that does not fit is refused, and no object', async () => {
  const file = path.join(folder, 'slice.csv');
  await writeFile(file, BODY);
  disk.room = 50;
  await expect(embedded.store.adopt('slice', file, { encrypted: false })).rejects.toMatchObject({
    code: 'InsufficientStorage',
  });
  expect(await embedded.store.head('slice')).toBeUndefined();
});

test('a file of another disk is copied', async () => {
  for (const text of [BODY, '']) {
    const file = path.join(folder, 'elsewhere.csv');
    await writeFile(file, text);
    disk.other = folder;
    await embedded.store.adopt('elsewhere', file, { encrypted: false });
    expect(await get('elsewhere')).toBe(text);
  }
});
