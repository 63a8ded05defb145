import path from 'node:path';
import { reasonOf, SinkError, StorageError } from '../../../../lib/errors.ts';
import { fileBody, type File, type UploadOptions } from '../../../../storage/client/index.ts';
import { stepKey, type Pushing } from '../pushing.ts';

export interface UploadContent {
  readonly path: string;
  readonly slices: readonly string[] | undefined;
}

/** Uploads a file, or a folder of slices. */
export async function upload(
  { connection, signal, onProgress }: Pushing,
  { path: at, slices }: UploadContent,
  options: UploadOptions,
): Promise<File> {
  const { files } = connection.client;
  const all = { ...options, signal, onProgress };
  if (slices === undefined) return await files.upload(await bodyAt(at), all);
  const bodies = await Promise.all(
    slices.map(async (name) => ({ name, body: await bodyAt(path.join(at, name)) })),
  );
  return await files.uploadSliced(bodies, all);
}

/**
 * Uploads a file into a folder of this machine: by the importer, which takes half the time of the object store's protocol
 * there. Its id is known only afterwards, so what is cut short in between is found by nobody, and expires.
 */
export async function uploadLocally(
  { connection, signal, onProgress }: Pushing,
  at: string,
  options: UploadOptions,
): Promise<File> {
  const file = await connection.client.files.uploadByImporter(await bodyAt(at), {
    ...options,
    signal,
    onProgress,
  });
  await options.onPrepared?.(file);
  return file;
}

/** Takes away an uploaded file that is of no use any more; what cannot be deleted expires by itself. */
export async function removeUpload(push: Pushing, fileId: number): Promise<void> {
  const { connection, log } = push;
  try {
    const key = stepKey(push, '', 'delete file', String(fileId));
    await connection.client.files.delete(fileId, { key });
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.code !== 'storage.notFound')
      log.warn(`The file ${fileId} of a push stays in the storage: ${error.message}`);
  }
}

async function bodyAt(file: string): ReturnType<typeof fileBody> {
  try {
    return await fileBody(file);
  } catch (error) {
    throw new SinkError('output.failed', `“${file}” cannot be read: ${reasonOf(error)}.`, {
      cause: error,
      where: { file },
      hint: 'It was there a moment ago: leave the output alone while it is pushed.',
    });
  }
}
