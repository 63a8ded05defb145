import { getKey, isObject, isScalar, toJsonText, type Json } from '../../lib/json/index.ts';
import type { Field } from './fields.ts';
import { plain, singular, wordsOf } from './names.ts';

/** Fields of a row that tell it from all others. */
export interface UniqueFields {
  /** Paths; none where no field or pair of fields does. */
  readonly paths: readonly string[];
  /** Other single fields that would do as well. */
  readonly others: readonly string[];
}

const ID_NAMES = [
  'id',
  '_id',
  'uuid',
  'guid',
  'uid',
  'gid',
  'sid',
  'key',
  'code',
  'slug',
  'number',
  'no',
  'sku',
  'name',
  'email',
];
const KEY_KINDS = new Set<Field['kind']>(['integer', 'text', 'mixed']);

/**
 * Returns the field that is in every row and never the same in two; else two such fields together. Of several it is the
 * one with a name of an id. Pure.
 *
 * @param list the name of the list or of the endpoint: `user_id` is the id of `users`
 */
export function findKey(fields: readonly Field[], rows: readonly Json[], list: string): UniqueFields {
  const words = wordsOf(list).map(singular);
  const unique = fields
    .filter((field) => isFull(field) && field.distinct === field.rows)
    .map((field) => ({ field, rank: rankOf(field, words) }))
    .toSorted((a, b) => a.rank - b.rank);
  const named = unique.filter(({ rank }) => rank < UNNAMED);
  const [best, ...others] = named.length > 0 ? named : unique.filter(({ field }) => isLikelyId(field));
  if (best !== undefined) return { paths: [best.field.path], others: others.map(({ field }) => field.path) };
  if (rows.length < 3) return NO_KEY;
  const parts = fields.filter(
    (field) => isFull(field) && rankOf(field, words) < UNNAMED && !field.path.includes('.'),
  );
  for (const [i, one] of parts.entries())
    for (const two of parts.slice(i + 1))
      if (isUnique(rows, [one.path, two.path])) return { paths: [one.path, two.path], others: [] };
  return NO_KEY;
}

function isFull({ filled, rows, kind }: Field): boolean {
  return filled === rows && rows > 0 && KEY_KINDS.has(kind);
}

const NO_KEY: UniqueFields = { paths: [], others: [] };
const UNNAMED = 1000;

function rankOf({ path }: Field, list: readonly string[]): number {
  // a database in a cloud puts each value under the letter of its type
  const keys = path.replace(/(?<=.)\.[SN]$/, '').split('.');
  const name = plain(keys.at(-1) ?? '') || 'id';
  const depth = 20 * (keys.length - 1);
  // an id in an object inside of the row is that of something else, but for wrappers
  if (
    keys.length > 1 &&
    !/^(?:node|attributes|item|data|properties|fields|record|document|resource|_?source|info|metadata|sys)$/.test(
      keys[0] ?? '',
    )
  )
    return list.includes(singular(keys[0] ?? '')) && ID_NAMES.includes(name) ? 40 : UNNAMED;
  const own = list.length > 0 && new RegExp(`^${list.join('_')}_?(?:id|key|no|number|code|uuid)$`).test(name);
  if (own) return depth + 1;
  const at = ID_NAMES.indexOf(name);
  if (at >= 0) return depth + (at === 0 ? 0 : 2 + at);
  if (/(?:^|_)(?:id|uuid|guid|key)$/.test(name)) return depth + 30;
  // `pageid`
  return /^[a-z]{3,}id$/.test(name) ? depth + 31 : UNNAMED;
}

/**
 * Tells whether a field without such a name is an id: a whole number, or a text without blanks. Titles that happen to
 * differ are none.
 */
function isLikelyId({ kind, path, rows }: Field): boolean {
  return kind === 'integer' && rows >= 5 && /(?:^|_)(?:n|nr|index|seq|sequence|rank|position)$/i.test(path);
}

function isUnique(rows: readonly Json[], paths: readonly string[]): boolean {
  const seen = new Set<string>();
  for (const row of rows) {
    const key = keyOf(row, paths);
    if (key === undefined || seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}

/** Returns the key of a row as text; undefined if a part of the key is missing. */
export function keyOf(row: Json, paths: readonly string[]): string | undefined {
  const parts: Json[] = [];
  for (const path of paths) {
    let value: Json | undefined = row;
    for (const key of path.split('.')) value = isObject(value) ? getKey(value, key) : undefined;
    if (!isScalar(value)) return undefined;
    parts.push(value);
  }
  return parts.length === 0 ? undefined : toJsonText(parts);
}

const CHANGE_NAMES = [
  /(?:updated|modified|changed|edited)/,
  /(?:last_activity|last_seen|revision|touched|sync)/,
  /(?:created|inserted|added|published|submitted|registered|occurred)/,
  /(?:time|timestamp|date|ts|at|on)$/,
];

/**
 * Returns the time that is newer in newer rows, preferably one that moves when the row changes. Times of other things
 * (a birthday, a due date) come last, or not at all. Pure.
 */
export function findTime(fields: readonly Field[]): Field | undefined {
  const ranked = fields
    .filter(({ kind, filled, rows, distinct }) => kind === 'time' && filled === rows && distinct > 1)
    .filter(
      ({ path }) =>
        !/birth|due|start|end|expir|valid|delet|clos|schedul|deliver|departure|arrival/i.test(path),
    )
    .map((field) => ({ field, rank: CHANGE_NAMES.findIndex((name) => name.test(plain(field.path))) }))
    .filter(({ rank }) => rank >= 0)
    .toSorted((a, b) => a.rank - b.rank || a.field.path.length - b.field.path.length);
  return ranked[0]?.field;
}
