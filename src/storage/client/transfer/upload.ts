import type { S3Client } from '@aws-sdk/client-s3';
import type { Env } from '../../../env.ts';
import { StorageError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { Secrets } from '../../../secrets.ts';
import type { S3Options } from '../options.ts';
import type { UploadBody } from './body.ts';
import { mayPass, transferFailure } from './failure.ts';
import { uploadParts } from './parts.ts';

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
const PART_BYTES = 8 * MIB;
/** S3 takes none that is smaller, but for the last. */
const SMALLEST_PART_BYTES = 5 * MIB;
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
  const { body, signal, onBytes, client, bucket, key } = upload;
  const source = body.open();
  let sourceError: unknown;
  source.once('error', (error) => (sourceError ??= error));
  try {
    const sent = await uploadParts({
      client,
      target: { Bucket: bucket, Key: key },
      headers: headersOf(upload),
      source,
      check: (bytes, isEnded) => {
        const { bytes: wanted } = body;
        if (wanted === undefined || (isEnded ? bytes === wanted : bytes <= wanted)) return;
        throw changed(upload, bytes, isEnded);
      },
      partBytes: partBytesOf(body.bytes, s3),
      concurrency: s3.concurrency ?? 4,
      onBytes,
      signal,
    });
    onBytes(sent);
    return sent;
  } catch (error) {
    signal.throwIfAborted();
    throw sourceError === undefined ? error : new SourceFailure('', { cause: sourceError });
  } finally {
    source.destroy();
  }
}

/** What is known to be small gets no larger buffer than it needs; one byte more shows that it ends there. */
function partBytesOf(bytes: number | undefined, s3: S3Options): number {
  const part = Math.max(s3.partBytes ?? PART_BYTES, SMALLEST_PART_BYTES);
  if (bytes === undefined) return part;
  return bytes < part ? bytes + 1 : Math.max(part, Math.ceil(bytes / MOST_PARTS));
}

function headersOf({ acl, encryption, contentType, fileName }: ObjectUpload): object {
  return {
    ContentDisposition: `attachment; filename="${fileName.replace(/[^\x20-\x7e]|["\\]/g, '_')}"`,
    ...(contentType === undefined ? {} : { ContentType: contentType }),
    ...(acl === '' ? {} : { ACL: acl }),
    ...(encryption === undefined ? {} : { ServerSideEncryption: encryption }),
  };
}

function changed({ what, body }: ObjectUpload, bytes: number, isEnded: boolean): StorageError {
  return new StorageError(
    'storage.transferFailed',
    `${what} failed: the content had ${isEnded ? bytes : 'more'} bytes instead of ${body.bytes ?? 0}.`,
    { hint: 'It changed while it was sent. Do it again when it is complete.' },
  );
}
