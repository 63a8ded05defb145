import { EncryptionError } from '../../lib/errors.ts';
import { DatabaseUnavailable } from '../platform/database/failures.ts';
import { ApiError } from './api-error.ts';
import { DamagedObject, ObjectError, type ObjectErrorCode } from '../stores/objects/errors.ts';
import { TableError, type TableErrorCode } from '../stores/tables/table-error.ts';

/**
 * Returns the error for a failure of the service itself that its operator can fix: a full disk, an unavailable
 * database, an object store that is down or refuses the service. Undefined for any other error. Answers and failed
 * jobs use the same text.
 */
export function toServiceError(error: unknown): ApiError | undefined {
  if (isDiskFull(error)) return new ApiError(507, 'storage.diskFull', diskFull(error), { cause: error });
  if (isNotAllowed(error)) return new ApiError(503, 'storage.notWritable', NOT_WRITABLE, { cause: error });
  if (error instanceof DatabaseUnavailable)
    return new ApiError(503, 'storage.databaseUnavailable', DATABASE_AWAY, { retryAfter: 2, cause: error });
  if (isDamaged(error)) return new ApiError(500, 'storage.fileDamaged', FILE_DAMAGED, { cause: error });
  if (error instanceof EncryptionError && error.code === 'encryption.noKey')
    return new ApiError(400, 'storage.noEncryptionKey', NO_KEY, { cause: error });
  if (!(error instanceof ObjectError)) return undefined;
  if (error.code === 'ServiceUnavailable') return unavailable(error.message, error);
  if (!REFUSALS.has(error.code)) return undefined;
  return unavailable('The object store refuses this service. The log of the service says why.', error);
}

/** Tells whether an error, or its cause, is a full disk. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof ObjectError) return error.code === 'InsufficientStorage';
  if (error instanceof TableError) return error.code === DISK_FULL_CODE;
  if (!(error instanceof Error)) return false;
  return (
    ('code' in error && DISK_FULL_CODES.has(error.code)) ||
    ('errcode' in error && error.errcode === SQLITE_FULL)
  );
}

/** Code of PostgreSQL, whose disk is hardly that of the service. */
const DATABASE_FULL = '53100';
const DISK_FULL_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', DATABASE_FULL]);

/** Tells whether that was the disk of PostgreSQL. */
export function isOfDatabase(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === DATABASE_FULL) || isOfDatabase(error.cause);
}

/** Tells whether an error, or its cause, is that the bytes of a file differ from those that were written. */
export function isDamaged(error: unknown): boolean {
  return error instanceof DamagedObject || (error instanceof Error && isDamaged(error.cause));
}

const FILE_DAMAGED =
  'The bytes of the file are not those that were written: it is damaged on the disk of the service. Its log names it; upload it once more.';
const NO_KEY =
  'The service has no encryption key, so it keeps no values below # keys. Set GEX_ENCRYPTION_KEY, and start it again.';
const DATABASE_AWAY = 'The database of the service cannot be used now. Ask again in a moment.';

/** Tells whether the service may not write: because of the permissions of a folder, or a read-only file system. */
function isNotAllowed(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isOfFile =
    'syscall' in error && 'code' in error && /^(?:EACCES|EPERM|EROFS)$/.test(String(error.code));
  // The kind of an error of the database is in its lowest byte.
  const isOfDatabase = 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_READONLY;
  return isOfFile || isOfDatabase || isNotAllowed(error.cause);
}

/** An error and what led to it, for the log. */
export function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by ${detailOf(error.cause)}`;
}

function unavailable(message: string, cause: unknown): ApiError {
  return new ApiError(503, 'storage.objectStoreUnavailable', message, {
    retryAfter: RETRY_AFTER_SECONDS,
    cause,
  });
}

/** Errors of an outside store about wrong keys, a wrong clock or a wrong bucket of ours. */
const REFUSALS: ReadonlySet<ObjectErrorCode> = new Set([
  'AccessDenied',
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'NoSuchBucket',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
]);

function diskFull(error: unknown): string {
  if (error instanceof ObjectError && !isDiskFull(error.cause))
    return 'The object store is full; nothing was changed. Free some of its space, or raise its quota, and try again.';
  return `The disk of the ${isOfDatabase(error) ? 'database' : 'service'} is full; nothing was changed. Free some space and try again.`;
}

const DISK_FULL_CODE: TableErrorCode = 'storage.diskFull';
const NOT_WRITABLE =
  'The service may not write into its folder, so nothing was changed. Its log names the file; let its user write there.';
const SQLITE_FULL = 13;
const SQLITE_READONLY = 8;
const RETRY_AFTER_SECONDS = 10;
