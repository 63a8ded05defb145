import { ExtractorError, MappingError } from '../../../lib/errors.ts';
import { fileError } from '../../../engine/sink/file-error.ts';

export interface FetchedItem {
  /** `The table “in.c-main.users”` */
  readonly what: string;
  /** Path of its entry in the mapping. */
  readonly path: string;
  /** File that it is written into. */
  readonly target: string;
  /** What to do when the storage has none of it. */
  readonly hintIfMissing?: string;
}

/** What made a table or a file fail, with its place in the mapping. What is no failure of the work stays as it is. */
export function fetchFailure(error: unknown, { what, path, target, hintIfMissing }: FetchedItem): unknown {
  if (error instanceof Error && 'syscall' in error) return fileError(target, error);
  if (!(error instanceof ExtractorError)) return error;
  const isMissing = error.code === 'storage.notFound' && hintIfMissing !== undefined;
  return new MappingError('input.failed', `${what} could not be fetched: ${error.message}`, {
    where: { ...error.where, path },
    hint: isMissing ? hintIfMissing : error.hint,
    audience: error.audience,
    recovery: error.recovery,
    cause: error,
    details: error.details,
  });
}
