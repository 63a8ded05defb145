/** Codes of the public API that a table engine may answer with. */
export type TableErrorCode =
  | 'csvImport.columnsNotMatch'
  | 'csvImport.duplicateColumns'
  | 'csvImport.invalidCsv'
  | 'csvImport.invalidTimestamp'
  | 'csvImport.invalidValue'
  | 'invalidCsv'
  | 'storage.tables.validation'
  | 'storage.tables.validation.noColumns'
  | 'storage.tables.validation.invalidColumnName'
  | 'storage.tables.validation.invalidPrimaryKeyColumns'
  | 'storage.tables.validation.tooManyColumns'
  | 'storage.tables.validation.columnNotExists'
  | 'storage.tables.columnNotExists'
  | 'storage.tables.nonExistingColumns'
  | 'storage.tables.notFound'
  | 'storage.tables.versionNotFound'
  | 'storage.tables.differenceTooLarge'
  | 'storage.tables.columnAlreadyExists'
  | 'storage.tables.invalidColumnName'
  | 'storage.tables.cannotDeletePrimaryKeyColumn'
  | 'storage.tables.cannotDeleteLastColumn'
  | 'storage.tables.primaryKeyDuplicateValues'
  | 'storage.validation.primaryKey'
  | 'storage.diskFull'
  | 'storage.outOfMemory'
  | 'storage.tables.locked'
  | 'storage.tables.notAllowed'
  | 'storage.orphans.changed';

/** Mistake of a user of a table, or an obstacle to the request; the message is for that user. */
export class TableError extends Error {
  override readonly name = 'TableError';
  readonly code: TableErrorCode;
  /** Facts that a failed job shows as its `results`, such as `missingColumns`. */
  readonly results: Readonly<Record<string, unknown>>;

  constructor(
    code: TableErrorCode,
    message: string,
    options: { results?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.results = options.results ?? {};
  }
}

export function noSuchTable({
  bucket,
  table,
}: {
  readonly bucket: string;
  readonly table: string;
}): TableError {
  return new TableError(
    'storage.tables.notFound',
    `The table "${table}" was not found in the bucket "${bucket}".`,
  );
}

export function diskFull(cause: unknown): TableError {
  const message = 'There is no space left on the disk of the tables. Free some and try again.';
  return new TableError('storage.diskFull', message, { cause });
}
