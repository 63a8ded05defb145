import { codeOf, isBroken, reasonOf } from '../../../platform/database/failures.ts';
import { ObjectError } from '../errors.ts';

/** Throws what an error of the database means for an object. */
export function rethrow(error: unknown): never {
  if (FULL.test(codeOf(error)))
    throw new ObjectError('InsufficientStorage', 'The disk of the database is full.', { cause: error });
  if (isBroken(error))
    throw new ObjectError('ServiceUnavailable', 'The database with the files cannot be used now.', {
      words: reasonOf(error),
      cause: error,
    });
  throw error;
}

/** SQLSTATE of a full disk. */
const FULL = /^53100$/;
