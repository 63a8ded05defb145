import { StorageError } from '../../../lib/errors.ts';
import type { MappingContext, ProcessedFile } from '../mapping-types.ts';

/**
 * Adds the `processed_tags` to the files of a run that has succeeded. May be called again: a tag that is there is no
 * error, nor is a file that has been deleted meanwhile.
 *
 * @param keyOf `Idempotency-Key` of one tag
 * @throws {StorageError}
 */
export async function addTags(
  { connection, log, signal }: Pick<MappingContext, 'connection' | 'log' | 'signal'>,
  files: readonly ProcessedFile[],
  keyOf: (fileId: number, tag: string) => string | undefined,
): Promise<void> {
  for (const { fileId, tags } of files) {
    try {
      for (const tag of tags) {
        signal.throwIfAborted();
        await connection.client.files.addTag(fileId, tag, { key: keyOf(fileId, tag) });
      }
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== 'storage.notFound') throw error;
      log.info(`The file ${fileId} is gone: it gets no tags`);
    }
  }
}
