import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import { StorageError } from '../../../lib/errors.ts';
import { jsonOf, getKey, isList, isObject, type Json } from '../../../lib/json/index.ts';
import type { Api } from '../api.ts';
import { noStore, transferFailure } from './failure.ts';
import { readResuming, type ObjectPart } from './resume.ts';
import type { S3, S3Place } from './s3.ts';

/** The object of a file, with credentials that can be requested again. */
export interface FileSource {
  readonly name: string;
  readonly s3: S3;
  /** With `isRefused`, new credentials are requested, even if the old ones claim to be valid. */
  place(isRefused?: boolean): Promise<S3Place>;
}

export interface ReadOptions {
  /** First byte, from 0. */
  readonly start?: number | undefined;
  /** Last byte, itself included. */
  readonly end?: number | undefined;
  readonly onBytes: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** The bytes of one object below the file's own key; `suffix` is empty for the file itself. */
export async function* readObject(
  api: Api,
  source: FileSource,
  suffix: string,
  options: ReadOptions,
): AsyncGenerator<Uint8Array, void> {
  let client: Promise<S3Client> | undefined;
  let place: S3Place = await source.place();
  const name = suffix === '' ? source.name : `${source.name}/${suffix}`;
  const { start = 0, end, signal } = options;
  yield* readResuming({
    start,
    onBytes: options.onBytes,
    patience: {
      store: source.s3,
      what: `The download of “${name}”`,
      env: api.env,
      log: api.log,
      signal,
    },
    secrets: api.secrets,
    async renew() {
      place = await source.place(true);
      client = undefined;
    },
    async open(at, etag) {
      client ??= source.s3.open(place);
      const { bucket, key } = place;
      return await getObject(await client, { bucket, key: key + suffix, at, end, etag, signal });
    },
  });
}

interface Get {
  readonly bucket: string;
  readonly key: string;
  readonly at: number;
  readonly end: number | undefined;
  readonly etag: string | undefined;
  readonly signal: AbortSignal;
}

const nothing = (): AsyncIterable<Uint8Array> => Readable.from([]); // it has nothing of any type

async function getObject(client: S3Client, { bucket, key, at, end, etag, signal }: Get): Promise<ObjectPart> {
  const { GetObjectCommand } = await import('@aws-sdk/client-s3');
  const hasRange = at > 0 || end !== undefined;
  try {
    const command = new GetObjectCommand({
      Bucket: bucket,
      Key: key,
      ...(hasRange ? { Range: `bytes=${at}-${end ?? ''}` } : {}),
      ...(etag === undefined ? {} : { IfMatch: etag }),
    });
    const sent = await client.send(command, { abortSignal: signal });
    const { Body, ContentLength = 0, ContentRange, ETag, $metadata } = sent;
    const isPart = $metadata.httpStatusCode === 206 && ContentRange?.startsWith(`bytes ${at}-`) !== false;
    if (hasRange && !isPart) throw leaving(Body, noRanges());
    if (ETag === undefined) throw leaving(Body, noStore());
    // In this runtime the body is a stream of bytes.
    const body = (Body as AsyncIterable<Uint8Array> | undefined) ?? nothing();
    return { body, end: at + ContentLength, etag: ETag };
  } catch (error) {
    // Nothing behind the last byte: everything has arrived, or was never there.
    if (hasRange && error instanceof Error && error.name === 'InvalidRange')
      return { body: nothing(), end: at, etag };
    throw error;
  }
}

/**
 * Returns the error for a store that sends the whole object instead of the part, which would duplicate the bytes that
 * are there.
 */
function noRanges(): StorageError {
  return new StorageError('storage.transferFailed', 'The object store does not send parts of a file.', {
    hint: 'Something between here and the store may take the Range header out of requests.',
  });
}

function leaving(body: unknown, error: StorageError): StorageError {
  if (body instanceof Readable) body.destroy();
  return error;
}

export interface Slice {
  /** Suffix after the file's own key. */
  readonly suffix: string;
  readonly isMandatory: boolean;
}

/** The slices of a sliced file, in the order of its manifest. */
export async function readManifest(api: Api, source: FileSource, signal: AbortSignal): Promise<Slice[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readObject(api, source, 'manifest', { onBytes() {}, signal })) pieces.push(piece);
  const { bucket, key } = await source.place();
  const entries = entriesOf(Buffer.concat(pieces).toString('utf8'));
  if (entries === undefined) throw wrongManifest(source.name, 'it is no JSON with a list “entries”');
  return entries.map((entry) => {
    const url = isObject(entry) ? getKey(entry, 'url') : undefined;
    const prefix = `s3://${bucket}/${key}`;
    // Its credentials open nothing else, and no manifest may lead elsewhere.
    if (typeof url !== 'string' || !url.startsWith(prefix))
      throw wrongManifest(source.name, 'it names a slice that is not of this file');
    return {
      suffix: url.slice(prefix.length),
      isMandatory: !isObject(entry) || getKey(entry, 'mandatory') !== false,
    };
  });
}

function entriesOf(text: string): readonly Json[] | undefined {
  const manifest = jsonOf(text);
  const entries = isObject(manifest) ? getKey(manifest, 'entries') : undefined;
  return entries !== undefined && isList(entries) ? entries : undefined;
}

function wrongManifest(name: string, why: string): StorageError {
  return new StorageError('storage.transferFailed', `The manifest of “${name}” cannot be used: ${why}.`, {
    hint: 'Upload the file again, or export the table again.',
  });
}

/** Yields the decompressed bytes. Several compressed texts one after another count as one. */
export async function* gunzip(
  bytes: AsyncIterable<Uint8Array>,
  what: string,
  { api, signal }: { readonly api: Api; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array, void> {
  const plain = createGunzip();
  let isEmpty = true;
  const watched = async function* (): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of bytes) {
      isEmpty &&= chunk.length === 0;
      yield chunk;
    }
  };
  pipeline(Readable.from(watched(), { objectMode: false }), plain, () => {});
  try {
    for await (const chunk of plain) yield chunk as Uint8Array; // a stream of bytes
  } catch (error) {
    signal.throwIfAborted();
    const { code } = error as { code?: unknown };
    // Slices without rows may have no bytes at all.
    if (isEmpty && code === 'Z_BUF_ERROR') return;
    if (typeof code === 'string' && code.startsWith('Z_'))
      throw new StorageError(
        'storage.transferFailed',
        `“${what}” is not compressed, or is broken (${code}).`,
        {
          cause: error,
          hint: 'Read it without gunzip.',
        },
      );
    throw transferFailure(error, `The download of “${what}”`, api.secrets);
  }
}
