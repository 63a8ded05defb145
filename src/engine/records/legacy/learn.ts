import { RecordError } from '../../../lib/errors.ts';
import { entriesOf, isList, isObject, type AnyObject, type Json } from '../../../lib/json/index.ts';
import type { Log } from '../../../lib/log.ts';
import type { LegacyKind, LegacyProperties, LegacyStruct } from './struct.ts';

/** The column of a row that is no object. */
export const DATA_COLUMN = 'data';

/** Kind of a single value, and of the items of a list. */
type ItemKind = 'scalar' | 'object' | 'NULL';

/** Adds to a struct what rows show. */
export interface LegacyLearner {
  /** @throws {RecordError} when a property changes its kind, or a list mixes kinds */
  learn(type: string, rows: Iterable<Json>): void;
}

export function createLearner(struct: LegacyStruct, log: Log): LegacyLearner {
  const warned = new Set<string>();

  /** Returns the kind of the items; undefined when there are none. */
  const learnRows = (type: string, rows: Iterable<Json>): ItemKind | undefined => {
    let known: ItemKind | undefined;
    for (const row of rows) {
      const kind = learnRow(type, row);
      if (known !== undefined && known !== 'NULL' && kind !== 'NULL' && kind !== known)
        throw mixedList(type, known, kind);
      if (known === undefined || known === 'NULL') known = kind;
    }
    return known;
  };

  const learnRow = (type: string, row: Json): ItemKind => {
    if (isObject(row)) {
      learnProperties(type, row);
      return 'object';
    }
    const properties = propertiesOf(type);
    if (row === null) return 'NULL';
    if (isList(row)) warnOnce(type);
    see(type, properties, DATA_COLUMN, 'scalar');
    return 'scalar';
  };

  const learnProperties = (type: string, row: AnyObject): void => {
    const kinds: [string, LegacyKind][] = [];
    for (const [key, value] of entriesOf(row)) {
      const kind = learnValue(`${type}.${key}`, value);
      if (kind !== undefined) kinds.push([key, kind]);
    }
    const properties = propertiesOf(type);
    for (const [key, kind] of kinds) see(type, properties, key, kind);
  };

  /** Returns the kind of a value; undefined for an object with nothing in it, which makes no column. */
  const learnValue = (type: string, value: Json): LegacyKind | undefined => {
    if (value === null) return 'NULL';
    if (isList(value)) {
      const items = learnRows(type, value);
      return items === undefined ? 'NULL' : `arrayOf${items}`;
    }
    if (!isObject(value)) return 'scalar';
    if (isHollow(value)) return undefined;
    learnProperties(type, value);
    return 'object';
  };

  const see = (type: string, properties: LegacyProperties, key: string, seen: LegacyKind): void => {
    const known = properties.get(key);
    if (known === seen) return;
    const kind = merge(known, seen);
    if (kind === undefined) throw changedKind(`${type}.${key}`, known, seen);
    properties.set(key, kind);
    // a lone scalar may have been the only item so far
    if (kind === 'arrayOfscalar') propertiesOf(`${type}.${key}`).set(DATA_COLUMN, 'scalar');
  };

  const propertiesOf = (type: string): LegacyProperties => {
    let properties = struct.get(type);
    if (properties === undefined) {
      properties = new Map();
      struct.set(type, properties);
    }
    return properties;
  };

  const warnOnce = (type: string): void => {
    if (warned.has(type)) return;
    warned.add(type);
    log.warn(`A list directly inside a list in “${type}” is written as JSON text`, { type });
  };

  return { learn: (type, rows) => void learnRows(type, rows) };
}

/** Tells whether an object has no properties, or only such objects. */
export function isHollow(value: Json): boolean {
  return isObject(value) && entriesOf(value).every(([, item]) => isHollow(item));
}

const LIST = 'arrayOf';

/** Returns the kind that holds both; undefined when there is none. A lone value becomes a list of one. */
function merge(known: LegacyKind | undefined, seen: LegacyKind): LegacyKind | undefined {
  if (known === undefined || known === 'NULL') return seen;
  if (seen === 'NULL') return known;
  if (!known.startsWith(LIST) && !seen.startsWith(LIST)) return undefined;
  const [a, b] = [itemKind(known), itemKind(seen)];
  if (a === b || b === 'NULL') return `arrayOf${a}`;
  return a === 'NULL' ? `arrayOf${b}` : undefined;
}

function itemKind(kind: LegacyKind): ItemKind {
  if (kind === 'arrayOfscalar' || kind === 'scalar') return 'scalar';
  return kind === 'arrayOfobject' || kind === 'object' ? 'object' : 'NULL';
}

function changedKind(path: string, known: LegacyKind | undefined, seen: LegacyKind): RecordError {
  return new RecordError(
    'records.typeChange',
    `Type change in “${path}”: it was ${words(known)}, and now it is ${words(seen)}`,
    {
      hint: 'Let “responseFilter” of the job keep the property as JSON text.',
    },
  );
}

function mixedList(path: string, known: ItemKind, seen: ItemKind): RecordError {
  return new RecordError(
    'records.typeChange',
    `Incompatible types in “${path}”: a list of ${plural(known)} and ${plural(seen)}`,
    {
      hint: 'Let “responseFilter” of the job keep the property as JSON text.',
    },
  );
}

function words(kind: LegacyKind | undefined): string {
  if (kind === undefined || kind === 'NULL') return 'null';
  if (kind === 'scalar') return 'a scalar';
  return kind === 'object' ? 'an object' : `a list of ${plural(itemKind(kind))}`;
}

function plural(kind: ItemKind): string {
  return kind === 'scalar' ? 'scalars' : kind === 'object' ? 'objects' : 'nulls';
}
