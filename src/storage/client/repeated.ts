import { StorageError } from '../../lib/errors.ts';

/**
 * True for a failure that only says that an earlier attempt had succeeded: its answer was lost, the call was sent again,
 * and the thing is there already, or gone already.
 */
export function isOwnDoing(error: unknown, code: RegExp): error is StorageError {
  return (
    error instanceof StorageError && Number(error.details['attempts']) > 1 && code.test(error.serviceCode)
  );
}

/** Deletes; what an earlier attempt has deleted is no error. */
export async function deleteOnce<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isOwnDoing(error, /notFound$/i)) return undefined;
    throw error;
  }
}

/** Returns the requested entity, or undefined when the service has none. */
export async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StorageError && error.code === 'storage.notFound') return undefined;
    throw error;
  }
}
