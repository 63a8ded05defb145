import { CHECKSUM_NAMES, isChecksumName, type ChecksumName, type Checksums } from '../checksums.ts';
import { ObjectError, toObjectError } from '../errors.ts';
import type { ObjectMeta } from '../folder/meta.ts';
import type { FolderUpload, FolderUploadOptions } from '../folder/folder-store-options.ts';
import type { ChosenPart } from '../folder/parts.ts';
import { compareKeys } from '../keys.ts';
import { checksumHeaders, encryptionHeaders, quoted, readAttributes } from './attributes.ts';
import { checkEncryption } from './authorize.ts';
import { checkForm, openBody, readSmallBody } from './body.ts';
import { header, param, type S3Call, type S3Operation } from './call.ts';
import { writeCondition } from './conditions.ts';
import { encodePath } from './sigv4.ts';
import { errorElement, OWNER, sendEmpty, sendXml, setHeaders } from './reply.ts';
import { MAX_XML_BYTES } from './write-operations.ts';
import { isRecord, malformedXml, readXml, XML_DECLARATION, xmlText, type Element } from './xml.ts';

async function createUpload(call: S3Call): Promise<void> {
  const attributes = readAttributes(call);
  checkEncryption(call.signer.identity, attributes.isEncrypted);
  const checksum = readChecksum(call);
  const { key } = call.address;
  const id = await call.folder.createUpload(key, { attributes, checksum });
  const result: Element[] = [
    ['Bucket', call.bucket],
    ['Key', key],
    ['UploadId', id],
  ];
  sendXml(call, ['InitiateMultipartUploadResult', result], {
    ...encryptionHeaders(attributes.isEncrypted),
    'x-amz-checksum-algorithm': checksum?.name.toUpperCase(),
    'x-amz-checksum-type': checksumType(checksum),
  });
}

async function uploadPart(call: S3Call): Promise<void> {
  const part = Number(param(call, 'partNumber'));
  if (!Number.isInteger(part) || part < 1 || part > MAX_PARTS)
    throw new ObjectError(
      'InvalidArgument',
      `The part number must be a whole number from 1 to ${MAX_PARTS}.`,
    );
  const upload = await findUpload(call);
  const body = openBody(call);
  const own = upload.checksum === undefined ? [] : [upload.checksum.name];
  const checksums = [...new Set([...body.checksums, ...own])];
  const meta = await call.folder.putPart(upload, part, body.stream, { ...body, checksums });
  const { 'x-amz-checksum-type': _type, ...sums } = checksumHeaders(meta.checksums);
  sendEmpty(call, 200, {
    etag: quoted(meta.etag),
    ...encryptionHeaders(upload.attributes.isEncrypted),
    ...sums,
  });
}

/** Joining large parts takes a while: past some seconds the answer begins, and blanks keep the connection alive. */
async function completeUpload(call: S3Call): Promise<void> {
  const whole = readWholeChecksum(call);
  const parts = readParts(await readSmallBody(call, MAX_XML_BYTES, 'object'));
  const id = param(call, 'uploadId') ?? '';
  const work = call.folder.completeUpload(call.address.key, id, parts, {
    condition: writeCondition(call),
    checksum: whole,
    verify: (meta) => checkWhole(call, meta, whole),
  });
  const timer = setInterval(() => {
    if (!call.response.headersSent) {
      setHeaders(call.response, { 'content-type': 'application/xml' });
      call.response.writeHead(200).write(XML_DECLARATION);
    } else call.response.write(' ');
  }, call.aliveMs);
  try {
    const result = completeResult(call, await work);
    if (call.response.headersSent) call.response.end(xmlText(result.root));
    else sendXml(call, result.root, result.headers);
  } catch (error) {
    if (!call.response.headersSent) throw error;
    // The status is gone already; clients of S3 look for an error in the body.
    call.response.end(xmlText(errorElement(toObjectError(error), call.address.rawPath, '')));
  } finally {
    clearInterval(timer);
  }
}

async function abortUpload(call: S3Call): Promise<void> {
  await call.folder.abortUpload(call.address.key, param(call, 'uploadId') ?? '');
  sendEmpty(call, 204);
}

