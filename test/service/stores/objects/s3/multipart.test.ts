// @module-tag thorough
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  type CompletedPart,
  type ChecksumAlgorithm,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readXml } from '../../../../../src/service/stores/objects/s3/xml.ts';
import { errorCode, fitting, startEmbedded, type Embedded } from '../support.ts';

let s3: Embedded;
let client: ReturnType<Embedded['client']>;
const Bucket = 'files';
const begin = async (Key: string, more: { ServerSideEncryption?: 'AES256' } = {}) =>
  (await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...more }))).UploadId ?? '';
const send = async (
  Key: string,
  UploadId: string,
  PartNumber: number,
  Body: string,
): Promise<CompletedPart> => {
  const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
  return { PartNumber, ETag };
};
const complete = (Key: string, UploadId: string, Parts: CompletedPart[]) =>
  client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));

beforeAll(async () => {
  s3 = await startEmbedded({ minPartBytes: 4 });
  client = s3.client();
});
afterAll(() => s3.close());

test('parts in any order, one of them twice, become the object in the order of their numbers', async () => {
  const id = await begin('joined', { ServerSideEncryption: 'AES256' });
  const last = await send('joined', id, 30, 'end');
  await send('joined', id, 2, 'wrong');
  const first = await send('joined', id, 2, 'first ');
  const middle = await send('joined', id, 7, 'middle ');
  const listed = await client.send(
    new ListPartsCommand({ Bucket, Key: 'joined', UploadId: id, MaxParts: 2 }),
  );
  expect(listed.Parts?.map(({ PartNumber, Size }) => [PartNumber, Size])).toEqual([
    [2, 6],
    [7, 7],
  ]);
  expect(listed).toMatchObject({ IsTruncated: true, NextPartNumberMarker: '7' });
  const done = await complete('joined', id, [first, middle, last]);
  expect(done).toMatchObject({
    ETag: fitting(/^"[0-9a-f]{32}-3"$/),
    ServerSideEncryption: 'AES256',
  });
  const found = await client.send(new GetObjectCommand({ Bucket, Key: 'joined' }));
  expect(await found.Body?.transformToString()).toBe('first middle end');
  const part = await client.send(new GetObjectCommand({ Bucket, Key: 'joined', PartNumber: 2 }));
  expect(await part.Body?.transformToString()).toBe('middle ');
  expect(part).toMatchObject({ PartsCount: 3, ContentRange: 'bytes 6-12/16' });
  expect(await readdir(path.join(s3.directory, 'uploads'))).not.toContain(id);
  const again = await complete('joined', id, [first, middle, last]);
  expect(again.ETag).toBe(done.ETag);
});

test('an upload that names wrong parts is refused, and can still be completed', async () => {
  const id = await begin('refused');
  const one = await send('refused', id, 1, 'one, ');
  const two = await send('refused', id, 2, 'two');
  expect(await errorCode(complete('refused', id, [two, one]))).toBe('InvalidPartOrder');
  expect(await errorCode(complete('refused', id, [one, { ...two, ETag: one.ETag }]))).toBe('InvalidPart');
  expect(await errorCode(complete('refused', id, [one, { ...two, PartNumber: 3 }]))).toBe('InvalidPart');
  expect(await errorCode(complete('refused', id, []))).toBe('MalformedXML');
  expect(await errorCode(complete('other key', id, [one, two]))).toBe('NoSuchUpload');
  expect(await s3.store.head('refused')).toBeUndefined();
  await complete('refused', id, [one, two]);
  expect(await s3.store.head('refused')).toMatchObject({ bytes: 8 });
});

