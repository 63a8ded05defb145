import path from 'node:path';
import { describeError, ExtractorError } from '../errors.ts';
import type { RowResult } from '../runner.ts';
import type { Secrets } from '../secrets.ts';
import { formatCount, formatTable } from './format.ts';

export interface DescribeOptions {
  readonly json: boolean;
  /** What ended the run. */
  readonly error?: unknown;
  readonly secrets: Secrets;
}

/** The tables that were written, for stdout. */
export function describeRun(rows: readonly RowResult[], options: DescribeOptions): string {
  return options.json ? asJson(rows, options) : asTable(rows);
}

function asTable(results: readonly RowResult[]): string {
  const lines = results.flatMap(({ id, out, tables }) =>
    tables.map(({ name, rows }) => [
      id ?? '',
      name,
      formatCount(rows),
      shortest(path.join(out, 'tables', name)),
    ]),
  );
  if (lines.length === 0) return 'No tables: the jobs gave no rows.';
  if (results.some(({ id }) => id !== undefined))
    return formatTable(['row', 'table', 'rows', 'file'], lines, ['rows']);
  return formatTable(
    ['table', 'rows', 'file'],
    lines.map(([, ...cells]) => cells),
    ['rows'],
  );
}

function asJson(results: readonly RowResult[], { error, secrets }: DescribeOptions): string {
  const document = {
    status: error === undefined ? 'success' : 'error',
    rows: results.map(({ id, out, tables, rows }) => ({
      ...(id === undefined ? {} : { id }),
      out,
      rows,
      tables: tables.map(({ name, rows: count }) => ({
        name,
        rows: count,
        file: path.join(out, 'tables', name),
      })),
    })),
    ...(error === undefined ? {} : { error: errorJson(error, secrets) }),
  };
  return JSON.stringify(document, null, 2);
}

function errorJson(error: unknown, secrets: Secrets): Record<string, unknown> {
  if (!(error instanceof ExtractorError))
    return { code: 'internal', message: secrets.redact(describeError(error)) };
  const { code, message, where, hint } = error;
  return {
    code,
    message: secrets.redact(message),
    where,
    ...(hint === undefined ? {} : { hint: secrets.redact(hint) }),
  };
}

/** From here when that is shorter. */
function shortest(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative.length < file.length ? relative : file;
}
