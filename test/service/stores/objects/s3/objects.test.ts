import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketLocationCommand,
  GetBucketVersioningCommand,
  GetObjectAclCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type ChecksumAlgorithm,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCode, sendExactly, startEmbedded, type Embedded } from '../support.ts';

let s3: Embedded;
let client: ReturnType<Embedded['client']>;
const Bucket = 'files';
const put = (Key: string, more: Partial<PutObjectCommand['input']> = {}) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body: 'content', ...more }));
const get = (Key: string, more: Partial<GetObjectCommand['input']> = {}) =>
  client.send(new GetObjectCommand({ Bucket, Key, ...more }));

const signed = (ResponseContentDisposition: string) =>
  getSignedUrl(
    client,
    new GetObjectCommand({
      Bucket,
      Key: 'replaced',
      ResponseContentDisposition,
      ResponseContentType: 'text/plain',
    }),
  );

beforeAll(async () => {
  s3 = await startEmbedded({ maxUploadBytes: 1024 * 1024 });
  client = s3.client();
});
afterAll(() => s3.close());

describe('PutObject and GetObject', () => {
  test('what the uploader says comes back with the download', async () => {
    await put('said', {
      ContentType: 'text/csv',
      ContentDisposition: 'attachment; filename="said.csv";',
      ContentEncoding: 'gzip',
      CacheControl: 'no-store',
      ContentLanguage: 'cs',
      Metadata: { origin: 'test', empty: '' },
      ServerSideEncryption: 'AES256',
      ACL: 'private',
    });
    const { $metadata, Body, LastModified, ETag, ...rest } = await get('said');
    expect($metadata.httpStatusCode).toBe(200);
    expect(await Body?.transformToString()).toBe('content');
    expect(Math.abs(Date.now() - (LastModified?.getTime() ?? 0))).toBeLessThan(60_000);
    expect(ETag).toBe('"9a0364b9e99bb480dd25e1f0284c8555"');
    expect(rest).toMatchObject({
      ContentType: 'text/csv',
      ContentDisposition: 'attachment; filename="said.csv";',
      ContentEncoding: 'gzip',
      CacheControl: 'no-store',
      ContentLanguage: 'cs',
      Metadata: { origin: 'test', empty: '' },
      ServerSideEncryption: 'AES256',
      ContentLength: 7,
      AcceptRanges: 'bytes',
    });
  });

  test.each<[string, number, string | undefined]>([
    ['bytes=0-2', 206, 'con'],
    ['bytes=4-', 206, 'ent'],
    ['bytes=-3', 206, 'ent'],
    ['bytes=-100', 206, 'content'],
    ['bytes=3-100', 206, 'tent'],
    ['bytes=5-2', 200, 'content'],
    ['bytes=0-1,3-4', 200, 'content'],
    ['rows=1-2', 200, 'content'],
    ['bytes=7-', 416, undefined],
    ['bytes=-0', 416, undefined],
  ])('range %s answers %i', async (Range, status, text) => {
    await put('ranged');
    const answer = await get('ranged', { Range }).catch((error: unknown) => error);
    expect(answer).toMatchObject({ $metadata: { httpStatusCode: status } });
    if (text === undefined) expect(answer).toMatchObject({ name: 'InvalidRange' });
    else expect(await (answer as Awaited<ReturnType<typeof get>>).Body?.transformToString()).toBe(text);
  });

  test('conditions of reading and of writing', async () => {
    await s3.store.delete(['once']);
    const { ETag } = await put('once', { IfNoneMatch: '*' });
    expect(await errorCode(put('once', { IfNoneMatch: '*' }))).toBe('PreconditionFailed');
    expect(await errorCode(put('once', { IfMatch: '"other"' }))).toBe('PreconditionFailed');
    expect(await errorCode(put('never', { IfMatch: ETag }))).toBe('NoSuchKey');
    await put('once', { IfMatch: ETag, Body: 'content' });
    await get('once', { IfMatch: ETag });
    expect(await errorCode(get('once', { IfMatch: '"other"' }))).toBe('PreconditionFailed');
    const unchanged = await get('once', { IfNoneMatch: ETag }).catch((error: unknown) => error);
    expect(unchanged).toMatchObject({ $metadata: { httpStatusCode: 304 } });
    const old = new Date(Date.now() - 3600_000);
    expect(await errorCode(get('once', { IfUnmodifiedSince: old }))).toBe('PreconditionFailed');
    await get('once', { IfModifiedSince: old });
  });

  test('of many writers that want to be the first, one is', async () => {
    await s3.store.delete(['raced']);
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => put('raced', { IfNoneMatch: '*' })),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });

  test.each<ChecksumAlgorithm>(['CRC32', 'CRC32C', 'SHA1', 'SHA256', 'CRC64NVME'])(
    '%s is checked, kept and given back, for a buffer and for a stream with a trailer',
    async (ChecksumAlgorithm) => {
      const field = `Checksum${ChecksumAlgorithm}` as 'ChecksumCRC32';
      const whole = await put('summed', { ChecksumAlgorithm });
      const streamed = await put('summed', {
        ChecksumAlgorithm,
        Body: Readable.from([Buffer.from('content')]),
        ContentLength: 7,
      });
      expect(whole[field]).toMatch(/^[A-Za-z0-9+/]+=*$/);
      expect(streamed[field]).toBe(whole[field]);
      const found = await get('summed', { ChecksumMode: 'ENABLED' });
      expect(found[field]).toBe(whole[field]);
      expect(await found.Body?.transformToString()).toBe('content');
      expect((await client.send(new HeadObjectCommand({ Bucket, Key: 'summed' })))[field]).toBeUndefined();
    },
  );

  test('wrong checksums and wrong MD5 are refused, and nothing is stored', async () => {
    expect(await errorCode(put('wrong', { ChecksumCRC32: 'AAAAAA==' }))).toBe('BadDigest');
    expect(await errorCode(put('wrong', { ChecksumSHA256: 'short' }))).toBe('InvalidRequest');
    expect(await errorCode(put('wrong', { ContentMD5: 'AAAAAAAAAAAAAAAAAAAAAA==' }))).toBe('BadDigest');
    expect(await errorCode(put('wrong', { ContentMD5: 'no md5' }))).toBe('InvalidDigest');
    const address = new URL(await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'wrong' })));
    const path = address.pathname + address.search;
    const empty = await sendExactly(s3.endpoint, {
      path,
      method: 'PUT',
      headers: { 'content-md5': '' },
      body: [],
    });
    expect(empty).toMatchObject({ status: 400, text: expect.stringContaining('InvalidDigest') as string });
    expect(await s3.store.head('wrong')).toBeUndefined();
  });

  test('a body above the limit is refused, announced or not, and the client hears why', async () => {
    const large = Buffer.alloc(1024 * 1024 + 1);
    expect(await errorCode(put('large', { Body: large }))).toBe('EntityTooLarge');
    expect(await s3.store.head('large')).toBeUndefined();
    await put('large', { Body: large.subarray(1) });
    expect(await s3.store.head('large')).toMatchObject({ bytes: 1024 * 1024 });
  });

  test('other kinds of encryption and too much metadata are refused', async () => {
    expect(await errorCode(put('x', { ServerSideEncryption: 'aws:kms' }))).toBe('NotImplemented');
    expect(await errorCode(put('x', { Metadata: { long: 'x'.repeat(3000) } }))).toBe('MetadataTooLarge');
    expect(await errorCode(put('k'.repeat(1025)))).toBe('KeyTooLongError');
  });

  test('a signed address may replace headers of the answer, but not smuggle any', async () => {
    await put('replaced');
    const response = await fetch(await signed('attachment; filename="a.csv"'));
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="a.csv"');
    expect(response.headers.get('content-type')).toBe('text/plain');
    expect((await fetch(await signed('a\r\nx-evil: 1'))).status).toBe(400);
  });

  test('a signed address uploads', async () => {
    const address = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'signed put' }), {
      expiresIn: 60,
    });
    expect((await fetch(address, { method: 'PUT', body: 'by address' })).status).toBe(200);
    expect(await (await get('signed put')).Body?.transformToString()).toBe('by address');
    expect((await fetch(address)).status).toBe(403);
  });
});

