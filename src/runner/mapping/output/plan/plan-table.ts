import { CsvError } from '../../../../lib/csv/csv-error.ts';
import { createDialect, type CsvDialect } from '../../../../lib/csv/dialect.ts';
import { columnName } from '../../../../lib/names.ts';
import type { ColumnDefinition, DeleteRows } from '../../../../storage/client/index.ts';
import { nearest } from '../../../../lib/suggest.ts';
import { readHeader, tableColumns } from './columns.ts';
import { destinationOf } from './destination.ts';
import type { OutputFindings } from './manifest.ts';
import { DEFAULTS } from './merge.ts';
import type { PlannedOutputTable } from './planned.ts';
import type { PushTableSettings } from './plan-settings.ts';
import type { OutputSource } from './sources.ts';

export interface TableToPlan {
  readonly source: OutputSource;
  readonly settings: PushTableSettings;
  /** Destination in the mapping, without the manifest's: it is taken as it is. */
  readonly mapped: string | undefined;
  readonly defaultBucket: string;
}

/** Plans one table with all that its load needs; undefined when something is wrong with it. */
export async function planTable(
  { source, settings, mapped, defaultBucket }: TableToPlan,
  findings: OutputFindings,
): Promise<PlannedOutputTable | undefined> {
  const where = { file: source.path };
  const tell = (message: string, hint?: string, line?: number): undefined => {
    const place = line === undefined ? where : { ...where, line };
    findings.problems.push({ message, where: place, ...(hint === undefined ? {} : { hint }) });
  };
  const { delimiter = DEFAULTS.delimiter, enclosure = DEFAULTS.enclosure, incremental = false } = settings;
  const before = findings.problems.length;
  const to = destinationOf({ mapped, manifest: settings.destination, source: source.name, defaultBucket });
  if ('problem' in to) tell(to.problem, to.hint);
  const dialect = dialectOf(delimiter, enclosure, tell);
  const columns = dialect === undefined ? undefined : await columnsOf(source, settings, dialect, tell);
  if (columns === undefined || 'problem' in to) return undefined;
  const primaryKey = keyOf(settings.primaryKey ?? [], columns.names, source, { tell, findings });
  const deleteRows = deletionsOf(settings, tell);
  if (findings.problems.length > before) return undefined;
  const { name, path, slices, bytes, content, isGzip } = source;
  return {
    source: name,
    path,
    slices,
    bytes,
    content,
    isGzip,
    destination: to.id,
    bucket: to.bucket,
    name: to.name,
    columns: columns.names,
    isHeader: columns.isHeader,
    skippedLines: columns.skippedLines,
    definitions: columns.definitions,
    primaryKey,
    incremental,
    delimiter,
    enclosure,
    deleteRows,
    metadata: settings.metadata,
    columnMetadata: columnMetadataOf(settings, columns.names, source, findings),
  };
}

type Tell = (message: string, hint?: string, line?: number) => undefined;

function dialectOf(delimiter: string, enclosure: string, tell: Tell): CsvDialect | undefined {
  try {
    return createDialect({ delimiter, enclosure });
  } catch (error) {
    if (error instanceof CsvError) return tell(error.message);
    throw error;
  }
}

interface Columns {
  readonly names: readonly string[];
  readonly isHeader: boolean;
  readonly skippedLines: number;
  readonly definitions: readonly ColumnDefinition[];
}

/**
 * Returns the columns of a source: explicit columns mean that the file has no header, unless the settings say it has.
 */
async function columnsOf(
  source: OutputSource,
  { columns: given = [], hasHeader }: PushTableSettings,
  dialect: CsvDialect,
  tell: Tell,
): Promise<Columns | undefined> {
  const isSliced = source.slices !== undefined;
  if (given.length === 0 && isSliced)
    return tell(
      `Sliced file "${source.name}" columns specification missing.`,
      'Slices have no header: give “columns” in the manifest or the output mapping.',
    );
  if (given.length === 0 && hasHeader === false)
    return tell(
      `The columns of “${source.name}” are not known: it has no header, and no “columns” are given.`,
      'Give “columns” in the manifest or the output mapping.',
    );
  if (given.length > 0 && hasHeader === true && isSliced)
    return tell('“has_header” is not for sliced tables: their slices have none.');
  const isHeader = given.length === 0;
  const names = isHeader ? await readHeader(source.path, dialect) : given.map(({ name }) => name);
  if ('problem' in names)
    return tell(
      `“${source.name}” ${names.problem}.`,
      names.hint ?? 'Write a header, or give “columns” in the manifest or the output mapping.',
      names.line,
    );
  const checked = tableColumns(names);
  if ('problems' in checked) {
    for (const problem of checked.problems)
      tell(
        `In “${source.name}”, ${problem}.`,
        'Give the column another name, such as with a mapping in the configuration.',
      );
    return undefined;
  }
  return {
    names: checked.columns,
    isHeader,
    skippedLines: !isHeader && hasHeader === true ? 1 : 0,
    definitions: checked.columns.map((name, i) => ({ ...given[i], name })),
  };
}

/** Returns the primary key; empty names come from empty form fields and are ignored. */
function keyOf(
  given: readonly string[],
  columns: readonly string[],
  { name: source }: OutputSource,
  { tell, findings }: { readonly tell: Tell; readonly findings: OutputFindings },
): readonly string[] {
  const names = given.map((name) => name.trim());
  if (names.includes(''))
    findings.warnings.push(`“${source}”: an empty name in the primary key is left out.`);
  const key = [...new Set(names.filter((name) => name !== '').map(columnName))];
  const missing = key.filter((name) => !columns.includes(name));
  if (missing.length > 0) {
    const meant = nearest(missing[0] ?? '', columns);
    tell(
      `The primary key of “${source}” has ${missing.map((name) => `“${name}”`).join(', ')}, which is no column of it.`,
      meant === undefined
        ? `Its columns are ${columns.slice(0, 20).join(', ')}.`
        : `Did you mean “${meant}”?`,
    );
  }
  return key;
}

function deletionsOf(
  { deleteColumn: column = '', deleteOperator = 'eq', deleteValues = [], deleteRows = [] }: PushTableSettings,
  tell: Tell,
): readonly DeleteRows[] {
  if (column !== '' && deleteValues.length === 0)
    tell('“delete_where_column” needs “delete_where_values”.', 'Name the values of the rows to delete.');
  const old = { whereFilters: [{ column, operator: deleteOperator, values: deleteValues }] };
  const all = column === '' ? deleteRows : [old, ...deleteRows];
  for (const each of all)
    if (Object.keys(each).length === 0)
      tell('“delete_where” has an entry without a condition, which would delete all rows.');
  return all.map((each) =>
    each.whereFilters === undefined
      ? each
      : {
          ...each,
          whereFilters: each.whereFilters.map((filter) => ({ ...filter, column: columnName(filter.column) })),
        },
  );
}

function columnMetadataOf(
  { columnMetadata }: PushTableSettings,
  columns: readonly string[],
  { name: source }: OutputSource,
  { warnings }: OutputFindings,
): PlannedOutputTable['columnMetadata'] {
  return Array.from(columnMetadata, ([name, metadata]) => ({ column: columnName(name), metadata })).filter(
    ({ column }) => {
      const isKnown = columns.includes(column);
      if (!isKnown)
        warnings.push(`“${source}”: metadata of “${column}” is left out, which is no column of it.`);
      return isKnown;
    },
  );
}
