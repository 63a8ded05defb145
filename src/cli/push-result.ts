import type { RowPushPlan, RowPush } from '../runner/push-folder.ts';
import { formatBytes, formatCount, formatTable } from './format.ts';

/** Describes the result of a push, for stdout. */
export function describePushed(rows: readonly RowPush[], isJson: boolean): string {
  if (isJson)
    return JSON.stringify(
      rows.map(({ id, out, pushed }) => ({
        ...(id === undefined ? {} : { id }),
        out,
        wasPushed: pushed === undefined,
        tables: pushed?.tables ?? [],
        files: pushed?.files ?? [],
      })),
      null,
      2,
    );
  const lines = rows.flatMap(({ id = '', pushed }) => [
    ...(pushed?.tables ?? []).map(({ source, destination, rows: count, wasDone }) => ({
      row: id,
      source,
      'pushed to': destination,
      rows: formatCount(count),
      '': wasDone ? 'before' : '',
    })),
    ...(pushed?.files ?? []).map(({ source, fileId, wasDone }) => ({
      row: id,
      source,
      'pushed to': `file ${fileId}`,
      rows: '',
      '': wasDone ? 'before' : '',
    })),
  ]);
  if (lines.length === 0) return 'Nothing was left to push.';
  return withoutEmpty(['row', 'source', 'pushed to', 'rows', ''], lines, ['rows']);
}

/** Describes the plan of a push, for stdout. */
export function describePlans(plans: readonly RowPushPlan[], isJson: boolean): string {
  if (isJson)
    return JSON.stringify(
      plans.map(({ id, out, journal, plan }) => ({
        ...(id === undefined ? {} : { id }),
        out,
        status: journal?.status ?? 'new',
        tables: plan.tables.map((table) => ({
          source: table.source,
          destination: table.destination,
          incremental: table.incremental,
          primaryKey: table.primaryKey,
          columns: table.columns,
          bytes: table.bytes,
          isDone: journal?.tables.get(table.source)?.done === true,
        })),
        files: plan.files.map(({ source, tags, bytes }) => ({
          source,
          tags,
          bytes,
          isDone: journal?.files.get(source)?.done === true,
        })),
        warnings: plan.warnings,
      })),
      null,
      2,
    );
  const lines = plans.flatMap(({ id = '', journal, plan }) => {
    const said = (isDone: boolean | undefined): string =>
      isDone === true || journal?.status === 'done' ? 'was pushed' : '';
    return [
      ...plan.tables.map((table) => ({
        row: id,
        source: table.source,
        'goes to': table.destination,
        load: table.incremental ? 'incremental' : 'full',
        key: table.primaryKey.join(', '),
        columns: String(table.columns.length),
        size: formatBytes(table.bytes),
        '': said(journal?.tables.get(table.source)?.done),
      })),
      ...plan.files.map(({ source, tags, bytes }) => ({
        row: id,
        source,
        'goes to': `a file${tags.length === 0 ? '' : `, tagged ${tags.join(', ')}`}`,
        load: '',
        key: '',
        columns: '',
        size: formatBytes(bytes),
        '': said(journal?.files.get(source)?.done),
      })),
    ];
  });
  if (lines.length === 0) return 'There is nothing in the output to push.';
  return withoutEmpty(['row', 'source', 'goes to', 'load', 'key', 'columns', 'size', ''], lines, [
    'columns',
    'size',
  ]);
}

/** Removes the columns without any value. */
function withoutEmpty<Column extends string>(
  columns: readonly Column[],
  lines: readonly Readonly<Record<Column, string>>[],
  right: readonly string[],
): string {
  const shown = columns.filter((column) => lines.some((line) => line[column] !== ''));
  return formatTable(
    shown,
    lines.map((line) => shown.map((column) => line[column])),
    right,
  );
}
