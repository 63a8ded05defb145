import type { S3Client } from '@aws-sdk/client-s3';
import { StorageError } from '../../../lib/errors.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import type { S3Options } from '../client-options.ts';
import type { UploadBody } from './body.ts';
import { transferFailure } from './failure.ts';
import { uploadParts } from './parts.ts';
import type { Patience } from './persist.ts';

export interface ObjectUpload {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly acl: string;
  /** `AES256` where the file is encrypted. */
  readonly encryption: string | undefined;
  readonly contentType: string | undefined;
  /** Name of the file when it is downloaded by its address. */
  readonly fileName: string;
  readonly body: UploadBody;
  readonly onBytes: (bytes: number) => void;
}

export interface UploadContext {
  readonly patience: Patience;
  readonly secrets: Secrets;
  readonly s3: S3Options;
}

const MIB = 1024 * 1024;
const PART_BYTES = 8 * MIB;
/** S3 takes none that is smaller, but for the last. */
const SMALLEST_PART_BYTES = 5 * MIB;
const MOST_PARTS = 9000;
const ATTEMPTS = 3;
/** The parts that were sent are gone: the store swept them, or it is complete and only the answer to that was lost. */
const FORGOTTEN = /^(?:NoSuchUpload|InvalidPart)$/;

/**
 * Writes one object: at once when it is small, else in parts, each of which is sent again when it fails. When the store has
 * lost them, the whole content is opened again, three times in all. Gives its bytes.
 *
 * @throws {StorageError} `storage.transferFailed`; what the content itself and `onBytes` throw, as it is
 */
export async function uploadObject(upload: ObjectUpload, context: UploadContext): Promise<number> {
  const { patience, secrets } = context;
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptUpload(upload, context);
    } catch (error) {
      patience.signal.throwIfAborted();
      if (error instanceof CallerFailure) throw error.cause;
      const isForgotten = error instanceof Error && FORGOTTEN.test(error.name);
      if (attempt === ATTEMPTS || !isForgotten) throw transferFailure(error, patience.what, secrets);
      patience.log.info(`${patience.what} is begun again: the object store has lost its parts.`, { attempt });
    }
  }
}

/** A failure of the content, or of the progress callback; not of the transfer. */
class CallerFailure extends Error {}

async function attemptUpload(upload: ObjectUpload, { patience, s3 }: UploadContext): Promise<number> {
  const { body, onBytes, client, bucket, key } = upload;
  const source = body.open();
  let callerError: unknown;
  source.once('error', (error) => (callerError ??= error));
  const tell = (sent: number): void => {
    try {
      onBytes(sent);
    } catch (error) {
      callerError ??= error;
      throw error;
    }
  };
  try {
    const sent = await uploadParts({
      client,
      target: { Bucket: bucket, Key: key },
      headers: headersOf(upload),
      source,
      check: (bytes, isEnded) => {
        const { bytes: wanted } = body;
        if (wanted === undefined || (isEnded ? bytes === wanted : bytes <= wanted)) return;
        throw changed(patience.what, body, isEnded ? bytes : undefined);
      },
      partBytes: partBytesOf(body.bytes, s3),
      concurrency: lanesOf(s3),
      onBytes: tell,
      patience,
    });
    tell(sent);
    return sent;
  } catch (error) {
    patience.signal.throwIfAborted();
    throw callerError === undefined ? error : new CallerFailure('', { cause: callerError });
  } finally {
    source.destroy();
  }
}

/** Parts or slices at a time: never none, which would send nothing and say nothing. */
export function lanesOf({ concurrency = 4 }: S3Options): number {
  return concurrency >= 1 ? Math.floor(concurrency) : 1;
}

/**
 * Returns the part size. Small content of known size gets no larger buffer than needed; one byte more shows that it
 * ends there.
 */
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

function changed(what: string, body: UploadBody, bytes: number | undefined): StorageError {
  return new StorageError(
    'storage.transferFailed',
    `${what} failed: the content had ${bytes ?? 'more'} bytes instead of ${body.bytes ?? 0}.`,
    { hint: 'It changed while it was sent. Do it again when it is complete.' },
  );
}
