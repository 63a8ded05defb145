import { ExtractorError, MappingError } from '../../../lib/errors.ts';
import { fileError } from '../../../engine/sink/file-error.ts';

export interface FetchedItem {
  /** `The table “in.c-main.users”` */
  readonly what: string;
  /** Path of its entry in the mapping. */
  readonly path: string;
  /** File that it is written into. */
  readonly target: string;
  /** Hint for an item that the storage does not have. */
  readonly hintIfMissing?: string;
}

/**
 * Converts the failure of a table or file into an error with its place in the mapping. Unexpected errors stay as they
 * are.
 */
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
