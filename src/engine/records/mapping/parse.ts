import { ConfigError } from '../../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isEmpty,
  isNumber,
  isObject,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { asObject, SettingsReader } from '../../../lib/read-settings.ts';
import { COLUMN_TYPES } from '../types/column-type.ts';
import { checkColumns } from './columns.ts';
import type {
  ColumnEntry,
  Mapping,
  MappingEntry,
  Mappings,
  ParentLink,
  SelfEntry,
  MappedTable,
} from './mapping.ts';

/**
 * Reads `config.mappings`: data type to mapping.
 *
 * @param at JSON path of the node, for messages
 * @throws {ConfigError} for the first thing that is wrong, with its JSON path
 */
export function parseMappings(node: Json | undefined, at: string): Mappings {
  if (isEmpty(node)) return new Map();
  const types = asObject(node);
  if (types === undefined) throw wrong('“mappings” must be a map of data types to mappings', at, EXAMPLE);
  return new Map(
    entriesOf(types).map(([type, mapping]) => [type, parseMapping(mapping, propertyPath(at, type), type)]),
  );
}

/**
 * Reads one mapping, with the mappings of its child tables.
 *
 * @param table name of the table; for the mapping of a data type that is the data type
 * @throws {ConfigError}
 */
export function parseMapping(node: Json, at: string, table: string): Mapping {
  return readMapping(node, at, table, undefined);
}

const EXAMPLE =
  'A mapping looks like {"id": {"mapping": {"destination": "id", "primaryKey": true}}, "name": "name"}.';

function readMapping(node: Json, at: string, table: string, parentLink: ParentLink | undefined): Mapping {
  checkTableName(table, at);
  const nodes = entriesOf(asObject(node) ?? {});
  if (nodes.length === 0)
    throw wrong(`The mapping of the table “${table}” must be a map with at least one entry`, at, EXAMPLE);
  const entries = nodes.map(([path, setting]) => readEntry(path, setting, propertyPath(at, path), table));
  const mapping = { table, entries, parentLink, at };
  checkColumns(mapping);
  return mapping;
}

function readEntry(path: string, setting: Json, at: string, table: string): MappingEntry {
  if (!isObject(setting)) return shorthand(path, setting, at);
  const delimiter = read.text(setting, 'delimiter', at) ?? '.';
  const type = read.text(setting, 'type', at) ?? '';
  if (type === 'table') return readTable(path, delimiter, setting, at, table);
  const isJson = type === 'json';
  const known = type === '' || type === 'column' || type === 'user' || type === 'date' || isJson;
  return {
    kind: type === 'user' || type === 'date' ? type : 'column',
    path,
    delimiter,
    at,
    ...readColumn(setting, at),
    ...(isJson ? { type } : {}),
    forceType: !isEmpty(getKey(setting, 'forceType')),
    unknownType: known ? undefined : type,
  };
}

/** Reads the short form `"path": "column"`. */
function shorthand(path: string, setting: Json, at: string): ColumnEntry {
  const column = nameOf(setting);
  if (column === undefined)
    throw wrong('An entry of a mapping must be the name of a column or a map of settings', at, EXAMPLE);
  return {
    kind: 'column',
    path,
    delimiter: '.',
    at,
    column,
    primaryKey: false,
    forceType: false,
    unknownType: undefined,
  };
}

function readColumn(
  setting: AnyObject,
  at: string,
): Pick<ColumnEntry, 'column' | 'primaryKey' | 'type' | 'misfit'> {
  const mapping = getKey(setting, 'mapping');
  const column = isObject(mapping) ? nameOf(getKey(mapping, 'destination')) : undefined;
  if (!isObject(mapping) || column === undefined)
    throw wrong(
      '“mapping.destination” must be set: the name of the column',
      at,
      'For example {"mapping": {"destination": "id"}}.',
    );
  const primaryKey = !isEmpty(getKey(mapping, 'primaryKey'));
  return { column, primaryKey, ...readType(mapping, primaryKey, `${at}.mapping`) };
}

const MISFITS = ['fail', 'null', 'skip'] as const;

