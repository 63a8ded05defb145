import { diskFull, TableError } from '../table-error.ts';

/** SQLSTATE of an error of the database, or an empty text. */
export function stateOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

export const LOCK_NOT_AVAILABLE = '55P03';
export const NO_SUCH_TABLE = '42P01';
export const IS_NULL = '23502';
export const HAS_DEPENDENTS = '2BP01';

/** A typed error for what a user or operator can act on; anything else as it is. */
export function asTableError(error: unknown): unknown {
  if (error instanceof TableError) return error;
  switch (stateOf(error)) {
    case '53100':
      return diskFull(error);
    case '53200':
      return new TableError(
        'storage.outOfMemory',
        'The memory of the database is too small for this. Use fewer columns or shorter values, or raise its limits.',
        { cause: error },
      );
    case LOCK_NOT_AVAILABLE:
      return new TableError(
        'storage.tables.locked',
        'The table is in use: somebody reads it in a transaction that has been open for long. Try again when it is over.',
        { cause: error },
      );
    case '42501':
      return new TableError(
        'storage.tables.notAllowed',
        `The database does not let the service do this: ${error instanceof Error ? error.message : ''}. Each bucket is a schema, which the service makes and owns: GRANT CREATE ON DATABASE … TO …, or give back what others have taken over.`,
        { cause: error },
      );
    default:
      return error;
  }
}
