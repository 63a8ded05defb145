import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import {
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  GrantScope,
  ObjectStore,
  ObjectCredentials,
} from '../../../../src/service/stores/objects/store.ts';
import { errorCode, fitting, getExactly, textOf } from './support.ts';

/** Store under test with its clients. */
export interface StoreUnderTest {
  readonly store: ObjectStore;
  /** A client that holds these temporary credentials and nothing else. */
  client(credentials: ObjectCredentials): S3Client;
  /** True when it enforces encrypted uploads. */
  readonly hasEncryption: boolean;
  /** Keys are paths in it, which ours are: it refuses others. Default: false. */
  readonly hasPaths?: boolean;
  close(): Promise<void>;
}

const HOSTILE_KEYS = [
  'a b/c+d.csv',
  'per%20cent%/100%.csv',
  'double//slash/',
  '/leading',
  '../up/../../x',
  './dot/.',
  'naïve/žluťoučký/日本語/😀.csv',
  'Case/KEY',
  'case/key',
  'quote"\'&<>|?*:;=@,$!()[]{}#~^`\\',
  `${'long'.repeat(60)}/x`,
  'e\u0301/é',
];

/** Every piece has a name. */
const isPath = (key: string): boolean => !key.split('/').some((piece) => ['', '.', '..'].includes(piece));

