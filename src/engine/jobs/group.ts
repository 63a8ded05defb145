import {
  compilePath,
  entriesOf,
  getKey,
  isEmpty,
  isObject,
  objectOf,
  toText,
  withKey,
  type AnyObject,
  type Json,
  type Path,
} from '../../lib/json/index.ts';
import { asObject, checkKeys, kindOf } from '../../lib/read-settings.ts';
import type { Placeholder } from './placeholders.ts';
import { jobError, read } from './read-job.ts';
import { parentName, type Parameters } from './run.ts';

/** Several parent rows in one request of a child. */
export interface Group {
  /** Values of one request, at most. */
  readonly size: number;
  /** Between them; undefined where they are sent as a list. */
  readonly join: string | undefined;
  /** Path of the parent's value in a row of the answer; undefined if rows do not name their parent. */
  readonly by: Path | undefined;
  /** The placeholder that stands for the values. */
  readonly name: string;
  readonly at: string;
}

const KEYS = ['size', 'join', 'by'];
const DEFAULT_SIZE = 100;
const MOST = 10_000;

/**
 * Reads `group` of a child.
 *
 * @param own the placeholders of the child that are found in parent rows
 * @throws {JobError} for a wrong value, and where there is not one placeholder to put the values into
 */
export function parseGroup(
  node: AnyObject,
  at: string,
  own: readonly Placeholder[],
  isChild: boolean,
): Group | undefined {
  const value = getKey(node, 'group');
  if (value === undefined || isEmpty(value)) return undefined;
  const place = `${at}.group`;
  if (!isChild) throw jobError(place, '“group” needs the rows of a parent', 'Put the job into “children”.');
  if (!isObject(value))
    throw jobError(
      place,
      `“group” is an object, and here is ${kindOf(value)}`,
      'Write {"size": 100, "by": "id"}.',
    );
  checkKeys(value, KEYS, place, jobError, 'in “group”');
  const size = read.count(value, 'size', place) ?? DEFAULT_SIZE;
  if (size > MOST) throw jobError(`${place}.size`, `A group has at most ${MOST} rows`);
  const [placeholder, ...others] = own;
  if (placeholder === undefined || others.length > 0)
    throw jobError(
      `${at}.placeholders`,
      `A child that asks for several rows at once needs one placeholder for their values, and has ${own.length}`,
      'Name the one whose values are asked for together, such as {"id": "id"}.',
    );
  return {
    size,
    join: joinOf(value, place),
    by: byOf(value, place),
    name: placeholder.name,
    at: place,
  };
}

function joinOf(value: AnyObject, at: string): string | undefined {
  const join = getKey(value, 'join');
  if (join === false) return undefined;
  if (join === undefined || join === null) return ',';
  if (typeof join === 'string' && join !== '') return join;
  throw jobError(`${at}.join`, '“join” is the text between the values, or false for a list', 'Write ",".');
}

function byOf(value: AnyObject, at: string): Path | undefined {
  const by = getKey(value, 'by');
  if (by === undefined || by === false || isEmpty(by)) return undefined;
  if (typeof by === 'string') return compilePath(by, { at: `${at}.by` });
  throw jobError(`${at}.by`, `“by” is a path in the rows of the answer, and here is ${kindOf(by)}`);
}

/** Adds a column with the value of the parent to the definition of a grouped child; it is read from the rows. */
export function withParentColumn(
  definition: AnyObject,
  group: Group | undefined,
  [placeholder]: readonly Placeholder[],
): AnyObject {
  const by = group?.by;
  if (by === undefined || placeholder === undefined) return definition;
  const { path } = placeholder;
  const columns = asObject(getKey(definition, 'columns')) ?? objectOf([]);
  const own: readonly (readonly [string, Json])[] = [[parentName(path.text), objectOf([['row', by.text]])]];
  return withKey(definition, 'columns', objectOf([...own, ...entriesOf(columns)]));
}

/** Collects the values of parent rows, and gives groups of them. One for each page of the parent. */
export class Groups {
  readonly #group: Group;
  readonly #seen = new Set<string>();
  #values: Json[] = [];

  constructor(group: Group) {
    this.#group = group;
  }

  /**
   * Adds the values of one more row, and yields the groups that are full. A value that came before is not requested
   * again.
   *
   * @param runs what the row would start if it were asked for alone
   * @throws {JobError} for a value that is empty, or cannot be told from two
   */
  *add(runs: Iterable<Parameters>): Generator<readonly Json[]> {
    const { name, size, join, at } = this.#group;
    for (const parameters of runs) {
      const value = parameters.find((parameter) => parameter.name === name)?.value ?? null;
      const text = toText(value);
      if (value === null || text === '')
        throw jobError(
          at,
          `The placeholder “${name}” is empty in a parent row, so that there is nothing to ask for`,
          'Leave such rows out with “recursionFilter”.',
        );
      if (join !== undefined && text.includes(join))
        throw jobError(
          at,
          `A value of the placeholder “${name}” has the text “${join}” in it, by which the values are joined`,
          'Join them by another text, or send them as a list with "join": false.',
        );
      if (this.#seen.has(text)) continue;
      this.#seen.add(text);
      this.#values.push(value);
      if (this.#values.length >= size) yield* this.rest();
    }
  }

  /** Returns the values that are left at the end. */
  *rest(): Generator<readonly Json[]> {
    const values = this.#values;
    this.#values = [];
    if (values.length > 0) yield values;
  }
}

/** Returns the replacement of the placeholder in the request. */
export function joined(values: readonly Json[], { join }: Group): Json {
  return join === undefined ? values : values.map(toText).join(join);
}
