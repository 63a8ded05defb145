import { ObjectError } from '../errors.ts';
import type { ObjectMeta } from '../folder/meta.ts';
import { compareKeys } from '../keys.ts';
import { quoted } from './attributes.ts';
import { param, type S3Call, type S3Operation } from './call.ts';
import { OWNER, sendEmpty, sendXml } from './reply.ts';
import { encodePath } from './sigv4.ts';
import type { Element } from './xml.ts';

/** Implements ListObjectsV2: continues by a token that only this service reads. */
async function listObjectsV2(call: S3Call): Promise<void> {
  const token = param(call, 'continuation-token');
  const startAfter = param(call, 'start-after');
  const { maxKeys, prefix, delimiter, text } = readQuery(call);
  const after = token === undefined ? Buffer.from(startAfter ?? '') : readToken(token);
  const page = await listPage(call, { prefix, delimiter, maxKeys, after });
  sendXml(call, [
    'ListBucketResult',
    [
      ...head(call, page, param(call, 'fetch-owner') === 'true'),
      ['KeyCount', page.objects.length + page.prefixes.length],
      token === undefined ? undefined : ['ContinuationToken', token],
      startAfter === undefined ? undefined : ['StartAfter', text(startAfter)],
      page.last === undefined ? undefined : ['NextContinuationToken', page.last.toString('base64url')],
    ],
  ]);
}

/** Implements ListObjects, the older form: continues after a key or a common prefix. */
async function listObjectsV1(call: S3Call): Promise<void> {
  const marker = param(call, 'marker') ?? '';
  const { maxKeys, prefix, delimiter, text } = readQuery(call);
  const isPrefix = delimiter !== '' && marker.startsWith(prefix) && marker.endsWith(delimiter);
  const after = isPrefix ? behind(marker) : Buffer.from(marker);
  const page = await listPage(call, { prefix, delimiter, maxKeys, after });
  const next = page.prefixes.at(-1) ?? '';
  const lastKey = page.objects.at(-1)?.key ?? '';
  const nextMarker = compareKeys(next, lastKey) > 0 ? next : lastKey;
  sendXml(call, [
    'ListBucketResult',
    [
      ...head(call, page, true),
      ['Marker', text(marker)],
      page.last === undefined ? undefined : ['NextMarker', text(nextMarker)],
    ],
  ]);
}

const prefixOf = (call: S3Call): string => param(call, 'prefix') ?? '';
const bucketRead = { method: 'GET', level: 'bucket' } as const;

export const LIST_OPERATIONS: readonly S3Operation[] = [
  {
    ...bucketRead,
    name: 'GetBucketLocation',
    params: ['location'],
    action: 'none',
    run: (call) =>
      Promise.resolve(sendXml(call, ['LocationConstraint', call.region === 'us-east-1' ? '' : call.region])),
  },
  {
    ...bucketRead,
    name: 'GetBucketVersioning',
    params: ['versioning'],
    action: 'none',
    run: (call) => Promise.resolve(sendXml(call, ['VersioningConfiguration', ''])),
  },
  {
    ...bucketRead,
    name: 'ListObjectsV2',
    params: ['list-type=2'],
    action: 'list',
    target: prefixOf,
    run: listObjectsV2,
  },
  { ...bucketRead, name: 'ListObjects', action: 'list', target: prefixOf, run: listObjectsV1 },
  {
    name: 'HeadBucket',
    method: 'HEAD',
    level: 'bucket',
    action: 'manage',
    run: (call) => Promise.resolve(sendEmpty(call, 200, { 'x-amz-bucket-region': call.region })),
  },
  {
    // Without this operation, the request would match the creation of a bucket, and clients would believe that versions
    // are kept.
    name: 'PutBucketVersioning',
    method: 'PUT',
    level: 'bucket',
    params: ['versioning'],
    action: 'manage',
    run: () => Promise.reject(new ObjectError('NotImplemented', 'Versions of objects are not kept.')),
  },
  {
    name: 'CreateBucket',
    method: 'PUT',
    level: 'bucket',
    action: 'manage',
    run: () =>
      Promise.reject(new ObjectError('BucketAlreadyOwnedByYou', 'The bucket exists, and it is yours.')),
  },
  {
    name: 'ListBuckets',
    method: 'GET',
    level: 'service',
    action: 'manage',
    run: (call) =>
      Promise.resolve(
        sendXml(call, [
          'ListAllMyBucketsResult',
          [
            ['Owner', OWNER],
            [
              'Buckets',
              [
                [
                  'Bucket',
                  [
                    ['Name', call.bucket],
                    ['CreationDate', EPOCH],
                  ],
                ],
              ],
            ],
          ],
        ]),
      ),
  },
];

