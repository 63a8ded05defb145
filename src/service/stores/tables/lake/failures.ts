import { DatabaseUnavailable } from '../../../platform/database/failures.ts';
import { ObjectError } from '../../objects/errors.ts';
import { LeaseLost } from '../../queue/endings.ts';
import { TableError } from '../table-error.ts';

/** Marks the error by which the catalogue refuses the commit of a job that is another worker's. No word of it makes a retry. */
export const FENCE_MARK = 'gex:superseded';

/**
 * Texts of an error when the database of the catalogue is away, as its client says it. The cause may be hidden behind a
 * transaction that could not be rolled back any more.
 */
const AWAY =
  /unable to connect to Postgres|server closed the connection|could not (?:receive|send) data|(?:connection to server|no connection to the server|connection not open|connection has been closed)|terminating connection|the database system is|too many (?:clients|connections)|Failed to execute query "ROLLBACK"|transaction is aborted \(please ROLLBACK/i;

/** Texts of an error of the object store, as DuckDB says it: no answer, or one that may be another the next time. */
const NO_ANSWER = /\berror for HTTP [A-Z]+ to '|\bHTTP (?:code )?(?:429|5\d\d)\b/;

const NO_ROOM = /\bHTTP (?:code )?507\b|InsufficientStorage|StorageFull|QuotaExceeded/;

/** A typed error for what a user or operator can act on; anything else as it is. */
export function toLakeError(error: unknown): unknown {
  if (error instanceof TableError || !(error instanceof Error)) return error;
  const { message } = error;
  if (message.includes(FENCE_MARK)) return new LeaseLost();
  if (AWAY.test(message))
    return new DatabaseUnavailable('The catalogue of the lake is away.', { cause: error });
  if (
    /\bHTTP (?:code )?(?:401|403)\b|AccessDenied|\b403 \(Forbidden\)|SignatureDoesNotMatch|InvalidAccessKeyId/i.test(
      message,
    )
  )
    return new TableError(
      'storage.tables.notAllowed',
      'The object store does not let the service do this with the files of the lake. Check the rights of its keys: they have to read, write, list and delete below its prefix.',
      { cause: error },
    );
  if (NO_ROOM.test(message))
    return new ObjectError('InsufficientStorage', 'The object store is full.', { cause: error });
  if (NO_ANSWER.test(message))
    return new ObjectError('ServiceUnavailable', 'The object store of the lake cannot be used now.', {
      cause: error,
    });
  return error;
}