async function listParts(call: S3Call): Promise<void> {
  const upload = await findUpload(call);
  const maxParts = Math.min(Number(param(call, 'max-parts') ?? 1000), 1000);
  const after = Number(param(call, 'part-number-marker') ?? 0);
  if (!(maxParts >= 0) || !(after >= 0))
    throw new ObjectError('InvalidArgument', 'max-parts and part-number-marker are numbers.');
  const later = (await call.folder.listParts(upload)).filter(({ part }) => part > after);
  const page = later.slice(0, maxParts);
  sendXml(call, [
    'ListPartsResult',
    [
      ['Bucket', call.bucket],
      ['Key', upload.key],
      ['UploadId', upload.id],
      ['Initiator', OWNER],
      ['Owner', OWNER],
      ['PartNumberMarker', after],
      page.length === 0 ? undefined : ['NextPartNumberMarker', page.at(-1)?.part ?? 0],
      ['MaxParts', maxParts],
      ['IsTruncated', later.length > page.length],
      ['StorageClass', 'STANDARD'],
      ...page.map((part): Element => [
        'Part',
        [
          ['PartNumber', part.part],
          ['LastModified', part.modified],
          ['ETag', quoted(part.etag)],
          ['Size', part.bytes],
          ...checksumElements(part.checksums),
        ],
      ]),
    ],
  ]);
}

async function listUploads(call: S3Call): Promise<void> {
  const prefix = param(call, 'prefix') ?? '';
  const after = [param(call, 'key-marker') ?? '', param(call, 'upload-id-marker') ?? '~'] as const;
  const text = param(call, 'encoding-type') === 'url' ? encodePath : (value: string) => value;
  const later = (await call.folder.listUploads()).filter(
    ({ key, id }) => key.startsWith(prefix) && (compareKeys(key, after[0]) || compareKeys(id, after[1])) > 0,
  );
  const page = later.slice(0, MAX_LISTED);
  const last = later.length > page.length ? page.at(-1) : undefined;
  sendXml(call, [
    'ListMultipartUploadsResult',
    [
      ['Bucket', call.bucket],
      ['KeyMarker', text(after[0])],
      ['Prefix', text(prefix)],
      param(call, 'encoding-type') === undefined ? undefined : ['EncodingType', 'url'],
      ['MaxUploads', MAX_LISTED],
      ['IsTruncated', last !== undefined],
      last === undefined ? undefined : ['NextKeyMarker', text(last.key)],
      last === undefined ? undefined : ['NextUploadIdMarker', last.id],
      ...page.map(({ key, id, created }): Element => [
        'Upload',
        [
          ['Key', text(key)],
          ['UploadId', id],
          ['Initiator', OWNER],
          ['Owner', OWNER],
          ['StorageClass', 'STANDARD'],
          ['Initiated', new Date(created).toISOString()],
        ],
      ]),
    ],
  ]);
}

const MAX_LISTED = 1000;
const common = { level: 'object', action: 'write', params: ['uploadId'] } as const;

export const MULTIPART_OPERATIONS: readonly S3Operation[] = [
  { ...common, name: 'CreateMultipartUpload', method: 'POST', params: ['uploads'], run: createUpload },
  {
    ...common,
    name: 'UploadPartCopy',
    method: 'PUT',
    header: 'x-amz-copy-source',
    run: () =>
      Promise.reject(new ObjectError('NotImplemented', 'Parts cannot be copied from other objects.')),
  },
  // Also without a part number, which is refused then: passed over, it would write the object.
  { ...common, name: 'UploadPart', method: 'PUT', run: uploadPart },
  { ...common, name: 'CompleteMultipartUpload', method: 'POST', run: completeUpload },
  { ...common, name: 'AbortMultipartUpload', method: 'DELETE', run: abortUpload },
  {
    name: 'ListMultipartUploads',
    method: 'GET',
    level: 'bucket',
    params: ['uploads'],
    action: 'manage',
    run: listUploads,
  },
  { ...common, name: 'ListParts', method: 'GET', run: listParts },
];

const MAX_PARTS = 10_000;

function findUpload(call: S3Call): Promise<FolderUpload> {
  return call.folder.uploadOf(call.address.key, param(call, 'uploadId') ?? '');
}

function readChecksum(call: S3Call): FolderUploadOptions['checksum'] {
  const name = header(call, 'x-amz-checksum-algorithm')?.toLowerCase();
  const type = header(call, 'x-amz-checksum-type')?.toUpperCase();
  if (name === undefined) return undefined;
  if (!isChecksumName(name)) throw new ObjectError('InvalidRequest', 'The checksum algorithm is not known.');
  const isComposite = type === undefined ? name !== 'crc64nvme' : type === 'COMPOSITE';
  if (isComposite ? name === 'crc64nvme' : name.startsWith('sha'))
    throw new ObjectError('InvalidRequest', `The checksum type ${type} cannot be used with ${name}.`);
  return { name, isComposite };
}

