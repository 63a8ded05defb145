import type { File } from '../../protocol/index.ts';
import type { Api } from '../api.ts';
import type { UploadOptions, UploadSlice } from '../file-types.ts';
import { bytesBody, type UploadBody } from './body.ts';
import { noPlace, type S3, type S3Place } from './s3.ts';
import { lanesOf, uploadObject } from './upload.ts';

/** Sends the content of a file that was prepared. */
export async function sendFile(
  api: Api,
  s3: S3,
  file: File,
  body: UploadBody,
  options: UploadOptions,
): Promise<void> {
  await send(api, s3, file, [{ suffix: '', body }], options);
}

/** Sends the slices of a file that was prepared, then the manifest: without it the file can't be read. */
export async function sendSlices(
  api: Api,
  s3: S3,
  file: File,
  slices: readonly UploadSlice[],
  options: UploadOptions,
): Promise<void> {
  const { bucket, key } = placeOf(file);
  const entries = slices.map(({ name }) => ({ url: `s3://${bucket}/${key}${name}`, mandatory: true }));
  const objects = slices.map(({ name, body }) => ({ suffix: name, body }));
  await send(api, s3, file, objects, options);
  const manifest = { suffix: 'manifest', body: bytesBody(JSON.stringify({ entries })), isQuiet: true };
  await send(api, s3, file, [manifest], options);
}

interface SentObject {
  /** Suffix after the key of the file. */
  readonly suffix: string;
  readonly body: UploadBody;
  /** True when progress is not reported. */
  readonly isQuiet?: boolean;
}

async function send(
  api: Api,
  s3: S3,
  file: File,
  objects: readonly SentObject[],
  options: UploadOptions,
): Promise<void> {
  const { acl, 'x-amz-server-side-encryption': encryption } = paramsOf(file);
  const place = placeOf(file);
  const client = await s3.open(place);
  const stop = new AbortController();
  const signal = AbortSignal.any([api.signalOf(options.signal), stop.signal]);
  const shared = { env: api.env, log: api.log, signal };
  const queue = [...objects];
  const s3Options = api.options.s3 ?? {};
  const lanes = Math.min(lanesOf(s3Options), queue.length);
  // Several objects at a time share the connections, and the memory.
  const own = objects.length > 1 ? { ...s3Options, concurrency: 1 } : s3Options;
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { suffix, body, isQuiet } = next;
      const name = suffix === '' ? file.name : `${file.name}/${suffix}`;
      await uploadObject(
        {
          client,
          bucket: place.bucket,
          key: place.key + suffix,
          acl,
          encryption,
          contentType: options.contentType,
          fileName: file.name,
          body,
          onBytes: (bytes) => {
            if (isQuiet === true) return;
            report(api, options, { name, fileId: file.id, bytes, totalBytes: body.bytes });
          },
        },
        {
          patience: { store: s3, what: `The upload of “${name}”`, ...shared },
          secrets: api.secrets,
          s3: own,
        },
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
  } catch (error) {
    stop.abort(error); // the others need not go on
    throw error;
  }
}

function report(
  api: Api,
  { onProgress }: UploadOptions,
  progress: {
    readonly name: string;
    readonly fileId: number;
    readonly bytes: number;
    readonly totalBytes: number | undefined;
  },
): void {
  api.options.onProgress?.({ direction: 'upload', ...progress });
  onProgress?.({ direction: 'upload', ...progress });
}

function placeOf(file: File): S3Place {
  const { bucket, key, credentials } = paramsOf(file);
  return { bucket, key, credentials, region: file.region, url: file.url };
}

/** Returns where and how a prepared file is to be written. @throws {StorageError} `storage.unexpected` */
export function paramsOf(file: File): NonNullable<File['uploadParams']> {
  if (file.uploadParams?.credentials === undefined) throw noPlace(file, 'write');
  return file.uploadParams;
}
