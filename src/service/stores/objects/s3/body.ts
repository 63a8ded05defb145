import {
  CHECKSUM_NAMES,
  createDigests,
  digestLength,
  type ChecksumName,
  type DigestName,
} from '../checksums.ts';
import { ObjectError } from '../errors.ts';
import type { StagedBody } from '../folder/stage.ts';
import { header, type S3Call } from './call.ts';
import { decodeChunked } from './chunked.ts';
import { UNSIGNED_PAYLOAD } from './sigv4.ts';

/** The content of an upload, decoded, with all that was said about it: length, hash, MD5, checksums, trailers. */
export interface DecodedBody {
  /** Read once, to its end. */
  readonly stream: AsyncIterable<Uint8Array>;
  /** Checksums that the client gave, and so wants kept. */
  readonly checksums: readonly ChecksumName[];
  /** Digests that `verify` needs beside them. */
  readonly digests: readonly DigestName[];
  /** Once the stream has ended: throws when the content is not what was said. */
  readonly verify: (staged: Pick<StagedBody, 'bytes' | 'digests'>) => void;
}

/**
 * @param checksumsOf what the checksums in the headers are those of: completing an upload, they are of the object that
 *   is made, and not of the XML that says so
 */
export function openBody(call: S3Call, checksumsOf: 'body' | 'object' = 'body'): DecodedBody {
  const { payloadHash } = call.signer;
  const isChunked = payloadHash.startsWith('STREAMING-');
  const declared = header(call, isChunked ? 'x-amz-decoded-content-length' : 'content-length');
  const length = declared === undefined ? undefined : readLength(declared);
  checkSize(call, length ?? 0);
  const trailers = new Map<string, string>();
  const stream = isChunked
    ? decodeChunked(call.source(), {
        signer: chunkSigner(call),
        onTrailer: (name, value) => void trailers.set(name, value),
      })
    : call.source();
  const own = checksumsOf === 'body' ? CHECKSUM_NAMES : [];
  const given = own.map((name) => [name, header(call, `x-amz-checksum-${name}`)] as const);
  const expected = new Map<DigestName, string>(
    given.flatMap(([name, sum]) => (sum === undefined ? [] : [[name, sum]])),
  );
  // An empty one is no MD5 either.
  const md5 = call.request.headers['content-md5'] as string | undefined; // Node joins a header that comes twice
  if (md5 !== undefined) expected.set('md5', md5);
  for (const [name, sum] of expected) checkForm(name, sum);
  const trailing = trailingChecksums(call);
  const isHashed = !isChunked && payloadHash !== UNSIGNED_PAYLOAD;
  if (isHashed && !/^[0-9a-f]{64}$/.test(payloadHash))
    throw new ObjectError(
      'InvalidArgument',
      'x-amz-content-sha256 must be a SHA-256 hash or UNSIGNED-PAYLOAD.',
    );
  return {
    stream: limited(call, stream),
    checksums: CHECKSUM_NAMES.filter((name) => expected.has(name) || trailing.includes(name)),
    digests: [...(isHashed ? (['sha256'] as const) : []), ...(md5 === undefined ? [] : (['md5'] as const))],
    verify({ bytes, digests }) {
      if (length !== undefined && bytes !== length)
        throw new ObjectError(
          'IncompleteBody',
          `The body has ${bytes} bytes instead of the ${length} that were announced.`,
        );
      if (isHashed && digests.get('sha256')?.toString('hex') !== payloadHash)
        throw new ObjectError(
          'XAmzContentSHA256Mismatch',
          'The body is not the one that x-amz-content-sha256 describes.',
        );
      for (const name of trailing) {
        const sum = trailers.get(`x-amz-checksum-${name}`);
        if (sum === undefined)
          throw new ObjectError('IncompleteBody', `The trailer x-amz-checksum-${name} is missing.`);
        expected.set(name, sum);
      }
      for (const [name, sum] of expected)
        if (digests.get(name)?.toString('base64') !== sum)
          throw new ObjectError(
            'BadDigest',
            `The ${name.toUpperCase()} of the body is not the one that was sent with it.`,
          );
    },
  };
}

/** A small body as a whole, verified. */
export async function readSmallBody(
  call: S3Call,
  maxBytes: number,
  checksumsOf?: 'body' | 'object',
): Promise<Uint8Array> {
  const body = openBody(call, checksumsOf);
  const digests = createDigests([...body.checksums, ...body.digests]);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body.stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ObjectError('MalformedXML', `The body is larger than ${maxBytes} bytes.`);
    digests.update(chunk);
    chunks.push(chunk);
  }
  body.verify({ bytes, digests: digests.finish() });
  return Buffer.concat(chunks);
}

function chunkSigner(call: S3Call): S3Call['signer'] | undefined {
  switch (call.signer.payloadHash) {
    case 'STREAMING-UNSIGNED-PAYLOAD-TRAILER':
      return undefined;
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD':
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER':
      return call.signer;
    default:
      throw new ObjectError('NotImplemented', 'This way of signing a body is not supported.');
  }
}

function trailingChecksums(call: S3Call): ChecksumName[] {
  const names = (header(call, 'x-amz-trailer') ?? '').split(',').map((name) => name.trim().toLowerCase());
  return CHECKSUM_NAMES.filter((name) => names.includes(`x-amz-checksum-${name}`));
}

function readLength(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new ObjectError('InvalidArgument', 'The announced length is no number.');
  return Number(text);
}

export function checkForm(name: DigestName, sum: string): void {
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(sum);
  if (isBase64 && Buffer.from(sum, 'base64').length === digestLength(name)) return;
  if (name === 'md5') throw new ObjectError('InvalidDigest', 'Content-MD5 is not an MD5 in base64.');
  throw new ObjectError('InvalidRequest', `The value of x-amz-checksum-${name} is not a checksum in base64.`);
}

function checkSize(call: S3Call, bytes: number): void {
  if (bytes > call.maxUploadBytes)
    throw new ObjectError(
      'EntityTooLarge',
      `The body is larger than the ${call.maxUploadBytes} bytes that are allowed.`,
      {
        facts: { MaxSizeAllowed: call.maxUploadBytes },
      },
    );
}

async function* limited(call: S3Call, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    checkSize(call, bytes);
    yield chunk;
  }
}