describe('other operations', () => {
  test('CopyObject keeps or replaces what is known of the object', async () => {
    await put('source +', { ContentType: 'text/csv', Metadata: { a: '1' } });
    await client.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/source%20%2B` }));
    expect(await get('copy')).toMatchObject({
      ContentType: 'text/csv',
      Metadata: { a: '1' },
      ContentLength: 7,
    });
    const replaced = { ContentType: 'text/plain', MetadataDirective: 'REPLACE' } as const;
    await client.send(
      new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `/${Bucket}/copy`, ...replaced }),
    );
    expect(await get('copy')).toMatchObject({ ContentType: 'text/plain', Metadata: {} });
    const missing = new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/missing` });
    expect(await errorCode(client.send(missing))).toBe('NoSuchKey');
    const itself = new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/copy` });
    expect(await errorCode(client.send(itself))).toBe('InvalidRequest');
  });

  test('DeleteObject and DeleteObjects, with keys that XML must escape', async () => {
    const keys = ['d/&<>"\'', 'd/ two  spaces ', 'd/\r\n\t', 'd/é😀', 'd/&amp;'];
    for (const key of keys) await put(key);
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'd/missing' }));
    const Objects = keys.map((Key) => ({ Key }));
    const { Deleted = [] } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(Deleted.map(({ Key }) => Key)).toEqual(keys);
    for (const key of keys) expect(await s3.store.head(key)).toBeUndefined();
    const quiet = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
    expect(quiet.Deleted).toBeUndefined();
  });

  test('buckets: there is one', async () => {
    expect((await client.send(new ListBucketsCommand())).Buckets?.map(({ Name }) => Name)).toEqual([Bucket]);
    await client.send(new HeadBucketCommand({ Bucket }));
    expect((await client.send(new GetBucketLocationCommand({ Bucket }))).LocationConstraint).toBeUndefined();
    expect(await errorCode(client.send(new GetObjectCommand({ Bucket: 'other', Key: 'x' })))).toBe(
      'NoSuchBucket',
    );
  });

  test('an encoding comes back as it was sent, without that of the transfer', async () => {
    for (const [sent, back] of [
      ['deflate, gzip', 'deflate, gzip'],
      ['gzip,br', 'gzip,br'],
      ['aws-chunked, gzip', 'gzip'],
      ['aws-chunked, deflate, gzip, aws-chunked', 'deflate, gzip'],
      ['aws-chunked', undefined],
    ] as const) {
      await put('encoded', { ContentEncoding: sent });
      const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'encoded' }));
      expect(head.ContentEncoding, sent).toBe(back);
    }
  });

  test('versions are not kept, and whoever switches them on hears so', async () => {
    const Status = 'Enabled' as const;
    const command = new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } });
    expect(await errorCode(client.send(command))).toBe('NotImplemented');
    expect((await client.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBeUndefined();
  });

  test('what is not supported says so, and touches nothing', async () => {
    await put('plain');
    expect(await errorCode(client.send(new GetObjectAclCommand({ Bucket, Key: 'plain' })))).toBe(
      'NotImplemented',
    );
    expect(await errorCode(get('plain', { VersionId: 'x' }))).toBe('NotImplemented');
    expect(await errorCode(get('missing'))).toBe('NoSuchKey');
  });

  test('a public host that begins like the bucket is path-style', async () => {
    const own = await startEmbedded({ endpoint: () => 'http://files.example.com' });
    await own.store.write('files/deep', Buffer.from('content'), { encrypted: false });
    const address = new URL(await own.store.presign('files/deep', { expiresInSeconds: 60 }));
    const path = address.pathname + address.search;
    const direct = await sendExactly(own.endpoint, { path, headers: { host: 'files.example.com' } });
    expect(direct).toMatchObject({ status: 200, text: 'content' });
    // A proxy in front that puts its own name in place of the host.
    expect((await sendExactly(own.endpoint, { path })).text).toBe('content');
    await own.close();
  });

  test('virtual-host addresses', async () => {
    await put('hosted');
    const host = `${Bucket}.s3.us-east-1.amazonaws.com`;
    const signer = s3.client(undefined, {
      endpoint: 'http://s3.us-east-1.amazonaws.com',
      forcePathStyle: false,
    });
    const address = new URL(await getSignedUrl(signer, new GetObjectCommand({ Bucket, Key: 'hosted' })));
    expect(address.host).toBe(host);
    const answer = await sendExactly(s3.endpoint, {
      path: address.pathname + address.search,
      headers: { host },
    });
    expect(answer).toMatchObject({ status: 200, text: 'content' });
  });
});
