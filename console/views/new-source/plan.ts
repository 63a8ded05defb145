import {
  entriesOf,
  isList,
  isObject,
  objectOf,
  type AnyObject,
  type Json,
} from '../../../src/lib/json/value.ts';
import { columnName } from '../../../src/lib/names.ts';
import { textAt, valueAt, withValueAt } from './edit-json.ts';
import type { Field } from './fields.ts';

/** Column of a configuration in the form: it is read from the configuration, and written back. */
export interface PlannedColumn {
  readonly path: string;
  /** Name of the column; the default name if the configuration leaves it out. */
  readonly name: string;
  readonly isTaken: boolean;
  readonly isKey: boolean;
}

const CONFIG = ['parameters', 'config'] as const;
const JOB = [...CONFIG, 'jobs', 0] as const;

/** Returns the name that the table of the first job is derived from. */
export function tableOf(document: Json): string {
  return textAt(document, [...JOB, 'dataType']) ?? textAt(document, [...JOB, 'endpoint']) ?? '';
}

/** Gives the table another name; its mapping goes along. */
export function withTable(document: Json, name: string): Json {
  const mapping = valueAt(document, [...CONFIG, 'mappings', tableOf(document)]);
  const without = withMapping(document, undefined);
  const named = withValueAt(without, [...JOB, 'dataType'], name === '' ? undefined : name);
  return mapping === undefined ? named : withMapping(named, mapping);
}

/** Returns the path of the rows; an empty path is the answer itself. Undefined for the only list of the answer. */
export function rowsPathOf(document: Json): string | undefined {
  const dataField = valueAt(document, [...JOB, 'dataField']);
  const path = typeof dataField === 'string' ? dataField : textAt(dataField, ['path']);
  return path === '.' ? '' : path;
}

/** Takes the rows from elsewhere: the columns begin anew. */
export function withRowsPath(document: Json, path: string): Json {
  return withMapping(withValueAt(document, [...JOB, 'dataField'], path === '' ? '.' : path), undefined);
}

export function bucketOf(document: Json): string {
  return textAt(document, rootOf(document, 'outputBucket')) ?? '';
}

export function withBucket(document: Json, bucket: string): Json {
  return withValueAt(document, rootOf(document, 'outputBucket'), bucket === '' ? undefined : bucket);
}

/** Tells whether it is a configuration with rows. */
export function hasRows(document: Json): boolean {
  return isList(valueAt(document, ['rows']));
}

function rootOf(document: Json, key: string): readonly string[] {
  return [...(hasRows(document) ? ['configuration'] : []), ...CONFIG, key];
}

/** Tells whether columns are named one by one. Otherwise they are what comes, and new ones are added by themselves. */
export function isMapped(document: Json): boolean {
  return mappingOf(document) !== undefined;
}

export function columnsOf(document: Json, fields: readonly Field[]): PlannedColumn[] {
  const mapping = mappingOf(document);
  const known = fields.map((field) => plannedOf(field.path, mapping));
  const more = entriesOf(mapping ?? objectOf([])).filter(
    ([path]) => !fields.some((each) => each.path === path),
  );
  return [...known, ...more.map(([path]) => plannedOf(path, mapping))];
}

/** Changes one column. When all are again as they come by themselves, the mapping is gone. */
export function withColumn(
  document: Json,
  fields: readonly Field[],
  path: string,
  change: Partial<Omit<PlannedColumn, 'path'>>,
): Json {
  const before = columnsOf(document, fields);
  const columns = before.map((column) => (column.path === path ? { ...column, ...change } : column));
  const mapping = mappingOf(document);
  const isPlain = columns.every(
    (column) => column.isTaken && !column.isKey && column.name === ownName(column.path),
  );
  if (isPlain && columns.length === fields.length) return withMapping(document, undefined);
  const taken = columns.filter(({ isTaken }) => isTaken);
  return withMapping(
    document,
    objectOf(
      taken.map((column) => {
        const field = fields.find((each) => each.path === column.path);
        const old = valueAt(mapping, [column.path]);
        return [column.path, settingOf(column, field, old, tableOf(document))] as const;
      }),
    ),
  );
}

/** Removes the mapping: the columns then follow the API. */
export function withoutMapping(document: Json): Json {
  return withMapping(document, undefined);
}

/** Loads only what has changed since the last run. */
export interface Since {
  readonly param: string;
  readonly format: string;
}

export const TIME_FORMATS = {
  iso: 'Y-m-d\\TH:i:s\\Z',
  day: 'Y-m-d',
  seconds: 'U',
} as const;