const EPOCH = '1970-01-01T00:00:00.000Z';
const MAX_KEYS = 1000;

interface Query {
  readonly prefix: string;
  readonly delimiter: string;
  readonly maxKeys: number;
}

interface Page {
  readonly objects: readonly ObjectMeta[];
  /** Common prefixes of keys, up to the delimiter. */
  readonly prefixes: readonly string[];
  /** Position before the next page; undefined at the end. */
  readonly last: Buffer | undefined;
}

async function listPage(call: S3Call, query: Query & { readonly after: Buffer }): Promise<Page> {
  const { prefix, delimiter, maxKeys } = query;
  const objects: ObjectMeta[] = [];
  const prefixes: string[] = [];
  let after = query.after;
  for (let isDone = maxKeys === 0; !isDone;) {
    isDone = true;
    for await (const object of call.folder.list(prefix, after)) {
      if (objects.length + prefixes.length === maxKeys) return { objects, prefixes, last: after };
      const end = delimiter === '' ? -1 : object.key.indexOf(delimiter, prefix.length);
      if (end < 0) {
        objects.push(object);
        after = Buffer.from(object.key);
        continue;
      }
      const common = object.key.slice(0, end + delimiter.length);
      prefixes.push(common);
      // Walk on behind all that it stands for, without looking at each of them.
      after = behind(common);
      isDone = false;
      break;
    }
  }
  return { objects, prefixes, last: undefined };
}

/** A position after every key that begins with this text: 0xff is no byte of UTF-8. */
function behind(text: string): Buffer {
  return Buffer.concat([Buffer.from(text), Buffer.from([0xff])]);
}

function readQuery(call: S3Call): Query & { readonly text: (value: string) => string } {
  const maxText = param(call, 'max-keys') ?? String(MAX_KEYS);
  if (!/^\d{1,9}$/.test(maxText))
    throw new ObjectError('InvalidArgument', 'max-keys must be a number from 0 on.');
  const encoding = param(call, 'encoding-type');
  if (encoding !== undefined && encoding !== 'url')
    throw new ObjectError('InvalidArgument', 'encoding-type must be url.');
  return {
    prefix: prefixOf(call),
    delimiter: param(call, 'delimiter') ?? '',
    maxKeys: Math.min(Number(maxText), MAX_KEYS),
    text: encoding === 'url' ? encodePath : (value) => value,
  };
}

function head(call: S3Call, page: Page, withOwner: boolean): (Element | undefined)[] {
  const { prefix, delimiter, maxKeys, text } = readQuery(call);
  return [
    ['Name', call.bucket],
    ['Prefix', text(prefix)],
    delimiter === '' ? undefined : ['Delimiter', text(delimiter)],
    ['MaxKeys', maxKeys],
    param(call, 'encoding-type') === undefined ? undefined : ['EncodingType', 'url'],
    ['IsTruncated', page.last !== undefined],
    ...page.objects.map((object): Element => [
      'Contents',
      [
        ['Key', text(object.key)],
        ['LastModified', object.modified],
        ['ETag', quoted(object.etag)],
        ['Size', object.bytes],
        ...(withOwner ? [['Owner', OWNER] as const] : []),
        ['StorageClass', 'STANDARD'],
      ],
    ]),
    ...page.prefixes.map((common): Element => ['CommonPrefixes', [['Prefix', text(common)]]]),
  ];
}

function readToken(token: string): Buffer {
  if (!/^[A-Za-z0-9_-]+$/.test(token))
    throw new ObjectError('InvalidArgument', 'The continuation token is not correct.');
  return Buffer.from(token, 'base64url');
}
