import { ExtractorError, RunError, SinkError, StorageError } from '../../../lib/errors.ts';
import { shownAddress } from '../../platform/database/address.ts';
import {
  codeOf,
  isUnavailable,
  reasonOf,
  refusalOf,
  DatabaseUnavailable,
} from '../../platform/database/failures.ts';
import { isDiskFull, isOfDatabase } from '../service-error.ts';
import { DamagedObject, ObjectError } from '../../stores/objects/errors.ts';
import { TableError } from '../../stores/tables/table-error.ts';

/** Places of a copy. */
export interface CopyPlace {
  /** Path that is written on this machine. */
  readonly file: string;
  /** The address of its database; undefined where there is none, or two. */
  readonly database: string | undefined;
  /** It is only read. */
  readonly isRead?: true;
  /** Hint about the work already done, when the command is given again. */
  readonly again: string;
}

/** Returns a readable error for an obstacle that an operator can remove; any other error is returned unchanged. */
export function troubleOfCopy(error: unknown, place: CopyPlace): unknown {
  const { file, database, isRead, again } = place;
  if (error instanceof ExtractorError) return error;
  const address = database === undefined ? undefined : shownAddress(database);
  const where = address === undefined ? {} : { where: { url: address } };
  const later = { hint: `Give the same command again then: ${again}`, cause: error };
  if (isDiskFull(error)) {
    const freed = { hint: `Free some space, and give the same command again: ${again}`, cause: error };
    return isOfDatabase(error)
      ? new StorageError('storage.failed', 'The disk of the database is full.', { ...where, ...freed })
      : new SinkError('output.failed', `“${file}” could not be written: the disk is full.`, {
          where: { file },
          ...freed,
        });
  }
  const said = saidOf(error);
  if (said instanceof DatabaseUnavailable || isUnavailable(said))
    return new RunError('database.unreachable', reasonOf(said), { ...where, ...later });
  if (codeOf(said) === NOT_ALLOWED && isRead === true)
    return new RunError('database.refused', `The user may not read all of the database: ${reasonOf(said)}`, {
      ...where,
      hint: 'Give the user of the service, or one that may read everything: GRANT pg_read_all_data TO ….',
      cause: error,
    });
  const refusal = refusalOf(said, address ?? '');
  if (refusal !== undefined) return refusal;
  if (said instanceof DamagedObject) return damaged([(said.cause as Error).message], said); // of its constructor
  if (said instanceof ObjectError)
    return said.code === 'ServiceUnavailable'
      ? new StorageError('storage.unreachable', said.inFull, later)
      : new StorageError('storage.refused', `The object store refuses it: ${said.inFull}`, {
          hint: 'Check the name of the bucket and the keys.',
          cause: error,
        });
  return error instanceof TableError ? new StorageError('storage.failed', error.message, later) : error;
}

/** Creates the error of files whose bytes are not those that were written. */
export function damaged(files: readonly string[], cause?: unknown): StorageError {
  const [what, them] = files.length === 1 ? ['A file is', 'it'] : [`${files.length} files are`, 'them'];
  return new StorageError('storage.damaged', `${what} damaged: the bytes are not those that were written.`, {
    lines: files.slice(0, MAX_LINES),
    hint: `Put ${them} back from a backup, or delete ${them} and upload ${them} once more.`,
    cause,
  });
}

const MAX_LINES = 20;
const NOT_ALLOWED = '42501';

/** Returns the error of the database or the store itself: an engine rewords it for users of a table. */
const saidOf = (error: unknown): unknown =>
  error instanceof TableError && error.cause !== undefined ? error.cause : error;