function readType(mapping: AnyObject, isKey: boolean, at: string): Pick<ColumnEntry, 'type' | 'misfit'> {
  const given = getKey(mapping, 'type');
  const wanted = getKey(mapping, 'misfit');
  const type = COLUMN_TYPES.find((each) => each === given);
  if (given !== undefined && type === undefined && !isEmpty(given))
    throw wrong(
      `“type” of a column cannot be ${toText(given)}`,
      `${at}.type`,
      `Known are ${COLUMN_TYPES.join(', ')}.`,
    );
  if (wanted === undefined || isEmpty(wanted)) return type === undefined ? {} : { type };
  const misfit = MISFITS.find((each) => each === wanted);
  if (misfit === undefined || type === undefined)
    throw wrong('“misfit” is "fail", "null" or "skip", beside a “type”', `${at}.misfit`);
  if (isKey && misfit === 'null')
    throw wrong(
      'A column of the primary key cannot be null',
      `${at}.misfit`,
      'Say "skip" to leave out rows whose key does not fit, or "fail".',
    );
  return { type, misfit };
}

function readTable(
  path: string,
  delimiter: string,
  setting: AnyObject,
  at: string,
  parent: string,
): MappedTable | SelfEntry {
  const table = nameOf(getKey(setting, 'destination'));
  if (table === undefined)
    throw wrong(
      '“destination” must be set: the name of the child table',
      at,
      'For example {"type": "table", "destination": "contacts", "tableMapping": {"email": "email"}}.',
    );
  const key = readParentKey(setting, at, parent);
  if (table === parent) {
    if (key === undefined) return { kind: 'self', path, delimiter, at };
    throw wrong(
      `The child rows go into the table “${table}” itself, which has no column for a parent key`,
      at,
      'Set "parentKey": {"disable": true}, or give another “destination”.',
    );
  }
  const tableMapping = getKey(setting, 'tableMapping');
  if (tableMapping === undefined || isEmpty(tableMapping))
    throw wrong(`“tableMapping” must be set: the mapping of the child table “${table}”`, at, EXAMPLE);
  return {
    kind: 'table',
    path,
    delimiter,
    at,
    mapping: readMapping(tableMapping, `${at}.tableMapping`, table, key),
  };
}

/** Reads the link to the parent; undefined when the child table has no column for the key of its parent. */
function readParentKey(setting: AnyObject, at: string, parent: string): ParentLink | undefined {
  const node = getKey(setting, 'parentKey');
  if (isEmpty(node)) return { column: `${parent}_pk`, primaryKey: false };
  if (!isObject(node))
    throw wrong(
      '“parentKey” must be a map',
      `${at}.parentKey`,
      'Its keys are “destination”, “primaryKey” and “disable”.',
    );
  if (!isEmpty(getKey(node, 'disable'))) return undefined;
  const destination = getKey(node, 'destination');
  const column = isEmpty(destination) ? `${parent}_pk` : nameOf(destination);
  if (column === undefined)
    throw wrong('“destination” must be the name of a column', `${at}.parentKey.destination`);
  return { column, primaryKey: !isEmpty(getKey(node, 'primaryKey')) };
}

/** Checks the name of a table, which becomes part of a file name. */
function checkTableName(table: string, at: string): void {
  if (table !== '' && !/[/\\\0]/.test(table)) return;
  throw wrong(
    `“${table}” cannot be the name of a table`,
    at,
    'Give the job a “dataType” without slashes, and map that.',
  );
}

/** Returns a name written as text or as a number. */
function nameOf(value: Json | undefined): string | undefined {
  return (typeof value === 'string' && value !== '') || isNumber(value) ? toText(value) : undefined;
}

function propertyPath(at: string, key: string): string {
  return /^[\w$#-]+$/.test(key) ? `${at}.${key}` : `${at}[${JSON.stringify(key)}]`;
}

function wrong(message: string, at: string, hint?: string): ConfigError {
  return new ConfigError('config.invalid', message, { where: { path: at }, hint });
}

const read = new SettingsReader((at, message, hint) => wrong(message, at, hint));