export function sinceOf(document: Json): Since | undefined {
  const params = valueAt(document, [...JOB, 'params']);
  if (!isObject(params)) return undefined;
  for (const [param, value] of entriesOf(params)) {
    if (textAt(value, ['args', 1, 'time']) === 'previousStart')
      return { param, format: textAt(value, ['args', 0]) ?? TIME_FORMATS.iso };
  }
  return undefined;
}

export function withSince(document: Json, since: Since | undefined): Json {
  const before = sinceOf(document);
  let next =
    before === undefined ? document : withValueAt(document, [...JOB, 'params', before.param], undefined);
  const params = valueAt(next, [...JOB, 'params']);
  if (isObject(params) && entriesOf(params).length === 0)
    next = withValueAt(next, [...JOB, 'params'], undefined);
  if (since === undefined || since.param === '')
    return withValueAt(next, [...CONFIG, 'incrementalOutput'], undefined);
  const moment = { function: 'date', args: [since.format, { time: 'previousStart' }] };
  return withValueAt(
    withValueAt(next, [...JOB, 'params', since.param], moment),
    [...CONFIG, 'incrementalOutput'],
    true,
  );
}

/** Returns a configuration with only these of its rows. */
export function withOnlyRows(document: Json, ids: ReadonlySet<string>): Json {
  const rows = valueAt(document, ['rows']);
  if (!isList(rows)) return document;
  const kept = rows.filter((row) => ids.has(textAt(row, ['id']) ?? ''));
  const order = kept.map((row) => textAt(row, ['id']) ?? '');
  return withValueAt(withValueAt(document, ['rows'], kept), ['rowsSortOrder'], order);
}

export function rowIdsOf(document: Json): readonly string[] {
  const rows = valueAt(document, ['rows']);
  return isList(rows) ? rows.map((row) => textAt(row, ['id']) ?? '') : [];
}

/** Returns the default name of a column. */
const ownName = (path: string): string => columnName(path === '.' ? 'data' : path.replaceAll('.', '_'));

function mappingOf(document: Json): AnyObject | undefined {
  const mapping = valueAt(document, [...CONFIG, 'mappings', tableOf(document)]);
  return isObject(mapping) ? mapping : undefined;
}

function withMapping(document: Json, mapping: Json | undefined): Json {
  const next = withValueAt(document, [...CONFIG, 'mappings', tableOf(document)], mapping);
  const all = valueAt(next, [...CONFIG, 'mappings']);
  return isObject(all) && entriesOf(all).length === 0
    ? withValueAt(next, [...CONFIG, 'mappings'], undefined)
    : next;
}

function plannedOf(path: string, mapping: AnyObject | undefined): PlannedColumn {
  const setting = valueAt(mapping, [path]);
  if (mapping === undefined) return { path, name: ownName(path), isTaken: true, isKey: false };
  if (typeof setting === 'string') return { path, name: setting, isTaken: true, isKey: false };
  return {
    path,
    name: textAt(setting, ['mapping', 'destination']) ?? textAt(setting, ['destination']) ?? ownName(path),
    isTaken: setting !== undefined,
    isKey: valueAt(setting, ['mapping', 'primaryKey']) === true,
  };
}

function settingOf(
  { path, name, isKey }: PlannedColumn,
  field: Field | undefined,
  old: Json | undefined,
  table: string,
): Json {
  // Settings from the JSON editor are kept.
  if (old !== undefined && typeof old !== 'string') {
    if (textAt(old, ['type']) === 'table') return withValueAt(old, ['destination'], name);
    const named = withValueAt(old, ['mapping', 'destination'], name);
    return withValueAt(named, ['mapping', 'primaryKey'], isKey ? true : undefined);
  }
  if (field?.kind === 'list')
    return childTable(field, old === undefined ? `${table}_${ownName(path)}` : name);
  return {
    mapping: { destination: name, ...(isKey ? { primaryKey: true } : {}) },
    ...(field?.kind === 'object' || field?.kind === 'mixed' ? { forceType: true } : {}),
  };
}

/** Returns the mapping of a list to a table of its own, joined to the rows above; lists within it stay text. */
function childTable({ items }: Field, destination: string): Json {
  const columns: readonly (readonly [string, Json])[] =
    items.length === 0
      ? [['.', { mapping: { destination: 'data' }, forceType: true }]]
      : items.map(({ path, kind }) => [
          path,
          {
            mapping: { destination: ownName(path) },
            ...(['list', 'mixed', 'object'].includes(kind) ? { forceType: true } : {}),
          },
        ]);
  return { type: 'table', destination, tableMapping: objectOf(columns) };
}
