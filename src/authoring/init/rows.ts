import {
  entriesOf,
  getKey,
  isList,
  isObject,
  isScalar,
  keysOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { plain, singular, wordsOf } from './names.ts';

/** A place in an answer where rows may be. */
export interface RowsPlace {
  /** Keys from the root; empty for the whole answer. */
  readonly keys: readonly string[];
  /**
   * `list`: the items; `values`: what stands under the keys of an object; `cells`: lists of cells; `one`: the object
   * itself.
   */
  readonly kind: 'list' | 'values' | 'cells' | 'one';
  /** Name of the column for keys, if the kind is `values`. */
  readonly keyName?: string;
  /** Path of the column names, if the kind is `cells`. */
  readonly header?: readonly string[];
  readonly rows: readonly Json[];
  /** The format, where the type of the answer does not say it. */
  readonly format?: TextFormat;
  /** How much speaks for it; below 0 nobody would take it. */
  readonly score: number;
  /** Why, in a few words. */
  readonly why: string;
}

/** Formats of rows that are sent as plain text, too. */
export type TextFormat = 'csv' | 'tsv' | 'jsonl';

/** Usual names of the list of rows. */
const ROWS = new Set(
  `data items item results result records record rows row value values list entries entry docs documents hits objects
  elements members content contents nodes edges resources collection response payload`.split(/\s+/),
);
/** Lists that stand beside the rows. */
const BESIDE = new Set(
  `links link errors error warnings warning messages included facets aggregations columns fields headers header filters
  filter breadcrumbs sort sorts meta metadata pagination paging debug notices scopes permissions schema tags`.split(
    /\s+/,
  ),
);

const MAX_DEPTH = 6;
const MAX_PLACES = 500;

/**
 * Finds every place of an answer that may have rows, the likeliest first. Pure.
 *
 * @param endpoint the last part of the address, as `users` in `/v1/users`: rows are often called like it
 */
export function findRows(body: Json, endpoint: string): readonly RowsPlace[] {
  const places: RowsPlace[] = [];
  visit(body, [], places, wordsOf(endpoint).map(singular));
  if (isObject(body) && keysOf(body).length > 0) {
    // a list inside of a thing that has an id belongs to the thing
    const score = isThing(body)
      ? 60 + Math.max(...places.map(({ rows }) => Math.min(20, rows.length)), 0)
      : 0;
    if (score > 0 || places.length === 0)
      places.push({ keys: [], kind: 'one', rows: [body], score, why: 'the answer is one object' });
  }
  return places.map((place) => withHeader(place, body)).toSorted((a, b) => b.score - a.score);
}

function visit(value: Json, keys: readonly string[], places: RowsPlace[], names: readonly string[]): void {
  if (keys.length > MAX_DEPTH || places.length >= MAX_PLACES) return;
  if (isList(value)) {
    const pair = pairOf(value);
    if (pair !== undefined && keys.length === 0) {
      visit(pair, ['1'], places, names);
      return;
    }
    places.push(listPlace(value, keys, names));
    return;
  }
  if (!isObject(value)) return;
  const under = valuesPlace(value, keys, names);
  if (under !== undefined) places.push(under);
  for (const [key, item] of entriesOf(value)) visit(item, [...keys, key], places, names);
}

/**
 * Tells whether an object is a record: it has an id, and other single values. Facts about pages are no record, nor is
 * an answer of JSON-RPC.
 */
function isThing(object: AnyObject): boolean {
  const scalars = entriesOf(object).filter(([, value]) => isScalar(value));
  const names = scalars.map(([key]) => plain(key));
  return (
    scalars.length > 1 &&
    names.some((name) => /^_?(?:id|uuid|guid)$/.test(name)) &&
    !names.some((name) =>
      /^(?:jsonrpc|total|count|page|offset|next|has_more|cursor|took|limit)$|^next_|^total_/.test(name),
    )
  );
}

/** Returns the rows of a pair `[{"page": 1, …}, [row, row]]` of facts about the page and rows. */
function pairOf(list: readonly Json[]): readonly Json[] | undefined {
  const [first, second] = list;
  return list.length === 2 && isObject(first) && isList(second) ? second : undefined;
}

function listPlace(rows: readonly Json[], keys: readonly string[], names: readonly string[]): RowsPlace {
  const objects = rows.filter((row) => isObject(row)).length;
  const lists = rows.filter((row) => isList(row)).length;
  const what =
    rows.length === 0
      ? 'empty'
      : objects === rows.length
        ? 'all objects'
        : objects > 0
          ? `${objects} of them objects`
          : lists === rows.length
            ? 'lists of cells'
            : 'single values';
  const form = objects > 0 ? 50 : lists > 0 ? 15 : rows.length > 0 ? 5 : 8;
  const width = Math.min(10, isObject(rows[0]) ? keysOf(rows[0]).length : 0);
  const score = form + width + Math.min(rows.length, 20) + scoreOfName(keys, names) - 4 * keys.length;
  return { keys, kind: 'list', rows, score, why: what };
}

/** Lists of cells, and beside them a list of as many names. */
function withHeader(place: RowsPlace, body: Json): RowsPlace {
  const { rows, keys } = place;
  const width = isList(rows[0]) ? rows[0].length : 0;
  if (place.kind !== 'list' || width === 0 || !rows.every((row) => isList(row) && row.length === width))
    return place;
  const above = keys.slice(0, -1);
  let beside: Json | undefined = body;
  for (const key of above) beside = isObject(beside) ? getKey(beside, key) : undefined;
  if (beside === undefined || !isObject(beside)) return place;
  const [found] = entriesOf(beside).filter(
    ([, value]) =>
      isList(value) &&
      value !== rows &&
      value.length === width &&
      value.every((name) => typeof name === 'string'),
  );
  if (found === undefined) return place;
  return {
    ...place,
    kind: 'cells',
    header: [...above, found[0]],
    score: place.score + 20,
    why: `cells, named by “${found[0]}”`,
  };
}

/**
 * Returns the place of rows in an object whose values are objects of one kind, under keys that are ids: `{"17": {…},
 * "18": {…}}`.
 */
function valuesPlace(
  object: AnyObject,
  keys: readonly string[],
  names: readonly string[],
): RowsPlace | undefined {
  const entries = entriesOf(object);
  if (entries.length < 2 || !entries.every(([, value]) => isObject(value))) return undefined;
  const rows = entries.map(([, value]) => value);
  const counts = new Map<string, number>();
  for (const row of rows)
    if (isObject(row)) for (const key of keysOf(row)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const common = [...counts].filter(([, count]) => count === rows.length).map(([key]) => key);
  if (common.length < 2 || common.length * 2 < counts.size) return undefined;
  const hasIds = entries.every(([key]) => /\d|^[A-Z]{2,5}$/.test(key));
  const holdsScalar = rows.some((row) => isObject(row) && isScalar(getKey(row, common[0] ?? '')));
  if (!holdsScalar || (!hasIds && entries.length < 3)) return undefined;
  const score =
    30 + (hasIds ? 20 : 0) + Math.min(rows.length, 20) + scoreOfName(keys, names) - 4 * keys.length;
  return { keys, kind: 'values', rows, keyName: freeName(rows), score, why: 'an object each, under its key' };
}

function scoreOfName(keys: readonly string[], names: readonly string[]): number {
  const key = keys.findLast((each) => !/^\d+$/.test(each));
  if (key === undefined) return 20;
  const words = wordsOf(key).map(singular);
  const isCalled = words.length > 0 && words.every((word) => names.includes(word));
  const name = words.join('_');
  const beside = keys.some((each) => BESIDE.has(wordsOf(each).join('_')));
  return (
    (isCalled ? 30 : 0) +
    (ROWS.has(key.toLowerCase()) || ROWS.has(name) ? 20 : 0) -
    (beside && !isCalled ? 60 : 0)
  );
}

/** Returns a name for the column of keys that no row has. */
function freeName(rows: readonly Json[]): string {
  const isTaken = (name: string): boolean =>
    rows.some((row) => isObject(row) && getKey(row, name) !== undefined);
  return ['id', 'key', 'name_of_row'].find((name) => !isTaken(name)) ?? 'key_of_row';
}