/** Tests the contract of every object store. */
export function describeObjectStore(name: string, start: () => Promise<StoreUnderTest>): void {
  describe(name, () => {
    let subject: StoreUnderTest;
    let store: ObjectStore;
    const root = `contract-${Math.random().toString(36).slice(2)}/`;
    const put = (key: string, text: string) => store.write(key, Buffer.from(text), { encrypted: false });
    const get = async (key: string) => textOf(await store.read(key));
    const keysUnder = async (prefix: string) => {
      const keys: string[] = [];
      for await (const { key } of store.list(prefix)) keys.push(key);
      return keys;
    };
    const grant = async (scope: Partial<GrantScope> & { key: string; access: 'upload' | 'download' }) =>
      subject.client(
        await store.grant({
          isPrefix: false,
          requiresEncryption: false,
          expiresAt: new Date(Date.now() + 3600_000),
          ...scope,
        }),
      );
    const putAs = (client: S3Client, key: string, more: { ServerSideEncryption?: 'AES256' } = {}) =>
      client.send(new PutObjectCommand({ Bucket: store.bucket, Key: key, Body: 'x', ...more }));

    beforeAll(async () => {
      subject = await start();
      store = subject.store;
    });
    afterAll(async () => {
      await store.deletePrefix(root);
      await subject.close();
    });

    test('what is known of an object is all that it needs to be written again elsewhere', async () => {
      const key = `${root}attributes`;
      const attributes = {
        contentType: 'text/csv; charset=utf-8',
        disposition: 'attachment; filename="a.csv"',
        contentEncoding: 'gzip',
        contentLanguage: 'cs',
        cacheControl: 'max-age=60',
        userMetadata: { 'made-by': 'somebody' },
        encrypted: subject.hasEncryption,
      };
      await store.write(key, Buffer.from('x'), attributes);
      expect(await store.head(key)).toMatchObject({ bytes: 1, attributes });
    });

    test('what is written can be read, whole and in part', async () => {
      const written = await put(`${root}a.csv`, 'id,name\n1,x\n');
      expect(written).toMatchObject({ bytes: 12, etag: fitting(/^[0-9a-f]{32}$/) });
      expect(await get(`${root}a.csv`)).toBe('id,name\n1,x\n');
      expect(await textOf(await store.read(`${root}a.csv`, { start: 3, end: 6 }))).toBe('name');
      expect(await textOf(await store.read(`${root}a.csv`, { start: 8, end: 1000 }))).toBe('1,x\n');
      expect(await errorCode(store.read(`${root}a.csv`, { start: 12, end: 13 }))).toBe('InvalidRange');
      expect(await store.head(`${root}a.csv`)).toMatchObject({ bytes: 12, etag: written.etag });
    });

    test('a file of this machine becomes an object, with what is said of it', async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'adopted-'));
      for (const text of ['"1","x"\n'.repeat(1000), '']) {
        const file = path.join(folder, 'slice.csv');
        await writeFile(file, text);
        const options = { contentType: 'text/csv', encrypted: false };
        const { bytes, etag } = await store.adopt(`${root}adopted.csv`, file, options);
        expect(bytes).toBe(text.length);
        expect(await store.head(`${root}adopted.csv`)).toMatchObject({ bytes, etag });
        expect(await get(`${root}adopted.csv`)).toBe(text);
      }
      await rm(folder, { recursive: true });
      const address = await store.presign(`${root}adopted.csv`, { expiresInSeconds: 60 });
      expect((await getExactly(address)).headers['content-type']).toBe('text/csv');
    });

    test('an empty object and a streamed one', async () => {
      await put(`${root}empty`, '');
      expect(await get(`${root}empty`)).toBe('');
      const pieces = Array.from({ length: 300 }, (_, index) => Buffer.from(`line ${index}\n`));
      const written = await store.write(`${root}streamed`, Readable.from(pieces), { encrypted: false });
      expect(written.bytes).toBe(Buffer.concat(pieces).length);
      expect(await get(`${root}streamed`)).toBe(Buffer.concat(pieces).toString());
    });

    test('a body that fails leaves what was there', async () => {
      await put(`${root}kept`, 'old');
      const broken = Readable.from(
        (function* () {
          yield Buffer.from('new');
          throw new Error('cut');
        })(),
      );
      await expect(store.write(`${root}kept`, broken, { encrypted: false })).rejects.toThrow();
      expect(await get(`${root}kept`)).toBe('old');
    });

    test('nothing under a key: head is undefined, read says NoSuchKey, delete does nothing', async () => {
      expect(await store.head(`${root}nothing`)).toBeUndefined();
      expect(await errorCode(store.read(`${root}nothing`))).toBe('NoSuchKey');
      await store.delete([`${root}nothing`]);
    });

    test('keys are taken as they are, and listed in the order of their bytes', async () => {
      const possible = subject.hasPaths === true ? HOSTILE_KEYS.filter(isPath) : HOSTILE_KEYS;
      const keys = possible.map((key) => `${root}hostile/${key}`);
      for (const key of keys) await put(key, `content of ${key}`);
      for (const key of keys) expect(await get(key)).toBe(`content of ${key}`);
      const sorted = keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(await keysUnder(`${root}hostile/`)).toEqual(sorted);
      for (const key of keys) {
        const address = await store.presign(key, { expiresInSeconds: 60 });
        expect((await getExactly(address)).text).toBe(`content of ${key}`);
      }
      await store.deletePrefix(`${root}hostile/`);
      expect(await keysUnder(`${root}hostile/`)).toEqual([]);
    });

    test('keys that no store can hold are refused', async () => {
      for (const key of ['', 'nul\0', 'x'.repeat(1025)])
        expect(['InvalidArgument', 'KeyTooLongError']).toContain(await errorCode(put(key, 'x')));
    });

    test('a list has everything with the prefix and nothing else', async () => {
      if (subject.hasPaths === true) {
        for (const key of ['p/1', 'p/2/3', 'p-1', 'q']) await put(`${root}list/${key}`, key);
        const all = ['p-1', 'p/1', 'p/2/3', 'q'].map((key) => `${root}list/${key}`);
        expect(await keysUnder(`${root}list/`)).toEqual(all);
        expect(await keysUnder(`${root}list/p/`)).toEqual(all.slice(1, 3));
        return expect(await keysUnder(`${root}list/p`)).toEqual(all.slice(0, 3));
      }
      for (const key of ['p/1', 'p/2', 'p/2/3', 'p-1', 'p', 'q']) await put(`${root}list/${key}`, key);
      expect(await keysUnder(`${root}list/p/`)).toEqual(
        ['p/1', 'p/2', 'p/2/3'].map((key) => `${root}list/${key}`),
      );
      expect(await keysUnder(`${root}list/p`)).toHaveLength(5);
      await store.delete([`${root}list/p/2`, `${root}list/q`]);
      expect(await keysUnder(`${root}list/`)).toEqual(
        ['p', 'p-1', 'p/1', 'p/2/3'].map((key) => `${root}list/${key}`),
      );
    });

    test('a signed address gives the object with its headers until it is deleted', async () => {
      await store.write(`${root}shown.csv`, Buffer.from('id\n'), {
        contentType: 'text/csv',
        disposition: 'attachment; filename="shown.csv";',
        encrypted: false,
      });
      const address = await store.presign(`${root}shown.csv`, { expiresInSeconds: 60 });
      const response = await fetch(address);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('id\n');
      expect(response.headers.get('content-type')).toBe('text/csv');
      expect(response.headers.get('content-disposition')).toBe('attachment; filename="shown.csv";');
      expect((await fetch(address.replace('shown.csv', 'other.csv'))).status).toBe(403);
      await store.delete([`${root}shown.csv`]);
      expect((await fetch(address)).status).toBe(404);
    });

    test('upload credentials write their key, and nothing else', async () => {
      const key = `${root}granted.csv`;
      const client = await grant({ key, access: 'upload' });
      await putAs(client, key);
      await putAs(client, key);
      expect(await errorCode(putAs(client, `${key}_part0001`))).toBe('AccessDenied');
      expect(await errorCode(client.send(new GetObjectCommand({ Bucket: store.bucket, Key: key })))).toBe(
        'AccessDenied',
      );
      expect(await errorCode(client.send(new DeleteObjectCommand({ Bucket: store.bucket, Key: key })))).toBe(
        'AccessDenied',
      );
      expect(await get(key)).toBe('x');
    });

    test('upload credentials of a sliced file write every key with the prefix', async () => {
      const key = `${root}sliced.csv/`;
      const client = await grant({ key, isPrefix: true, access: 'upload' });
      await putAs(client, `${key}part0001`);
      await putAs(client, `${key}manifest`);
      expect(await errorCode(putAs(client, `${root}sliced.cs`))).toBe('AccessDenied');
      expect(await keysUnder(key)).toEqual([`${key}manifest`, `${key}part0001`]);
    });

    test('upload credentials do a multipart upload', async () => {
      const key = `${root}multipart.csv`;
      const client = await grant({ key, access: 'upload' });
      const body = Buffer.alloc(6 * 1024 * 1024, 'abcdefg\n');
      await new Upload({
        client,
        params: { Bucket: store.bucket, Key: key, Body: Readable.from([body]) },
      }).done();
      expect(await store.head(key)).toMatchObject({ bytes: body.length, etag: fitting(/-2$/) });
      expect(await textOf(await store.read(key))).toBe(body.toString());
    });

    test('an encrypted file demands the header', async () => {
      const key = `${root}encrypted.csv`;
      if (!subject.hasEncryption) return expect(subject.hasEncryption).toBe(false);
      const client = await grant({ key, access: 'upload', requiresEncryption: true });
      expect(await errorCode(putAs(client, key))).toBe('AccessDenied');
      await putAs(client, key, { ServerSideEncryption: 'AES256' });
      const reader = await grant({ key, access: 'download' });
      const head = await reader.send(new HeadObjectCommand({ Bucket: store.bucket, Key: key }));
      expect(head.ServerSideEncryption).toBe('AES256');
    });

    test('download credentials read and list their key, and nothing else', async () => {
      const key = `${root}down/loaded.csv`;
      await put(key, 'content');
      await put(`${key}manifest`, '{}');
      const client = await grant({ key, access: 'download' });
      const read = (Key: string) => client.send(new GetObjectCommand({ Bucket: store.bucket, Key }));
      const list = (Prefix: string) =>
        client.send(new ListObjectsV2Command({ Bucket: store.bucket, Prefix }));
      expect(await (await read(key)).Body?.transformToString()).toBe('content');
      expect((await list(key)).Contents?.[0]?.Key).toBe(key);
      expect(await errorCode(list(`${root}down/`))).toBe('AccessDenied');
      expect(await errorCode(list(`${key}manifest`))).toBe('AccessDenied');
      expect(await errorCode(read(`${key}manifest`))).toBe('AccessDenied');
      expect(await errorCode(putAs(client, key))).toBe('AccessDenied');
    });

    test('download credentials of a sliced file read and list all below its prefix', async () => {
      const key = `${root}down/sliced.csv`;
      await put(`${key}manifest`, '{}');
      await put(`${key}part`, 'part');
      const client = await grant({ key, isPrefix: true, access: 'download' });
      const part = await client.send(new GetObjectCommand({ Bucket: store.bucket, Key: `${key}part` }));
      expect(await part.Body?.transformToString()).toBe('part');
      const list = await client.send(new ListObjectsV2Command({ Bucket: store.bucket, Prefix: `${key}man` }));
      expect(list.Contents?.map((object) => object.Key)).toEqual([`${key}manifest`]);
    });

    test('uploads that nobody completed can be dropped', async () => {
      const key = `${root}unfinished`;
      const client = await grant({ key, access: 'upload' });
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ Bucket: store.bucket, Key: key }),
      );
      const part = () =>
        client.send(
          new UploadPartCommand({ Bucket: store.bucket, Key: key, UploadId, PartNumber: 1, Body: 'x' }),
        );
      await part();
      await store.dropUnfinished(new Date(Date.now() - 3600_000));
      await part();
      // two sweepers may come upon the same one
      const later = new Date(Date.now() + 60_000);
      await Promise.all([store.dropUnfinished(later), store.dropUnfinished(later)]);
      expect(await errorCode(part())).toBe('NoSuchUpload');
    });
  });
}