test('XML of nothing but tags or attributes is refused before it is read', () => {
  const tags = Array.from({ length: 500_000 }, (_, n) => `<a${n}/>`).join('');
  expect(() => readXml(Buffer.from(`<r>${tags}</r>`), [])).toThrow('not the XML');
  const attributes = Array.from({ length: 500_000 }, (_, n) => `a${n}="b"`).join(' ');
  expect(() => readXml(Buffer.from(`<r ${attributes}/>`), [])).toThrow('not the XML');
  const part = `<Part><PartNumber>1</PartNumber><ETag>x</ETag>${'<ChecksumSHA256>a=</ChecksumSHA256>'.repeat(5)}</Part>`;
  const root = readXml(Buffer.from(`<C>${part.repeat(10_000)}</C>`), ['Part'])['C'];
  expect((root as { Part: unknown[] }).Part).toHaveLength(10_000);
});

test('a small part that is not the last, and part numbers out of bounds', async () => {
  const id = await begin('small');
  const parts = [await send('small', id, 1, 'x'), await send('small', id, 2, 'y')];
  expect(await errorCode(complete('small', id, parts))).toBe('EntityTooSmall');
  for (const number of [0, 10_001])
    expect(await errorCode(send('small', id, number, 'x'))).toBe('InvalidArgument');
});

test('a part without its number is refused, and does not become the object', async () => {
  const UploadId = await begin('numberless');
  const command = new PutObjectCommand({ Bucket, Key: 'numberless', Body: 'part' });
  command.middlewareStack.add(
    (next) => async (args) => {
      // The SDK's own request, before it is signed.
      (args.request as { query: Record<string, string> }).query['uploadId'] = UploadId;
      return await next(args);
    },
    { step: 'build' },
  );
  expect(await errorCode(client.send(command))).toBe('InvalidArgument');
  expect(await errorCode(client.send(new GetObjectCommand({ Bucket, Key: 'numberless' })))).toBe('NoSuchKey');
});

test('an aborted upload is gone, and ids that are paths lead nowhere', async () => {
  const id = await begin('aborted');
  await send('aborted', id, 1, 'part');
  const listed = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'aborted' }));
  expect(listed.Uploads?.map(({ UploadId }) => UploadId)).toEqual([id]);
  await client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'aborted', UploadId: id }));
  expect(await errorCode(send('aborted', id, 2, 'part'))).toBe('NoSuchUpload');
  for (const wrong of ['../objects', '..', id])
    expect(
      await errorCode(
        client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'aborted', UploadId: wrong })),
      ),
    ).toBe('NoSuchUpload');
});

test.each<[ChecksumAlgorithm, 'COMPOSITE' | 'FULL_OBJECT']>([
  ['CRC32', 'COMPOSITE'],
  ['SHA256', 'COMPOSITE'],
  ['CRC64NVME', 'FULL_OBJECT'],
])('lib-storage uploads a stream in parts with %s', async (ChecksumAlgorithm, ChecksumType) => {
  const body = randomBytes(11 * 1024 * 1024);
  const params = {
    Bucket,
    Key: 'streamed',
    Body: Readable.from([body.subarray(0, 777), body.subarray(777)]),
    ChecksumAlgorithm,
  };
  await new Upload({ client, params }).done();
  const found = await client.send(new GetObjectCommand({ Bucket, Key: 'streamed', ChecksumMode: 'ENABLED' }));
  expect(found.ChecksumType).toBe(ChecksumType);
  expect(body.equals((await found.Body?.transformToByteArray()) ?? new Uint8Array())).toBe(true);
});

test('an upload outlives a restart', async () => {
  const id = await begin('restarted');
  const part = await send('restarted', id, 1, 'before');
  const { createFolderStore } = await import('../../../../../src/service/stores/objects/folder-store.ts');
  const { systemEnv } = await import('../../../../../src/lib/env.ts');
  const { silentLog } = await import('../../../../../src/lib/log.ts');
  const options = {
    directory: s3.directory,
    secret: Buffer.alloc(32, 7),
    endpoint: () => s3.endpoint,
    env: systemEnv,
    log: silentLog,
  };
  await createFolderStore(options).open();
  await complete('restarted', id, [part]);
  expect(await s3.store.head('restarted')).toMatchObject({ bytes: 6 });
});

const crc = (text: string): Buffer => {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(crc32(text));
  return out;
};
const sha256 = (content: Buffer | string): Buffer => createHash('sha256').update(content).digest();

