import { checkEncryption } from './authorize.ts';
import { checksumHeaders, encryptionHeaders, quoted, readAttributes } from './attributes.ts';
import { openBody, readSmallBody } from './body.ts';
import { header, type S3Call, type S3Operation } from './call.ts';
import { checkReadConditions, writeCondition } from './conditions.ts';
import { ObjectError, toObjectError } from '../errors.ts';
import { attributesOf } from '../folder/meta.ts';
import { CHECKSUM_NAMES } from '../checksums.ts';
import { checkKey } from '../keys.ts';
import { sendEmpty, sendXml } from './reply.ts';
import { isRecord, malformedXml, readXml, type Element } from './xml.ts';

async function putObject(call: S3Call): Promise<void> {
  const attributes = readAttributes(call);
  checkEncryption(call.signer.identity, attributes.isEncrypted);
  const body = openBody(call);
  const meta = await call.folder.put(call.address.key, body.stream, {
    ...body,
    attributes,
    condition: writeCondition(call),
  });
  sendEmpty(call, 200, {
    etag: quoted(meta.etag),
    ...encryptionHeaders(meta.isEncrypted),
    ...checksumHeaders(meta.checksums),
  });
}

async function copyObject(call: S3Call): Promise<void> {
  const { bucket, key } = readSource(call);
  if (bucket !== call.bucket)
    throw new ObjectError('NoSuchBucket', 'The bucket of the source does not exist.');
  const source = await call.folder.get(key);
  if (source === undefined)
    throw new ObjectError('NoSuchKey', 'The source of the copy does not exist.', { facts: { Key: key } });
  try {
    checkReadConditions(call, source.meta, 'x-amz-copy-source-');
    const isReplaced = header(call, 'x-amz-metadata-directive')?.toUpperCase() === 'REPLACE';
    const given = readAttributes(call);
    if (key === call.address.key && !isReplaced && !given.isEncrypted)
      throw new ObjectError(
        'InvalidRequest',
        'A copy of an object onto itself must replace its metadata or its encryption.',
      );
    const attributes = isReplaced ? given : { ...attributesOf(source.meta), isEncrypted: given.isEncrypted };
    const asked = header(call, 'x-amz-checksum-algorithm')?.toLowerCase();
    const kept = CHECKSUM_NAMES.filter((name) => name === asked || source.meta.checksums[name] !== undefined);
    const meta = await call.folder.put(call.address.key, source.read(), {
      attributes,
      checksums: kept,
      condition: writeCondition(call),
    });
    const result: Element[] = [
      ['LastModified', meta.modified],
      ['ETag', quoted(meta.etag)],
    ];
    sendXml(call, ['CopyObjectResult', result], encryptionHeaders(meta.isEncrypted));
  } finally {
    await source.close();
  }
}

async function deleteObject(call: S3Call): Promise<void> {
  const condition = writeCondition(call);
  if (condition !== undefined) condition(await call.folder.head(call.address.key));
  await call.folder.delete(call.address.key);
  sendEmpty(call, 204);
}

async function deleteObjects(call: S3Call): Promise<void> {
  const { keys, isQuiet } = readDeletion(await readSmallBody(call, MAX_XML_BYTES));
  const results: Element[] = [];
  for (const key of keys) {
    try {
      await call.folder.delete(checkKey(key));
      if (!isQuiet) results.push(['Deleted', [['Key', key]]]);
    } catch (error) {
      const { code, message } = toObjectError(error);
      results.push([
        'Error',
        [
          ['Key', key],
          ['Code', code],
          ['Message', message],
        ],
      ]);
    }
  }
  sendXml(call, ['DeleteResult', results]);
}

export const WRITE_OPERATIONS: readonly S3Operation[] = [
  {
    name: 'CopyObject',
    method: 'PUT',
    level: 'object',
    header: 'x-amz-copy-source',
    action: 'manage',
    run: copyObject,
  },
  { name: 'PutObject', method: 'PUT', level: 'object', action: 'write', run: putObject },
  { name: 'DeleteObject', method: 'DELETE', level: 'object', action: 'manage', run: deleteObject },
  {
    name: 'DeleteObjects',
    method: 'POST',
    level: 'bucket',
    params: ['delete'],
    action: 'manage',
    run: deleteObjects,
  },
];

/** Ten thousand parts, or a thousand keys, with all that may be said of them. */
export const MAX_XML_BYTES = 8 * 1024 * 1024;
const MAX_DELETED = 1000;

function readDeletion(bytes: Uint8Array): { keys: string[]; isQuiet: boolean } {
  const root = readXml(bytes, ['Object'])['Delete'];
  if (!isRecord(root) || !Array.isArray(root['Object'])) throw malformedXml();
  const keys = root['Object'].map((item: unknown) => {
    if (!isRecord(item) || typeof item['Key'] !== 'string') throw malformedXml();
    return item['Key'];
  });
  if (keys.length > MAX_DELETED) throw malformedXml();
  return { keys, isQuiet: root['Quiet'] === 'true' };
}

function readSource(call: S3Call): { bucket: string; key: string } {
  const [path = ''] = (header(call, 'x-amz-copy-source') ?? '').split('?');
  let text: string;
  try {
    text = decodeURIComponent(Buffer.from(path, 'latin1').toString()).replace(/^\//, '');
  } catch (error) {
    throw new ObjectError('InvalidArgument', 'x-amz-copy-source is not well encoded.', { cause: error });
  }
  const slash = text.indexOf('/');
  if (slash < 1) throw new ObjectError('InvalidArgument', 'x-amz-copy-source must be /bucket/key.');
  return { bucket: text.slice(0, slash), key: checkKey(text.slice(slash + 1)) };
}
