import { Check } from 'typebox/value';
import { namesOf, type Names } from '../../../storage/protocol/common.ts';
import { LoadOrigin, type TableCreate, type TableImport } from '../../../storage/protocol/table.ts';
import { createDialect } from '../../../lib/csv/dialect.ts';
import { CsvError } from '../../../lib/csv/csv-error.ts';
import { storageNameProblem } from '../../../lib/names.ts';
import { badRequest, invalidField, notImplemented } from '../../domain/api-error.ts';
import type { StorageJobRequest } from '../../domain/jobs/operations/all.ts';
import type { LoadParams } from '../../domain/jobs/operations/load.ts';
import type { CsvLayout } from '../../stores/tables/engine.ts';
import type { Caller } from '../../domain/tokens/caller.ts';
import { tableLock } from '../../domain/jobs/operations/table-place.ts';
import { MAX_COLUMNS, tooManyColumns } from '../../stores/tables/import-plan.ts';

/**
 * Returns the job that loads a file into a table; everything that needs no file is checked here.
 *
 * @throws {ApiError} 400, 501
 */
export function importWork(
  branchId: number,
  tableId: string,
  { caller, ...input }: TableImport & { readonly caller: Caller },
): StorageJobRequest<'tableImport'> {
  const fileId = requireFileSource(input);
  requireDialect(input);
  if ((input.treatValuesAsNull?.length ?? 0) > 1)
    throw invalidField(
      'storage.tables.validation',
      'treatValuesAsNull',
      'This collection should contain 1 element or less.',
    );
  const params: LoadParams = {
    params: {
      incremental: input.incremental ?? false,
      source: [],
      ...csvOf(input),
      columns: readColumns(input.columns),
      withoutHeaders: input.withoutHeaders ?? false,
      ...given('ignoredLinesCount', input.ignoredLinesCount),
      ...given('treatValuesAsNull', input.treatValuesAsNull),
      ...given('useTimestampFromDataFile', input.useTimestampFromDataFile),
      ...given('deduplicationStrategy', input.deduplicationStrategy),
    },
    source: { fileId, type: 'file' },
    queue: 'main_fast',
    ...given('origin', originOf(caller, input.origin)),
  };
  return { operation: 'tableImport', params, tableId, lockKey: tableLock(branchId, tableId) };
}

/** Returns the job that makes a table from a file. */
export function createWork(
  branchId: number,
  bucketId: string,
  { caller, ...input }: TableCreate & { readonly caller: Caller },
): StorageJobRequest<'tableCreate'> {
  const problem = storageNameProblem(input.name) ?? storageNameProblem(input.displayName ?? input.name);
  if (problem !== undefined) throw badRequest('storage.tables.validation', `Invalid data - name: ${problem}`);
  requireNameLength(input.name);
  const primaryKey = readPrimaryKey(input.primaryKey);
  const fileId = requireFileSource(input);
  requireDialect(input);
  const params: LoadParams = {
    params: {
      name: input.name,
      ...given('displayName', input.displayName),
      primaryKey,
      ...csvOf(input),
      columns: readColumns(input.columns),
    },
    source: { fileId, type: 'file' },
    queue: 'main_fast',
    ...given('origin', originOf(caller, input.origin)),
  };
  const tableId = `${bucketId}.${input.name}`;
  return { operation: 'tableCreate', params, tableId, lockKey: tableLock(branchId, tableId) };
}

/**
 * Returns the origin of a load: of the token of a run what the service knows, else what the client says.
 *
 * @throws {ApiError} 400
 */
function originOf({ runLimits }: Caller, said: LoadOrigin | undefined): LoadParams['origin'] {
  if (said !== undefined && !Check(LoadOrigin, said))
    throw invalidField(
      'storage.tables.validation',
      'origin',
      'Component, configuration and row are names of 1 to 255 characters, without control characters.',
    );
  if (runLimits === undefined) return said;
  const { component_id: component, configuration_id: configuration, version } = runLimits;
  return { component, configuration, ...given('row', said?.row), ...given('version', version) };
}

/** Longest name of a bucket or a table. */
const MAX_NAME = 96;

/** Checks the length of a name. @throws {ApiError} 400 `storage.tables.validation` */
export function requireNameLength(name: string, code = 'storage.tables.validation'): void {
  if (name.length > MAX_NAME)
    throw badRequest(code, `Invalid data - name: '${name}' is longer than ${MAX_NAME} characters.`);
}

/** Reads names joined by commas; a list is refused, as older clients mean something else by it. */
function readPrimaryKey(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string')
    throw badRequest(
      'storage.validation.primaryKey',
      'The primary key must be a text of names joined by commas.',
    );
  return namesOf(value);
}

/** Reads the columns of the file in its order. An empty name keeps its place: the import refuses it. */
function readColumns(value: Names | undefined): string[] {
  const names = (typeof value === 'string' ? value.split(',') : (value ?? [])).map((name) => name.trim());
  if (names.length > MAX_COLUMNS) throw tooManyColumns(names.length);
  return names.some((name) => name !== '') ? names : [];
}

function requireFileSource(input: TableCreate | TableImport): number {
  if (isGiven(input.dataWorkspaceId)) throw notImplemented('A workspace as the source of data');
  if (isGiven(input.snapshotId)) throw notImplemented('A snapshot as the source of data');
  if (isGiven(input.sourceTableId)) throw notImplemented('Another table as the source of data');
  if (input.dataFileId !== undefined) return input.dataFileId;
  if (isGiven(input.dataUrl)) throw notImplemented('An address as the source of data');
  throw invalidField('storage.validation', 'dataFileId', 'This field is missing.');
}

/** Tells whether a field was given. Forms send an empty text for a field that is not set. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== '';

function requireDialect(input: TableCreate | TableImport): void {
  try {
    createDialect(csvOf(input));
  } catch (error) {
    if (error instanceof CsvError) throw badRequest('invalidCsv', error.message);
    throw error;
  }
}

/** Returns the format of the CSV; jobs also show the fields that were not given. */
function csvOf({
  delimiter = '',
  enclosure,
  escapedBy = '',
}: TableCreate | TableImport): Required<CsvLayout> {
  return {
    delimiter: delimiter === '' ? ',' : delimiter,
    enclosure: enclosure ?? (escapedBy === '' ? '"' : ''),
    escapedBy,
  };
}

function given<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  // One key of that name, or none.
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}
