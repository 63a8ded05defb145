import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Reply, Running } from '../harness.ts';
import { joinSlices } from './slices.ts';

export interface FileBody {
  readonly id: number;
  readonly url: string;
  readonly region: string;
  readonly tags: readonly string[];
  readonly runIds: readonly string[];
  readonly uploadParams: { readonly key: string; readonly bucket: string; readonly credentials: Credentials };
  readonly s3Path: { readonly key: string; readonly bucket: string };
  readonly credentials: Credentials;
}

interface Credentials {
  readonly AccessKeyId: string;
  readonly SecretAccessKey: string;
  readonly SessionToken: string;
}

export interface JobBody {
  readonly id: number;
  readonly status: string;
  readonly url: string;
  readonly results: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly metrics: Readonly<Record<string, unknown>>;
}

interface ReplyOf<Body> extends Reply {
  readonly body: Body;
}

/** Creates an external client, which uses the SDK of the object store. */
export function clientOf(api: Running) {
  const s3 = (credentials: Credentials, region: string): S3Client =>
    new S3Client({
      endpoint: api.addresses.parts['s3'] ?? '',
      region,
      forcePathStyle: true,
      credentials: {
        accessKeyId: credentials.AccessKeyId,
        secretAccessKey: credentials.SecretAccessKey,
        sessionToken: credentials.SessionToken,
      },
    });

  const call = async <Body>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ReplyOf<Body>> =>
    // The shapes are those of the API.
    (await api.call(method, path, body, headers)) as ReplyOf<Body>;

  /** Prepares a file and puts its bytes into the object store. */
  const upload = async (
    content: string | Uint8Array,
    options: { name?: string; isSliced?: boolean; isEncrypted?: boolean; tags?: string[] } = {},
    headers?: Record<string, string>,
  ): Promise<FileBody> => {
    const asked = { name: 'data.csv', ...options, federationToken: true };
    const { body: file } = await call<FileBody>('POST', 'files/prepare', asked, headers);
    const { key, bucket, credentials } = file.uploadParams;
    const client = s3(credentials, file.region);
    const encryption = options.isEncrypted === true ? ({ ServerSideEncryption: 'AES256' } as const) : {};
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: content, ...encryption }));
    client.destroy();
    return file;
  };

  /** Puts slices and their manifest. */
  const uploadSliced = async (
    slices: readonly (string | Uint8Array)[],
    change: (entries: { url: string; mandatory?: boolean }[], file: FileBody) => unknown = (entries) =>
      entries,
  ): Promise<FileBody> => {
    const asked = { name: 'sliced.csv', isSliced: true, federationToken: true };
    const { body: file } = await call<FileBody>('POST', 'files/prepare', asked);
    const { key, bucket, credentials } = file.uploadParams;
    const client = s3(credentials, file.region);
    const put = async (Key: string, Body: string | Uint8Array): Promise<void> => {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
    };
    for (const [i, slice] of slices.entries()) await put(`${key}_${i}`, slice);
    const entries = change(
      slices.map((_, i) => ({ url: `s3://${bucket}/${key}_${i}` })),
      file,
    );
    if (entries !== undefined) await put(`${key}manifest`, JSON.stringify({ entries }));
    client.destroy();
    return file;
  };

  /** Polls a job at its own address until it is finished. */
  const finished = async (reply: Reply, headers?: Record<string, string>): Promise<JobBody> => {
    if (reply.status !== 202) throw new Error(`No job was answered but ${reply.status}: ${reply.text}`);
    let job = reply.body as JobBody;
    if ('error' in job) throw new Error('A new job has no error.');
    while (job.status === 'waiting' || job.status === 'processing') {
      job = (await call<JobBody>('GET', new URL(job.url).pathname, undefined, headers)).body;
    }
    return job;
  };

  /** Asks for work, and gives its finished job. */
  const run = async (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<JobBody> => await finished(await api.call(method, path, body, headers), headers);

  /** The rows of an export: its slices one after another. */
  const download = async (fileId: number, headers?: Record<string, string>): Promise<string> => {
    const path = `files/${fileId}?federationToken=1`;
    const { body: file } = await call<FileBody>('GET', path, undefined, headers);
    return await joinSlices(file);
  };

  /** Exports a table, and gives its rows. */
  const rowsOf = async (table: string, options: object = {}): Promise<string> => {
    const job = await run('POST', `tables/${table}/export-async`, options);
    if (job.status !== 'success') throw new Error(`The export failed: ${job.error?.message}`);
    return await download((job.results as { file: { id: number } }).file.id);
  };

  /** Makes a table of a bucket from text. */
  const create = async (
    bucket: string,
    name: string,
    content: string | Uint8Array,
    options: object = {},
  ): Promise<JobBody> => {
    const file = await upload(content);
    return await run('POST', `buckets/${bucket}/tables-async`, { name, dataFileId: file.id, ...options });
  };

  return { s3, call, upload, uploadSliced, run, finished, download, rowsOf, create };
}
