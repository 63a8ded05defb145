import { ListObjectsCommand, ListObjectsV2Command, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorCode, fitting, startEmbedded, type Embedded } from '../support.ts';

let s3: Embedded;
let client: ReturnType<Embedded['client']>;
const Bucket = 'files';
const KEYS = ['a.csv', 'a/1', 'a/2', 'a/b/3', 'a0', 'b/1', 'c d+e&', 'é/1', 'z'];

beforeAll(async () => {
  s3 = await startEmbedded();
  client = s3.client();
  for (const key of KEYS) await s3.store.write(key, Buffer.from(key), { encrypted: false });
});
afterAll(() => s3.close());

test('all objects with their sizes and tags, in the order of their bytes', async () => {
  const page = await client.send(new ListObjectsV2Command({ Bucket }));
  expect(page.Contents?.map(({ Key }) => Key)).toEqual([
    'a.csv',
    'a/1',
    'a/2',
    'a/b/3',
    'a0',
    'b/1',
    'c d+e&',
    'z',
    'é/1',
  ]);
  expect(page.Contents?.[0]).toMatchObject({
    Size: 5,
    ETag: fitting(/^"[0-9a-f]{32}"$/),
    StorageClass: 'STANDARD',
  });
  expect(page).toMatchObject({ IsTruncated: false, KeyCount: KEYS.length, MaxKeys: 1000, Name: Bucket });
});

test.each([1, 2, 3, 4])('pages of %i with a delimiter give everything once', async (pageSize) => {
  const found: string[] = [];
  for await (const page of paginateListObjectsV2({ client, pageSize }, { Bucket, Delimiter: '/' })) {
    const keys = [
      ...(page.Contents ?? []).map(({ Key }) => Key),
      ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix),
    ];
    expect(keys.length).toBe(page.KeyCount);
    expect(keys.length).toBeLessThanOrEqual(pageSize);
    found.push(...keys.filter((key) => key !== undefined));
  }
  expect(new Set(found)).toEqual(new Set(['a.csv', 'a/', 'a0', 'b/', 'c d+e&', 'z', 'é/']));
});

test('the older form goes on by marker', async () => {
  const found: (string | undefined)[] = [];
  let Marker: string | undefined;
  for (;;) {
    const page = await client.send(new ListObjectsCommand({ Bucket, Delimiter: '/', MaxKeys: 2, Marker }));
    found.push(
      ...(page.Contents ?? []).map(({ Key }) => Key),
      ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix),
    );
    if (page.IsTruncated !== true) break;
    Marker = page.NextMarker;
  }
  expect(new Set(found)).toEqual(new Set(['a.csv', 'a/', 'a0', 'b/', 'c d+e&', 'z', 'é/']));
});

test('prefix, delimiter, start-after and encoded names', async () => {
  const below = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'a/', Delimiter: '/' }));
  expect(below.Contents?.map(({ Key }) => Key)).toEqual(['a/1', 'a/2']);
  expect(below.CommonPrefixes).toEqual([{ Prefix: 'a/b/' }]);
  const after = await client.send(
    new ListObjectsV2Command({ Bucket, StartAfter: 'b/1', EncodingType: 'url' }),
  );
  expect(after.Contents?.map(({ Key }) => Key)).toEqual(['c%20d%2Be%26', 'z', '%C3%A9/1']);
  const none = await client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 0 }));
  expect(none).toMatchObject({ KeyCount: 0, IsTruncated: false });
});

test('the owner is in the older form, and in the newer one when it is asked for', async () => {
  const Owner = { ID: 'service', DisplayName: 'service' };
  const older = await client.send(new ListObjectsCommand({ Bucket, Prefix: 'z' }));
  expect(older.Contents?.map((object) => object.Owner)).toEqual([Owner]);
  const plain = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'z' }));
  expect(plain.Contents?.map((object) => object.Owner)).toEqual([undefined]);
  const asked = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'z', FetchOwner: true }));
  expect(asked.Contents?.map((object) => object.Owner)).toEqual([Owner]);
});

test('a token that is none is refused', async () => {
  const wrong = new ListObjectsV2Command({ Bucket, ContinuationToken: '../../..' });
  expect(await errorCode(client.send(wrong))).toBe('InvalidArgument');
});
