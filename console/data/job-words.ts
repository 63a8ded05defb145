import type { Job } from './client.ts';

/** Titles of operations; `…` stands for the name of the object. */
const OPERATIONS: Readonly<Record<string, string>> = {
  tableImport: 'Load into …',
  tableCreate: 'Make … from a file',
  tableDefinitionCreate: 'Make the empty table …',
  tableExport: 'Export …',
  tableProfile: 'Profile the values of …',
  tableRestore: 'Set … back to a version',
  tableRowsDelete: 'Delete rows of …',
  tableDrop: 'Delete the table …',
  tableUpdate: 'Rename …',
  tableColumnAdd: 'Add a column to …',
  tableColumnDelete: 'Delete a column of …',
  tableColumnDefinitionUpdate: 'Change a column of …',
  tablePrimaryKeyAdd: 'Give … a primary key',
  tablePrimaryKeyDelete: 'Take the primary key from …',
  bucketUpdate: 'Change the bucket …',
  bucketDelete: 'Delete the bucket …',
  fileDelete: 'Delete the file …',
  orphanedFiles: 'Look for files without a table',
  devBranchCreate: 'Make the branch …',
  devBranchDelete: 'Delete the branch …',
};

export const OPERATION_NAMES: readonly string[] = Object.keys(OPERATIONS);

/** Describes a job: `Load into in.c-main.users`. */
export function operationText({ operationName, operationParams, tableId }: Job): string {
  const pattern = OPERATIONS[operationName];
  const what = tableId ?? nameIn(operationParams);
  if (pattern === undefined) return what === '' ? operationName : `${operationName} ${what}`;
  return pattern.replace('…', () => what).trim();
}

/** Describes an operation without its object, for a choice: `Load into a table`. */
export function operationTitle(name: string): string {
  const what = name.startsWith('table') ? 'a table' : '';
  return (OPERATIONS[name] ?? name)
    .replace(/the (empty )?(table|bucket|file|branch) …/, (_, empty: string = '', kind: string) =>
      empty === '' ? `a ${kind}` : `an ${empty}${kind}`,
    )
    .replace('…', what)
    .trim();
}

export const STATUS_TEXTS: Readonly<Record<string, string>> = {
  waiting: 'waiting',
  processing: 'running',
  success: 'done',
  error: 'failed',
};

/** A job that failed, in words. */
export interface JobFailure {
  readonly message: string;
  readonly code: string;
  readonly reference: string;
  /** Advice to the reader. */
  readonly advice: string;
  /** Nothing is wrong with what was asked for: it may be given again. */
  readonly canRetry: boolean;
}

export function failureOfJob({ error }: Job): JobFailure | undefined {
  if (error === undefined || error === null || error === '') return undefined;
  const {
    message = '',
    code = '',
    exceptionId = '',
  } = typeof error === 'string' ? { message: error } : error;
  return {
    message: message === '' ? 'The job failed and did not say why.' : message,
    code,
    reference: exceptionId,
    advice: ADVICE[code] ?? OTHER_ADVICE,
    canRetry: GIVEN_UP.has(code),
  };
}

/** `docs/storage-service.md` says which jobs are given up, and may be given again. */
const GIVEN_UP: ReadonlySet<string> = new Set([
  'internalError',
  'storage.databaseUnavailable',
  'storage.diskFull',
  'storage.jobs.interrupted',
  'storage.notWritable',
  'storage.objectStoreUnavailable',
]);

const OTHER_ADVICE = 'Change what the message names, and ask for it again.';

const ADVICE: Readonly<Record<string, string>> = {
  'csvImport.columnsNotMatch':
    'The file and the table have different columns. Give the file those that the message names, or load it into another table.',
  'csvImport.duplicateColumns': 'Two columns of the file have the same name. Rename one, and load it again.',
  'csvImport.invalidCsv':
    'The file is no CSV as it was described. Check its delimiter and quotes in the line that the message names.',
  'csvImport.invalidTimestamp': 'A time of the file cannot be read. Write it as 2026-01-31 12:00:00.',
  internalError:
    'Whoever runs the service finds the cause in its log under the reference below. When that is mended, give the job again.',
  invalidCsv:
    'Check the delimiter and the enclosure that the import was asked for with: each is one character.',
  'storage.databaseUnavailable':
    'The database of the service was away too long. When it is there again, give the job again.',
  'storage.diskFull': 'A disk of the service is full. Free some space, then give the job again.',
  'storage.fileNotUploaded': 'The file was made, but its content never came. Upload it again.',
  'storage.files.notFound': 'The file is gone: files are kept for some days. Upload it again.',
  'storage.jobs.cancelled':
    'Somebody asked for its end. Nothing of it was kept; ask for it anew if it is wanted.',
  'storage.jobs.interrupted':
    'The service was stopped in the middle too often. Nothing is wrong with the job: give it again.',
  'storage.notWritable':
    'The service may not write into its folder. Give it the right to, then give the job again.',
  'storage.objectStoreUnavailable':
    'The store of the files was away too long. When it is there again, give the job again.',
  'storage.outOfMemory':
    'The service had too little memory for it. Split the file, or give the service more memory.',
  'storage.tables.notFound': 'The table is gone. Make it again, or load into another.',
  'storage.tables.primaryKeyDuplicateValues':
    'Several rows have the same key. Choose other columns for the key, or remove the doubled rows.',
};

/** Returns the name of a job's object that is no table: its parameters have it under one of these keys. */
function nameIn(params: unknown): string {
  if (typeof params !== 'object' || params === null) return '';
  const given = params as Readonly<Record<string, unknown>>;
  for (const key of ['bucketId', 'name', 'id']) {
    const value = given[key];
    if (typeof value === 'string' || typeof value === 'number') return String(value);
  }
  return '';
}
