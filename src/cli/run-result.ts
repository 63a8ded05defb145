import path from 'node:path';
import { describeError, ExtractorError, StorageError } from '../lib/errors.ts';
import type { LimitTrace } from '../engine/http/limit-trace.ts';
import type { RowResult } from '../runner/run.ts';
import type { Secrets } from '../lib/secrets.ts';
import { formatCount, formatTable } from './format.ts';

export interface DescribeOptions {
  readonly json: boolean;
  /** Error that ended the run. */
  readonly error?: unknown;
  /** Limits of requests at once that were found out. */
  readonly limits?: readonly LimitTrace[];
  readonly secrets: Secrets;
}

/** Describes the tables that were written, for stdout. */
export function describeRun(rows: readonly RowResult[], options: DescribeOptions): string {
  return options.json ? asJson(rows, options) : asTable(rows);
}

function asTable(results: readonly RowResult[]): string {
  return describeTables(
    results.flatMap((result) =>
      result.tables.map(({ name, rows }) => ({
        row: result.id ?? '',
        table: name,
        rows: formatCount(rows),
        file: shortest(path.join(result.out, 'tables', name)),
        'pushed to': destinationOf(result, name) ?? '',
      })),
    ),
  );
}

/** A table that a run has written; what is not known of it is empty. */
export type TableLine = Readonly<Record<'file' | 'pushed to' | 'row' | 'rows' | 'table', string>>;

export function describeTables(lines: readonly TableLine[]): string {
  if (lines.length === 0) return 'No tables: the jobs gave no rows.';
  // where the rows are to be looked for
  const place = lines.every((line) => line['pushed to'] !== '') ? [] : (['file'] as const);
  const columns = (['row', 'table', 'rows', ...place, 'pushed to'] as const).filter((column) =>
    lines.some((line) => line[column] !== ''),
  );
  return formatTable(
    columns,
    lines.map((line) => columns.map((column) => line[column])),
    ['rows'],
  );
}

function destinationOf({ pushed }: RowResult, table: string): string | undefined {
  return pushed?.tables.find(({ source }) => source === table)?.destination;
}

function asJson(results: readonly RowResult[], { error, limits = [], secrets }: DescribeOptions): string {
  const document = {
    status: error === undefined ? 'success' : 'error',
    rows: results.map((result) => ({
      ...(result.id === undefined ? {} : { id: result.id }),
      out: result.out,
      ...(result.isHeld === true ? { isHeld: true } : {}),
      rows: result.rows,
      jobs: result.jobs,
      tables: result.tables.map(({ name, rows }) => {
        const destination = destinationOf(result, name);
        const file = path.join(result.out, 'tables', name);
        return { name, rows, file, ...(destination === undefined ? {} : { destination }) };
      }),
    })),
    ...(limits.length === 0 ? {} : { limits }),
    ...(error === undefined ? {} : { error: errorJson(error, secrets) }),
  };
  return JSON.stringify(document, null, 2);
}

function errorJson(error: unknown, secrets: Secrets): Record<string, unknown> {
  if (!(error instanceof ExtractorError))
    return { code: 'internal', message: secrets.redactMessage(describeError(error)) };
  const { code, message, where, hint } = error;
  return {
    code,
    message: secrets.redactMessage(message),
    where,
    ...(hint === undefined ? {} : { hint: secrets.redactMessage(hint) }),
    ...(isStorageAway(error) || isDiskFull(error) ? { mayPass: true } : {}),
  };
}

/** Tells whether it is the storage that was away or failed, so that the same again may go well. */
function isStorageAway(error: unknown): boolean {
  if (error instanceof StorageError) return error.recovery === 'retry';
  return error instanceof ExtractorError && isStorageAway(error.cause);
}

/** Tells a disk without room, which another machine may have, or this one later. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')) || isDiskFull(error.cause);
}

/** Returns the path relative to the current folder if that is shorter. */
function shortest(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative.length < file.length ? relative : file;
}
