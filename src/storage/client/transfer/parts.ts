import type { Readable } from 'node:stream';
import type { CompletedPart, S3Client } from '@aws-sdk/client-s3';
import { noStore } from './failure.ts';
import { persist, type Patience } from './persist.ts';

export interface PartsUpload {
  readonly client: S3Client;
  readonly target: { readonly Bucket: string; readonly Key: string };
  /** How the object is to be kept: headers of the first request. */
  readonly headers: object;
  readonly source: Readable;
  /** Called with the bytes so far; throws when the source has more or fewer than it should have. */
  readonly check: (bytes: number, isEnded: boolean) => void;
  readonly partBytes: number;
  /** Parts that are sent at a time; each has one buffer, so this and the size bound the memory. */
  readonly concurrency: number;
  readonly onBytes: (bytes: number) => void;
  readonly patience: Patience;
}

/** Longest duration of the removal after a failure; shorter when the caller wants to end. */
const REMOVAL_MS = { failed: 5000, ended: 1000 };

/**
 * Sends an object in parts (S3's multipart upload), or at once when it is no longer than one part. Each part is sent until
 * the store has it. Nothing is there until all parts are; when it fails, the parts are removed. Gives the bytes of the
 * source.
 *
 * The uploader that comes with the SDK makes new buffers for each part; these here are used again, so that memory is the
 * same for a megabyte and for a terabyte.
 */
export async function uploadParts(upload: PartsUpload): Promise<number> {
  const { client, target, headers, patience, partBytes } = upload;
  const { signal } = patience;
  const sdk = await import('@aws-sdk/client-s3');
  const next = partsOf(upload);
  const first = await next(Buffer.allocUnsafeSlow(partBytes));
  if (first.isLast) {
    const whole = { ...target, ...headers, Body: first.bytes };
    const { ETag } = await persist(
      async () => await client.send(new sdk.PutObjectCommand(whole), { abortSignal: signal }),
      patience,
    );
    if (ETag === undefined) throw noStore();
    return first.bytes.length;
  }
  const create = new sdk.CreateMultipartUploadCommand({ ...target, ...headers });
  const { UploadId } = await persist(
    async () => await client.send(create, { abortSignal: signal }),
    patience,
  );
  const stop = new AbortController();
  const abortSignal = AbortSignal.any([signal, stop.signal]);
  const parted = { ...patience, signal: abortSignal };
  const done: CompletedPart[] = [];
  let sent = 0;
  const lane = async (begun: Part | undefined): Promise<void> => {
    const buffer = begun?.buffer ?? Buffer.allocUnsafeSlow(partBytes);
    for (let part = begun ?? (await next(buffer)); part.bytes.length > 0; part = await next(buffer)) {
      abortSignal.throwIfAborted();
      const { number: PartNumber, bytes: Body } = part;
      const command = new sdk.UploadPartCommand({ ...target, UploadId, PartNumber, Body });
      const { ETag } = await persist(async () => await client.send(command, { abortSignal }), parted);
      done.push({ PartNumber, ETag });
      upload.onBytes((sent += Body.length));
    }
  };
  try {
    const lanes = Array.from({ length: upload.concurrency }, (_, i) => lane(i === 0 ? first : undefined));
    await Promise.all(lanes);
    const Parts = done.toSorted((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
    const command = new sdk.CompleteMultipartUploadCommand({
      ...target,
      UploadId,
      MultipartUpload: { Parts },
    });
    const { ETag } = await persist(async () => await client.send(command, { abortSignal }), parted);
    if (ETag === undefined) throw noStore();
    return sent;
  } catch (error) {
    stop.abort(error); // the other lanes need not go on
    // Leftover parts are removed by the store; the failure is the one that matters.
    const remove = new sdk.AbortMultipartUploadCommand({ ...target, UploadId });
    const timeout = AbortSignal.timeout(signal.aborted ? REMOVAL_MS.ended : REMOVAL_MS.failed);
    await client.send(remove, { abortSignal: timeout }).catch(() => {});
    throw error;
  }
}

interface Part {
  /** From 1. */
  readonly number: number;
  /** The filled part of the given buffer; empty after the end. */
  readonly bytes: Buffer;
  readonly buffer: Buffer;
  readonly isLast: boolean;
}

/** Fills one buffer after the other, for any caller: one reader at a time. */
function partsOf({ source, partBytes, check }: PartsUpload): (buffer: Buffer) => Promise<Part> {
  const chunks: AsyncIterator<unknown, unknown> = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let total = 0;
  let isEnded = false;
  let count = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const fill = async (buffer: Buffer): Promise<Part> => {
    let filled = 0;
    while (filled < partBytes && !(isEnded && rest.length === 0)) {
      if (rest.length === 0) {
        const { done, value } = await chunks.next();
        isEnded = done === true;
        // Types of chunks that byte streams give.
        rest = isEnded ? rest : Buffer.isBuffer(value) ? value : Buffer.from(value as Uint8Array | string);
        continue;
      }
      const copied = rest.copy(buffer, filled);
      filled += copied;
      rest = rest.subarray(copied);
    }
    check((total += filled), isEnded);
    return { number: ++count, bytes: buffer.subarray(0, filled), buffer, isLast: filled < partBytes };
  };
  return async (buffer) => {
    const part = turn.then(() => fill(buffer));
    turn = part.catch(() => {});
    return await part;
  };
}
