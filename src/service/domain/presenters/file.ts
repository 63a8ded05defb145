import type { Reply } from '../reply.ts';
import { RawJson } from '../reply.ts';
import type { TaggedFile } from '../../stores/metadata/files.ts';
import type { FileRow } from '../../stores/metadata/tables.ts';
import type { ObjectStore, ObjectCredentials } from '../../stores/objects/store.ts';
import { apiTime } from './time.ts';

/** Seconds that a signed address is valid. */
const URL_SECONDS = 3600;
/** Milliseconds that credentials for a file are valid. */
const CREDENTIALS_MS = 12 * 3_600_000;

/** Request for credentials: its time, and its token. */
interface KeysFor {
  readonly now: number;
  readonly tokenId: number;
}

/** A file. */
export async function fileReply(objects: ObjectStore, file: TaggedFile): Promise<Record<string, Reply>> {
  return {
    id: file.id,
    created: apiTime(file.created),
    isPublic: file.is_public === 1,
    isSliced: file.is_sliced === 1,
    isEncrypted: file.is_encrypted === 1,
    name: file.name,
    fileType: 'csv',
    url: await objects.presign(contentKey(file), { expiresInSeconds: URL_SECONDS, fileName: file.name }),
    provider: 'aws',
    region: objects.region,
    sizeBytes: file.size_bytes,
    tags: [...file.tags],
    maxAgeDays: file.max_age_days,
    runId: file.run_id,
    runIds: new RawJson(file.run_ids),
    creatorToken: { id: file.creator_id, description: file.creator_description },
  };
}

/** Returns the place for the bytes of a file, and credentials for that alone. */
export async function uploadReply(
  objects: ObjectStore,
  file: FileRow,
  asked: KeysFor,
): Promise<Record<string, Reply>> {
  return {
    uploadParams: {
      key: objects.root + file.object_key,
      bucket: objects.bucket,
      ...endpointReply(objects),
      acl: file.is_public === 1 ? 'public-read' : 'private',
      ...(file.is_encrypted === 1 ? { 'x-amz-server-side-encryption': 'AES256' } : {}),
      credentials: await credentials(objects, file, 'upload', asked),
    },
  };
}

/** Returns the place of the bytes of a file, and credentials to read them. */
export async function downloadReply(
  objects: ObjectStore,
  file: FileRow,
  asked: KeysFor,
): Promise<Record<string, Reply>> {
  return {
    s3Path: { bucket: objects.bucket, key: objects.root + file.object_key },
    credentials: await credentials(objects, file, 'download', asked),
  };
}

/** Returns the endpoint of the S3 protocol: clients without one would ask Amazon. */
function endpointReply({ endpoint }: ObjectStore): Record<string, Reply> {
  return endpoint === undefined ? {} : { endpoint };
}

/** The object that a file's signed address shows: the manifest of a sliced one. */
function contentKey(file: FileRow): string {
  return file.is_sliced === 1 ? `${file.object_key}manifest` : file.object_key;
}

async function credentials(
  objects: ObjectStore,
  file: FileRow,
  access: 'download' | 'upload',
  { now, tokenId }: KeysFor,
): Promise<Record<keyof ObjectCredentials, string>> {
  return {
    ...(await objects.grant({
      key: file.object_key,
      isPrefix: file.is_sliced === 1,
      access,
      requiresEncryption: access === 'upload' && file.is_encrypted === 1,
      expiresAt: new Date(now + CREDENTIALS_MS),
      holder: { fileId: file.id, tokenId },
    })),
  };
}