describe('the checksum of the whole object, given when the upload is completed', () => {
  const texts = ['one, ', 'two, ', 'three'];
  const full = crc(texts.join('')).toString('base64');
  const ofParts = `${sha256(Buffer.concat(texts.map(sha256))).toString('base64')}-${texts.length}`;

  const sendAll = async (Key: string, id: string, ChecksumAlgorithm: ChecksumAlgorithm) =>
    await Promise.all(
      texts.map(async (Body, index) => {
        const PartNumber = index + 1;
        const sent = await client.send(
          new UploadPartCommand({ Bucket, Key, UploadId: id, PartNumber, Body, ChecksumAlgorithm }),
        );
        const { ETag, ChecksumCRC32, ChecksumSHA256 } = sent;
        return { PartNumber, ETag, ChecksumCRC32, ChecksumSHA256 };
      }),
    );

  test('of type FULL_OBJECT', async () => {
    const start = { Bucket, Key: 'full', ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const;
    const { UploadId = '' } = await client.send(new CreateMultipartUploadCommand(start));
    const upload = { Bucket, Key: 'full', UploadId };
    const end = { ...upload, MultipartUpload: { Parts: await sendAll('full', UploadId, 'CRC32') } };
    const wrong = { ...end, ChecksumCRC32: crc('other').toString('base64') };
    expect(await errorCode(client.send(new CompleteMultipartUploadCommand(wrong)))).toBe('BadDigest');
    const noSum = { ...end, ChecksumCRC32: 'none' };
    expect(await errorCode(client.send(new CompleteMultipartUploadCommand(noSum)))).toBe('InvalidRequest');
    const right = { ...end, ChecksumCRC32: full, ChecksumType: 'FULL_OBJECT' } as const;
    const done = await client.send(new CompleteMultipartUploadCommand(right));
    expect(done).toMatchObject({ ChecksumCRC32: full, ChecksumType: 'FULL_OBJECT' });
    const found = await client.send(new GetObjectCommand({ Bucket, Key: 'full', ChecksumMode: 'ENABLED' }));
    expect(await found.Body?.transformToString()).toBe('one, two, three');
    expect(found.ChecksumCRC32).toBe(full);
  });

  test('made of those of the parts, with their number', async () => {
    const start = { Bucket, Key: 'composite', ChecksumAlgorithm: 'SHA256' } as const;
    const { UploadId = '' } = await client.send(new CreateMultipartUploadCommand(start));
    const upload = { Bucket, Key: 'composite', UploadId };
    const end = { ...upload, MultipartUpload: { Parts: await sendAll('composite', UploadId, 'SHA256') } };
    for (const [sum, code] of [
      [ofParts.replace(/-3$/, '-2'), 'BadDigest'],
      [sha256(texts.join('')).toString('base64'), 'InvalidRequest'],
      ['bad', 'InvalidRequest'],
    ] as const) {
      const wrong = { ...end, ChecksumSHA256: sum };
      expect(await errorCode(client.send(new CompleteMultipartUploadCommand(wrong))), sum).toBe(code);
    }
    const done = await client.send(new CompleteMultipartUploadCommand({ ...end, ChecksumSHA256: ofParts }));
    expect(done).toMatchObject({ ChecksumSHA256: ofParts, ChecksumType: 'COMPOSITE' });
  });

  test('of an upload that began without one', async () => {
    const id = await begin('late');
    const parts = await Promise.all(texts.map((text, index) => send('late', id, index + 1, text)));
    const end = { Bucket, Key: 'late', UploadId: id, MultipartUpload: { Parts: parts } };
    const wrong = { ...end, ChecksumCRC32: crc('other').toString('base64') };
    expect(await errorCode(client.send(new CompleteMultipartUploadCommand(wrong)))).toBe('BadDigest');
    const done = await client.send(new CompleteMultipartUploadCommand({ ...end, ChecksumCRC32: full }));
    expect(done.ChecksumCRC32).toBe(full);
  });
});
