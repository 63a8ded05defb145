import {
  compilePath,
  isEmpty,
  isList,
  isNumber,
  isObject,
  entriesOf,
  getKey,
  toText,
  withoutKey,
  sizeOf,
} from '../../lib/json/index.ts';
import type { AnyObject, Json, Path } from '../../lib/json/index.ts';
import { asObject, kindOf } from '../../lib/read-settings.ts';
import { jobError } from './read-job.ts';

/** A placeholder of a child, as written. */
export interface Placeholder {
  /** The whole name, with its level: `2:user-id` stands in the endpoint as `{2:user-id}`. */
  readonly name: string;
  /** Which row the value comes from: 1 is the row that started the child, 2 the row above it. */
  readonly level: number;
  /** Path in that row; `.` alone is the row itself. */
  readonly path: Path;
  /** A function or reference that makes the value; it may refer to `placeholder.value`. */
  readonly call?: AnyObject;
  /** JSON path in the configuration. */
  readonly at: string;
}

/**
 * Reads `placeholders`: name to path, or name to `{ path, function, args }`, `{ path, placeholder: "value" }`,
 * `{ path }`.
 *
 * @param maxLevel how many rows there are above the child
 * @throws {JobError} for a missing path, a level without a row, or a value of a wrong type
 */
export function parsePlaceholders(
  node: Json | undefined,
  at: string,
  maxLevel: number,
): readonly Placeholder[] {
  if (node === undefined || isEmpty(node)) return [];
  const map = asObject(node);
  if (map === undefined)
    throw jobError(at, `“placeholders” must be an object of names and paths, not ${kindOf(node)}`);
  return Object.freeze(
    entriesOf(map).map(([name, value]) =>
      Object.freeze(parsePlaceholder(name, value, `${at}.${name}`, maxLevel)),
    ),
  );
}

function parsePlaceholder(name: string, value: Json, at: string, maxLevel: number): Placeholder {
  if (name === '' || /[{}]/.test(name))
    throw jobError(
      at,
      `“${name}” cannot name a placeholder`,
      'Write the name without braces: "id" stands for {id}.',
    );
  const level = Number(/^(\d+):/.exec(name)?.[1] ?? 1);
  if (level < 1 || level > maxLevel)
    throw jobError(
      at,
      `The placeholder “${name}” asks for level ${level}, and the maximum level here is ${maxLevel}`,
      'Level 1 is the row that starts the child, 2 is the row of the job above it.',
    );
  if (!isObject(value) && !isList(value)) return { name, level, path: readPath(value, at), at };
  const map = isObject(value) ? value : {};
  const path = readPath(getKey(map, 'path') ?? null, `${at}.path`);
  const call = withoutKey(map, 'path');
  return sizeOf(call) === 0 ? { name, level, path, at } : { name, level, path, call, at };
}

function readPath(value: Json, at: string): Path {
  if (typeof value !== 'string' && !isNumber(value) && value !== null)
    throw jobError(at, `The path of a placeholder must be a text, not ${kindOf(value)}`);
  const text = toText(value);
  if (text === '')
    throw jobError(
      at,
      'The path of a placeholder is missing',
      'Give the path of the value in the parent row, such as "id".',
    );
  return compilePath(text, { at });
}
