import { RecordError } from '../errors.ts';
import {
  getKey,
  isEmpty,
  isList,
  isObject,
  isScalar,
  JsonMap,
  toJsonText,
  toText,
  type AnyObject,
  type Json,
} from '../json/index.ts';

/** 1 and 2 are the older ways to turn values into text (spec extractor 5.2). */
export type CompatLevel = 1 | 2 | 3;

/**
 * `responseFilter`: turns parts of a row into JSON text (spec extractor 5.2).
 *
 * The response `{"id": 1, "color": {"hex": "f00"}, "tags": [{"x": 1}, {"x": [2]}]}` with the filters `color` and
 * `tags[].x` becomes `{"id": 1, "color": "{\"hex\":\"f00\"}", "tags": [{"x": "1"}, {"x": "[2]"}]}`.
 *
 * @param delimiter between the keys of a path (`responseFilterDelimiter`)
 * @param at JSON path of the filter in the configuration, for messages
 * @returns a function that gives the row itself where nothing is to be changed, else a new one;
 *   it throws a {@link RecordError} where `[]` stands after something that is no list
 */
export function createFilter(
  paths: readonly string[],
  delimiter: string,
  compatLevel: CompatLevel,
  at: string,
): (row: Json) => Json {
  const filters = paths.map((path) => compile(path, delimiter, compatLevel, { path, at }));
  return (row) => {
    let filtered = row;
    for (const filter of filters) filtered = filter(filtered);
    return filtered;
  };
}

type Change = (value: Json) => Json;

interface Place {
  /** The whole path as written. */
  readonly path: string;
  readonly at: string;
}

function compile(path: string, delimiter: string, compatLevel: CompatLevel, place: Place): Change {
  const end = delimiter === '' ? -1 : path.indexOf(delimiter);
  const head = end < 0 ? path : path.slice(0, end);
  const change =
    end < 0
      ? stringify(compatLevel)
      : compile(path.slice(end + delimiter.length), delimiter, compatLevel, place);
  if (!head.endsWith('[]')) return (value) => changeProperty(value, head, change);
  const key = head.slice(0, -2);
  const changeItems: Change = (list) => {
    if (isList(list)) return mapChanged(list, change);
    if (compatLevel < 3 && isEmpty(list, 'response')) return list;
    throw new RecordError(
      'records.invalid',
      `“${key}” in the response filter “${place.path}” is not a list`,
      {
        where: { path: place.at },
        hint: `Leave the “[]” away where “${key}” is a single value.`,
      },
    );
  };
  return (value) => changeProperty(value, key, changeItems);
}

function stringify(compatLevel: CompatLevel): Change {
  if (compatLevel === 3) return toJsonText;
  return (value) => {
    if (isEmpty(value, 'response')) return value;
    return isScalar(value) ? toText(value) : toJsonText(value);
  };
}

function changeProperty(value: Json, key: string, change: Change): Json {
  if (!isObject(value)) return value;
  const before = getKey(value, key);
  if (before === undefined) return value;
  const after = change(before);
  return after === before ? value : replaceProperty(value, key, after);
}

/** A copy with the value of a property that is there replaced; its place stays. */
function replaceProperty(object: AnyObject, key: string, value: Json): AnyObject {
  if (object instanceof JsonMap) return new JsonMap(object).set(key, value);
  // spread and a computed key define properties, so a key named __proto__ is a key like any other
  return { ...object, [key]: value };
}

/** The list itself when no item changes. */
function mapChanged(list: readonly Json[], change: Change): readonly Json[] {
  let changed: Json[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const before = list[i] ?? null;
    const after = change(before);
    if (after === before) continue;
    changed ??= [...list];
    changed[i] = after;
  }
  return changed ?? list;
}
