import { Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Env } from '../../../env.ts';
import { StorageError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { Secrets } from '../../../secrets.ts';
import type { S3Options } from '../options.ts';
import type { UploadBody } from './body.ts';
import { mayPass, transferFailure } from './failure.ts';

export interface ObjectUpload {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly acl: string;
  /** `AES256` where the file is encrypted (storage 2.1). */
  readonly encryption: string | undefined;
  readonly contentType: string | undefined;
  /** Name of the file when it is downloaded by its address. */
  readonly fileName: string;
  readonly body: UploadBody;
  /** For messages. */
  readonly what: string;
  readonly onBytes: (bytes: number) => void;
  readonly signal: AbortSignal;
}

export interface UploadContext {
  readonly env: Env;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly s3: S3Options;
}

const MIB = 1024 * 1024;
const SINGLE_BYTES = 8 * MIB;
const PART_BYTES = 8 * MIB;
const MOST_PARTS = 9000;
const ATTEMPTS = 3;
const FIRST_WAIT_MS = 1000;

/**
 * Writes one object: at once when it is small, else in parts, each of which is sent again when it fails. When that does
 * not help, the whole content is opened again, three times in all. Gives its bytes.
 *
 * @throws {StorageError} `storage.transferFailed`; what the content itself throws, as it is
 */
export async function uploadObject(upload: ObjectUpload, context: UploadContext): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptUpload(upload, context.s3);
    } catch (error) {
      upload.signal.throwIfAborted();
      if (error instanceof SourceFailure) throw error.cause;
      if (attempt === ATTEMPTS || !mayPass(error)) throw transferFailure(error, upload.what, context.secrets);
      const waitMs = FIRST_WAIT_MS * 2 ** (attempt - 1);
      context.log.info(`${upload.what} failed and is begun again in ${waitMs / 1000} seconds.`, { attempt });
      await context.env.sleep(waitMs, upload.signal);
    }
  }
}

/** A failure of the content, not of the way. */
class SourceFailure extends Error {}

async function attemptUpload(upload: ObjectUpload, s3: S3Options): Promise<number> {
  const { body, signal, onBytes } = upload;
  const source = body.open();
  let sourceError: unknown;
  source.once('error', (error) => (sourceError ??= error));
  const counter = countBytes();
  try {
    const isSmall = body.bytes !== undefined && body.bytes <= (s3.singleBytes ?? SINGLE_BYTES);
    await (isSmall ? putWhole(upload, source, counter) : putParts(upload, source, counter, s3));
    if (body.bytes !== undefined && counter.bytes !== body.bytes) throw changed(upload, counter.bytes);
    onBytes(counter.bytes);
    return counter.bytes;
  } catch (error) {
    signal.throwIfAborted();
    throw sourceError === undefined ? error : new SourceFailure('', { cause: sourceError });
  } finally {
    source.destroy();
  }
}

async function putWhole(upload: ObjectUpload, source: Readable, counter: Counter): Promise<void> {
  const { PutObjectCommand } = await import('@aws-sdk/client-s3');
  const pieces: Buffer[] = [];
  for await (const piece of source) {
    pieces.push(bufferOf(piece));
    counter.add(bufferOf(piece).length);
  }
  const command = new PutObjectCommand({ ...paramsOf(upload), Body: Buffer.concat(pieces) });
  await upload.client.send(command, { abortSignal: upload.signal });
}

async function putParts(
  upload: ObjectUpload,
  source: Readable,
  counter: Counter,
  s3: S3Options,
): Promise<void> {
  const { Upload } = await import('@aws-sdk/lib-storage');
  const { client, body, signal, onBytes } = upload;
  // The counter passes failures of the source on, so that the SDK doesn't wait for ever.
  const counted = source.pipe(counter.stream);
  source.once('error', (error) => counted.destroy(error));
  const parts = new Upload({
    client,
    params: { ...paramsOf(upload), Body: counted },
    partSize: Math.max(s3.partBytes ?? PART_BYTES, 5 * MIB, Math.ceil((body.bytes ?? 0) / MOST_PARTS)),
    queueSize: s3.concurrency ?? 4,
    leavePartsOnError: false,
  });
  parts.on('httpUploadProgress', ({ loaded }) => onBytes(loaded ?? 0));
  const abort = () => void parts.abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await parts.done();
  } finally {
    signal.removeEventListener('abort', abort);
    counted.destroy();
  }
}

function paramsOf({ bucket, key, acl, encryption, contentType, fileName }: ObjectUpload) {
  return {
    Bucket: bucket,
    Key: key,
    ContentDisposition: `attachment; filename="${fileName.replace(/[^\x20-\x7e]|["\\]/g, '_')}"`,
    ...(contentType === undefined ? {} : { ContentType: contentType }),
    ...(acl === '' ? {} : { ACL: acl as 'private' }), // whatever the service says
    ...(encryption === undefined ? {} : { ServerSideEncryption: encryption as 'AES256' }), // likewise
  };
}

interface Counter {
  bytes: number;
  add(bytes: number): void;
  readonly stream: Transform;
}

function countBytes(): Counter {
  const counter: Counter = {
    bytes: 0,
    add(bytes) {
      counter.bytes += bytes;
    },
    stream: new Transform({
      transform(chunk: Uint8Array, _encoding, done) {
        counter.bytes += chunk.length;
        done(null, chunk);
      },
    }),
  };
  return counter;
}

function bufferOf(piece: unknown): Buffer {
  return Buffer.isBuffer(piece) ? piece : Buffer.from(piece as Uint8Array | string); // what byte streams give
}

function changed({ what, body }: ObjectUpload, sent: number): StorageError {
  return new StorageError(
    'storage.transferFailed',
    `${what} failed: the content had ${sent} bytes instead of ${body.bytes ?? 0}.`,
    { hint: 'It changed while it was sent. Do it again when it is complete.' },
  );
}