function readParts(bytes: Uint8Array): ChosenPart[] {
  const root = readXml(bytes, ['Part'])['CompleteMultipartUpload'];
  if (!isRecord(root) || !Array.isArray(root['Part']) || root['Part'].length > MAX_PARTS)
    throw malformedXml();
  return root['Part'].map((item: unknown) => {
    if (!isRecord(item)) throw malformedXml();
    const { PartNumber: part, ETag: etag } = item;
    if (typeof part !== 'string' || !/^\s*\d{1,5}\s*$/.test(part) || typeof etag !== 'string')
      throw malformedXml();
    return { part: Number(part), etag: etag.trim().replaceAll('"', ''), checksums: readChecksums(item) };
  });
}

function readChecksums(item: Readonly<Record<string, unknown>>): Checksums {
  const sums: Partial<Record<ChecksumName, string>> = {};
  for (const name of CHECKSUM_NAMES) {
    const sum = item[`Checksum${name.toUpperCase()}`];
    if (typeof sum === 'string') sums[name] = sum.trim();
  }
  return sums;
}

/** The checksum of the object that a client gives when it completes it; a composite one ends with `-<parts>`. */
interface WholeChecksum {
  readonly name: ChecksumName;
  readonly isComposite: boolean;
  readonly sum: string;
}

function readWholeChecksum(call: S3Call): WholeChecksum | undefined {
  const given = CHECKSUM_NAMES.flatMap((name) => {
    const sum = header(call, `x-amz-checksum-${name}`);
    return sum === undefined ? [] : [{ name, sum }];
  });
  const [first, second] = given;
  if (second !== undefined)
    throw new ObjectError('InvalidRequest', 'Give one x-amz-checksum header for the object, not several.');
  if (first === undefined) return undefined;
  const [sum = '', count] = first.sum.split('-');
  checkForm(first.name, sum);
  if (count !== undefined && !/^[1-9]\d{0,4}$/.test(count))
    throw new ObjectError('InvalidRequest', 'A composite checksum ends with the number of parts.');
  const type = header(call, 'x-amz-checksum-type')?.toUpperCase();
  if (type !== undefined && (type === 'COMPOSITE') !== (count !== undefined))
    throw new ObjectError('InvalidRequest', `x-amz-checksum-${first.name} is no checksum of type ${type}.`);
  return { ...first, isComposite: count !== undefined };
}

/** Checks the facts that the client states about the whole object when it completes it. */
function checkWhole(call: S3Call, meta: ObjectMeta, whole: WholeChecksum | undefined): void {
  const size = header(call, 'x-amz-mp-object-size');
  if (size !== undefined && Number(size) !== meta.bytes)
    throw new ObjectError(
      'InvalidRequest',
      `The object has ${meta.bytes} bytes, not the ${size} that were announced.`,
    );
  if (whole === undefined) return;
  const { name, sum } = whole;
  const made = meta.checksums[name];
  if (made === undefined || made.includes('-') !== whole.isComposite) {
    const kinds = Object.entries(meta.checksums).map(
      ([known, of]) => `${of.includes('-') ? 'composite' : 'full'} ${known}`,
    );
    throw new ObjectError(
      'InvalidRequest',
      `The upload was begun with a checksum of another kind (${kinds.join(', ')}) than x-amz-checksum-${name}: ${sum}.`,
    );
  }
  if (made !== sum)
    throw new ObjectError(
      'BadDigest',
      `The ${name.toUpperCase()} of the object is not the one that was sent.`,
    );
}

function completeResult(
  call: S3Call,
  meta: ObjectMeta,
): { root: Element; headers: ReturnType<typeof encryptionHeaders> } {
  const type = checksumHeaders(meta.checksums)['x-amz-checksum-type'];
  const root: Element = [
    'CompleteMultipartUploadResult',
    [
      ['Location', `/${call.bucket}/${meta.key}`],
      ['Bucket', call.bucket],
      ['Key', meta.key],
      ['ETag', quoted(meta.etag)],
      ...checksumElements(meta.checksums),
      type === undefined ? undefined : ['ChecksumType', type],
    ],
  ];
  return { root, headers: encryptionHeaders(meta.isEncrypted) };
}

function checksumElements(checksums: ObjectMeta['checksums']): Element[] {
  return Object.entries(checksums).map(([name, sum]): Element => [`Checksum${name.toUpperCase()}`, sum]);
}

function checksumType(checksum: FolderUploadOptions['checksum']): string | undefined {
  return checksum === undefined ? undefined : checksum.isComposite ? 'COMPOSITE' : 'FULL_OBJECT';
}
