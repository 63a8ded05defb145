import { RecordError } from '../../lib/errors.ts';
import {
  getKey,
  isEmpty,
  isJsonPath,
  isList,
  isObject,
  isScalar,
  JsonMap,
  segmentsOf,
  toText,
  type AnyObject,
  type Json,
  type JsonText,
} from '../../lib/json/index.ts';

/** 1 and 2 are the older ways to turn values into text. */
export type CompatLevel = 1 | 2 | 3;

/** How a filter turns values into text. */
export interface FilterTexts {
  readonly compatLevel: CompatLevel;
  readonly jsonText: JsonText;
}

/**
 * Creates the filter of `responseFilter`, which turns parts of a row into JSON text.
 *
 * The response `{"id": 1, "color": {"hex": "f00"}, "tags": [{"x": 1}, {"x": [2]}]}` with the filters `color` and
 * `tags[].x` becomes `{"id": 1, "color": "{\"hex\":\"f00\"}", "tags": [{"x": "1"}, {"x": "[2]"}]}`.
 *
 * @param delimiter between the keys of a path (`responseFilterDelimiter`)
 * @param at JSON path of the filter in the configuration, for messages
 * @returns a function that gives the row itself where nothing is to be changed, else a new one; it throws a {@link
 * RecordError} where `[]` stands after something that is no list
 */
export function createFilter(
  paths: readonly string[],
  delimiter: string,
  texts: FilterTexts,
  at: string,
): (row: Json) => Json {
  const filters = paths.map((path) => compile(partsOf(path, delimiter, at), texts, { path, at }));
  return (row) => {
    let filtered = row;
    for (const filter of filters) filtered = filter(filtered);
    return filtered;
  };
}

type Change = (value: Json) => Json;

interface FilterPlace {
  /** The whole path as written. */
  readonly path: string;
  readonly at: string;
}

/** A key of the path; `[]` behind it means each item of that list. */
interface Part {
  readonly key: string;
  readonly isList: boolean;
  /** The rest of the path as it stands, which may be one key that has the delimiter in its name. */
  readonly rest: string;
}

function partsOf(path: string, delimiter: string, at: string): readonly Part[] {
  if (isJsonPath(path)) return partsOfJsonPath(path, at);
  const texts = delimiter === '' ? [path] : path.split(delimiter);
  return texts.map((text, i) => {
    const isList = text.endsWith('[]');
    return { key: isList ? text.slice(0, -2) : text, isList, rest: texts.slice(i).join(delimiter) };
  });
}

/** Splits a JSON path: `$.tags[*].x` is `tags[].x`. */
function partsOfJsonPath(path: string, at: string): readonly Part[] {
  const parts: Part[] = [];
  for (const { isDeep, selectors } of segmentsOf(path, at)) {
    const [selector, more] = selectors;
    const last = parts.at(-1);
    if (!isDeep && more === undefined && selector?.kind === 'name') {
      parts.push({ key: selector.name, isList: false, rest: selector.name });
    } else if (!isDeep && more === undefined && selector?.kind === 'all' && last?.isList === false) {
      parts[parts.length - 1] = { ...last, isList: true };
    } else {
      throw new RecordError('records.invalid', `The response filter “${path}” has more than names and [*]`, {
        where: { path: at },
        hint: 'Name properties, and [*] behind those that are lists: $.tags[*].note',
      });
    }
  }
  return parts;
}

function compile(parts: readonly Part[], texts: FilterTexts, place: FilterPlace): Change {
  const [part, ...behind] = parts;
  if (part === undefined) return stringify(texts);
  const { key, rest } = part;
  const change = compile(behind, texts, place);
  const asText = stringify(texts);
  const changeItems: Change = (list) => {
    if (isList(list)) return mapChanged(list, change);
    if (texts.compatLevel < 3 && isEmpty(list, 'response')) return list;
    throw new RecordError(
      'records.invalid',
      `“${key}” in the response filter “${place.path}” is not a list`,
      {
        where: { path: place.at },
        hint: `Leave the “[]” away where “${key}” is a single value.`,
      },
    );
  };
  const changeHere = part.isList ? changeItems : change;
  if (behind.length === 0) return (value) => changeProperty(value, key, changeHere);
  return (value) =>
    isObject(value) && getKey(value, key) === undefined
      ? changeProperty(value, rest, asText)
      : changeProperty(value, key, changeHere);
}

function stringify({ compatLevel, jsonText }: FilterTexts): Change {
  if (compatLevel === 3) return jsonText;
  return (value) => {
    if (isEmpty(value, 'response')) return value;
    return isScalar(value) ? toText(value) : jsonText(value);
  };
}

function changeProperty(value: Json, key: string, change: Change): Json {
  if (!isObject(value)) return value;
  const before = getKey(value, key);
  if (before === undefined) return value;
  const after = change(before);
  return after === before ? value : replaceProperty(value, key, after);
}

/** Returns a copy with the value of an existing property replaced, at its place. */
function replaceProperty(object: AnyObject, key: string, value: Json): AnyObject {
  if (object instanceof JsonMap) return new JsonMap(object).set(key, value);
  // spread and a computed key define properties, so a key named __proto__ is a key like any other
  return { ...object, [key]: value };
}

/** Maps a list; returns the list itself when no item changes. */
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
