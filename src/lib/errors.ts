import { shownLines, shownText } from './shown-text.ts';

/** Party that has to act: `user` ends with exit code 1, `application` with 2. */
export type Audience = 'user' | 'application';

/** Options of a caller: send the request again, leave the item out, or end the run. */
export type Recovery = 'retry' | 'skip' | 'stop';

/** Place of an error. Addresses are redacted before they are put here. */
export interface Where {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** JSON path in the configuration, such as `parameters.api.pagination.method`. */
  readonly path?: string;
  readonly row?: string;
  readonly job?: string;
  /** Page of the job, from 1. */
  readonly page?: number;
  readonly url?: string;
}

/**
 * Every code that an error of this package may have, with its meaning.
 * `docs/errors.md` lists the same codes; a test compares the two.
 */
export const ERROR_CODES = {
  'config.missing': 'There is no config.json in the data folder.',
  'config.syntax': 'config.json is not JSON.',
  'config.invalid':
    'config.json does not describe a run: a key is missing, of a wrong type or has a wrong value.',
  'function.failed': 'A function of the configuration could not be evaluated.',
  'job.invalid': 'A job cannot be run as it is written.',
  'pagination.invalid': 'The pagination settings are wrong.',
  'pagination.loop': 'The API answers in a circle.',
  'pagination.budget': 'The job asked for more pages than allowed.',
  'auth.failed': 'The login or the signing of a request failed.',
  'auth.loginEnded':
    'A login that is kept between runs has ended, or was never made: a person has to log in.',
  'auth.notKept': 'The API gave a new refresh token, and it could not be kept.',
  'http.status': 'The API answered with an error status after all retries.',
  'http.declared':
    'The API answered what a reaction of the configuration takes for an error, or kept answering what is to be asked for again.',
  'http.network': 'The API could not be reached, or the connection broke, after all retries.',
  'http.tooLarge': 'The body of a response is larger than allowed.',
  'http.tls': 'The secure connection could not be made.',
  'http.forbiddenHost': 'A request would leave the allowed hosts.',
  'http.untrustedHost':
    'A request that holds a secret would go to a host that the configuration does not name.',
  'http.proxy': 'The proxy or the SSH tunnel could not be used.',
  'response.notJson': 'The body of a response is not JSON.',
  'response.broken': 'The body of a response breaks off, or is not in the format that it should be in.',
  'response.shape': 'The response has no rows where the configuration looks for them.',
  'export.failed': 'The API could not make an export, or gave no file of it.',
  'export.late': 'An export was not ready in time.',
  'records.typeChange': 'A column changed its type in a way that a table cannot hold.',
  'records.invalid': 'A record cannot be written with this mapping or filter.',
  'records.misfit': 'A value does not fit the type that a mapping gives its column.',
  'output.failed': 'A file could not be written.',
  'run.locked': 'Another process is running over this data folder.',
  'run.doubtful': 'The tables may not have everything that the API has.',
  'run.nothingHeld': 'What a run held back, and what was accepted since, is not there any more.',
  'action.unknown': 'There is no sync action of this name.',
  'action.invalid': 'What a sync action was given is missing or wrong.',
  'action.late': 'A sync action was not done in time.',
  'run.period': 'A period was to be filled again, and no job can be asked for one.',
  'run.clock': 'The state of the last run is ahead of the clock, and --strict was given.',
  'run.interrupted': 'The run was interrupted.',
  'run.lost': 'The runner of a run is gone, or another one has taken the run over.',
  'run.refused': 'The API does not go on from where the run was stopped.',
  'replay.missing': 'A run that is played again asks for something that was not recorded.',
  'replay.invalid': 'A recording cannot be played again.',
  'recording.missing': 'There is no recording of what is to be looked at.',
  'recording.invalid': 'A recording cannot be read.',
  'import.invalid': 'What is to be imported cannot be read.',
  'import.exists': 'There is a configuration already where the imported one would be written.',
  'encryption.noKey': 'There is no encryption key, or it cannot be read.',
  'encryption.lostKey': 'The key that a value was encrypted with is not at hand.',
  'encryption.otherKey': 'Another process of the service has another encryption key.',
  'encryption.scope': 'A value was encrypted for another project, component or configuration.',
  'encryption.damaged': 'An encrypted value is not whole.',
  'command.invalid': 'The command line is wrong: a command or an option is unknown or has a wrong value.',
  'database.unreachable': 'The database of the service could not be reached.',
  'database.refused':
    'The database of the service refused the user, the password or the name, or is of a wrong kind.',
  'database.tls': 'The secure connection to the database of the service could not be made.',
  'database.locks': 'The database has no room for as many locks as there are tables.',
  'database.readOnly': 'The database of the service takes no changes.',
  'database.tooOld': 'The database of the service is too old.',
  'database.newer': 'The metadata of the service is that of a newer version.',
  'database.older': 'The metadata of the service is that of a version that is too old.',
  'database.lost': 'The metadata of a storage folder is gone.',
  'database.otherTables': 'The metadata and the tables of a storage folder are not of the same time.',
  'database.otherFiles': 'The files that the database knows are elsewhere than those of this process.',
  'lake.extension': 'An extension of DuckDB that a lake needs cannot be loaded.',
  'lake.version': 'The catalogue of a lake has another format than this version works with.',
  'lake.language': 'The database of a lake does not speak English.',
  'lake.elsewhere': 'The tables of a storage are kept in another way than this process is told.',
  'storage.unauthorized': 'The storage service did not accept the token.',
  'storage.forbidden': 'The token may not do this in the storage service.',
  'storage.notFound': 'The storage service has no such table, file, bucket, configuration or job.',
  'storage.refused': 'The storage service refused what it was asked, as it was asked.',
  'storage.unsupported': 'The storage service does not have this operation.',
  'storage.failed': 'The storage service failed, after all retries.',
  'storage.unreachable':
    'The storage service could not be reached, or the connection broke, after all retries.',
  'storage.unexpected': 'What answered is no storage service, or answered what it should not.',
  'storage.jobFailed': 'A job of the storage service failed.',
  'storage.jobLate': 'A job of the storage service was not done in time.',
  'storage.unsure': 'Nobody knows whether the storage service has taken an import.',
  'storage.unfinished': 'A migration or restore into this storage has not come to its end.',
  'storage.differs': 'What was migrated or restored is not what it was before.',
  'storage.damaged': 'A file in a storage folder is not what was written there.',
  'storage.transferFailed': 'A file could not be uploaded or downloaded, after all retries.',
  'push.invalid':
    'What a run left in out/ cannot be pushed into the storage as it is: a manifest, a mapping or a file is wrong.',
  'push.doubled':
    'Rows were loaded twice: something on the way has passed a request on twice, to a service that knows no keys.',
  'push.failed': 'A part of what a run left in out/ could not be pushed into the storage.',
  'push.pending': 'An unfinished push belongs to another storage, or another configuration.',
  'push.journal': 'The journal of a push cannot be read.',
  'input.invalid': 'An input mapping is wrong.',
  'input.failed': 'A table or a file could not be fetched from the storage.',
  internal: 'A mistake of this program.',
} as const;
export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorOptions {
  readonly where?: Where | undefined;
  /** Lines below the message: a list of the items that it mentions. */
  readonly lines?: readonly string[] | undefined;
  /** Advice for the user: one sentence; a list becomes several lines. */
  readonly hint?: string | readonly string[] | undefined;
  readonly audience?: Audience | undefined;
  readonly recovery?: Recovery | undefined;
  readonly cause?: unknown;
  /** Further facts, for logs in JSON. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Base of all errors that are meant to be shown, with the problem, its place and advice. A message may quote an API's
 * answer: control characters and line breaks in it are escaped; line breaks of our own come from `lines`.
 */
export class ExtractorError extends Error {
  readonly code: ErrorCode;
  readonly audience: Audience;
  readonly recovery: Recovery;
  readonly where: Where;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    const text = [shownText(message), ...(options.lines ?? []).map(shownLines)].join('\n');
    super(text, options.cause === undefined ? {} : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.audience = options.audience ?? 'user';
    this.recovery = options.recovery ?? 'stop';
    this.where = options.where ?? {};
    this.hint = options.hint === undefined ? undefined : [options.hint].flat().map(shownText).join('\n');
    this.details = options.details ?? {};
  }

  /** Replaces the hint of this error by one that fits the place where it is shown. */
  hinted(hint: readonly string[]): this {
    return Object.assign(this, { hint: hint.map(shownText).join('\n') });
  }

  /** Adds facts about the place to this error; known ones stay. */
  at(where: Where): this {
    Object.assign(this, { where: { ...where, ...this.where } });
    return this;
  }
}

export class ConfigError extends ExtractorError {}
export class FunctionError extends ExtractorError {}
export class JobError extends ExtractorError {}
export class PaginationError extends ExtractorError {}
export class HttpError extends ExtractorError {}
export class RecordError extends ExtractorError {}
export class SinkError extends ExtractorError {}
export class RunError extends ExtractorError {}
export class ActionError extends ExtractorError {}
export class EncryptionError extends ExtractorError {}
/** Failure between a data folder and the storage: inputs, outputs, their mappings and manifests. */
export class MappingError extends ExtractorError {}

/** Failure of a call to the storage service; `details` has the service's answer besides its message. */
export class StorageError extends ExtractorError {
  /** The HTTP status of the answer, if there was one. */
  get status(): number | undefined {
    const { status } = this.details;
    return typeof status === 'number' ? status : undefined;
  }

  /** Code that the service gave, such as `storage.buckets.notFound`; empty when it gave none. */
  get serviceCode(): string {
    const { serviceCode } = this.details;
    return typeof serviceCode === 'string' ? serviceCode : '';
  }
}

/** Returns the exit code of the command for any thrown value. */
export function exitCodeOf(error: unknown): 1 | 2 {
  return error instanceof ExtractorError && error.audience === 'user' ? 1 : 2;
}

/** Returns the message of an error, or the text of whatever else was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Describes an error in one paragraph: the message, the place, the hint. */
export function describeError(error: unknown): string {
  if (!(error instanceof ExtractorError)) return reasonOf(error);
  const told = describeWhere(error.where);
  const words = error.message.split(/[\s“”]+/).map((word) => word.replace(/[.,:]$/, ''));
  // a file alone that the message names already
  const place = told === error.where.file && words.includes(told) ? '' : told;
  return [error.message + (place === '' ? '' : ` (${place})`), error.hint].filter(Boolean).join('\n');
}

function describeWhere(where: Where): string {
  const { file, line, column } = where;
  const position = file === undefined ? '' : file + (line === undefined ? '' : `:${line}:${column ?? 1}`);
  return [
    position,
    where.path,
    where.row === undefined ? '' : `row ${where.row}`,
    where.job === undefined ? '' : `job ${where.job}`,
    where.page === undefined ? '' : `page ${where.page}`,
    where.url,
  ]
    .filter(Boolean)
    .map(String)
    .map(shownText)
    .join(', ');
}
