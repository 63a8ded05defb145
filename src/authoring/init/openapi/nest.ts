import {
  compilePath,
  entriesOf,
  getKey,
  isObject,
  isScalar,
  keysOf,
  toText,
  type Json,
} from '../../../lib/json/index.ts';
import { plain, singular, wordsOf } from '../names.ts';
import type { ListOperation, Skipped } from './operations.ts';

/** A list, and the lists that are asked for with the id of each of its rows. */
export interface NestedList {
  readonly list: ListOperation;
  /** Its path with the placeholders as they are called here: no two levels have one of the same name. */
  readonly endpoint: string;
  /** The placeholder that a row of the list above fills; undefined at the top. */
  readonly placeholder:
    | { readonly name: string; readonly path: string; readonly example: string | undefined }
    | undefined;
  readonly children: NestedList[];
}

/**
 * Puts lists below those whose rows give them their path parameters. What nobody can give is told.
 *
 * @param isAsked the API is asked for the lists: an id that the document does not describe is seen in the rows
 */
export function nest(
  lists: readonly ListOperation[],
  isAsked: boolean,
): {
  readonly tops: readonly NestedList[];
  readonly skipped: readonly Skipped[];
} {
  const skipped: Skipped[] = [];
  const tops: NestedList[] = [];
  const placed = new Map<string, NestedList>();
  // a shorter path is above a longer one
  for (const list of lists.toSorted((a, b) => partsOf(a.path).length - partsOf(b.path).length)) {
    const parts = partsOf(list.path);
    const last = parts.findLastIndex((part) => /^\{.*\}$/.test(part));
    if (last < 0) {
      if (/[{}]/.test(list.path))
        skipped.push({ what: `GET ${list.path}`, why: 'a parameter is only a part of a segment' });
      else tops.push(put(placed, { list, endpoint: bare(list.path), placeholder: undefined }));
      continue;
    }
    const name = (parts[last] ?? '').slice(1, -1);
    const isAlone = parts.filter((part) => /^\{.*\}$/.test(part)).length === 1;
    const above =
      placed.get(keyOf(parts.slice(0, last))) ??
      (isAlone
        ? (namedLike(name, [...placed.values()]) ?? withExample(exampleOf(name, list), [...placed.values()]))
        : undefined);
    const example = exampleOf(name, list);
    const path =
      above === undefined ? undefined : (fieldWith(example, above.list) ?? idFor(name, above.list, isAsked));
    if (above === undefined || path === undefined) {
      const why =
        above === undefined
          ? `no list gives \`${name}\``
          : `the rows of \`${above.list.path}\` have nothing that is \`${name}\``;
      skipped.push({ what: `GET ${list.path}`, why });
      continue;
    }
    const isBelow = keyOf(partsOf(above.list.path)) === keyOf(parts.slice(0, last));
    const things = wordsOf(lastNameOf(above.list.path)).map(singular).join('_');
    const free =
      [name, `${things}_${name}`].find((each) => !above.endpoint.includes(`{${each}}`)) ??
      `${name}_${parts.length}`;
    // an API may call the same id otherwise at each level
    const start = isBelow ? above.endpoint.replace(/\/$/, '') : parts.slice(0, last).join('/');
    const tail = bare(list.path)
      .split('/')
      .slice(last + 1);
    const endpoint = [start, `{${free}}`, ...tail].join('/');
    above.children.push(put(placed, { list, endpoint, placeholder: { name: free, path, example } }));
  }
  return { tops, skipped };
}

function put(placed: Map<string, NestedList>, parts: Omit<NestedList, 'children'>): NestedList {
  const branch: NestedList = { ...parts, children: [] };
  const key = keyOf(partsOf(parts.list.path));
  if (!placed.has(key)) placed.set(key, branch);
  return branch;
}

/** Returns the path without the names of its parameters. */
function keyOf(parts: readonly string[]): string {
  return parts.map((part) => part.replace(/^\{.*\}$/, '{}')).join('/');
}

/** Takes away the slash in front; one at the end is a part of the path. */
function bare(path: string): string {
  return path.replace(/^\//, '');
}

/** Returns the list of the things that a parameter names: `user_id` is an id of `/users`. */
function namedLike(parameter: string, placed: readonly NestedList[]): NestedList | undefined {
  const [, thing] = /^(.+)_(?:id|uuid|key|slug|name)$/.exec(plain(parameter)) ?? [];
  return thing === undefined
    ? undefined
    : placed.find(
        ({ list, placeholder }) =>
          placeholder === undefined && wordsOf(lastNameOf(list.path)).map(singular).join('_') === thing,
      );
}

/** Returns the example value of a path parameter; undefined where it could be that of anything. */
function exampleOf(name: string, { parameters }: ListOperation): string | undefined {
  const value = parameters.find((each) => each.place === 'path' && each.name === name)?.value;
  const text = isScalar(value) ? toText(value) : '';
  return text.length >= SHORTEST && !/^(?:text|true|false|null|string)$/.test(text) ? text : undefined;
}

/** A shorter example may be that of several things. */
const SHORTEST = 3;

/** Returns the only list whose described rows have this very value. */
function withExample(example: string | undefined, placed: readonly NestedList[]): NestedList | undefined {
  const alike = placed.filter(
    ({ list, placeholder }) => placeholder === undefined && fieldWith(example, list) !== undefined,
  );
  return alike.length === 1 ? alike[0] : undefined;
}

/** Returns the field of a described row that has this very value. */
function fieldWith(example: string | undefined, { place }: ListOperation): string | undefined {
  const row: Json | undefined = place.rows[0];
  if (example === undefined || !isObject(row)) return undefined;
  return entriesOf(row).find(([, value]) => isScalar(value) && toText(value) === example)?.[0];
}

/** Names of fields that a path often takes in place of an id. */
const IN_PATHS = ['slug', 'key', 'code', 'handle', 'login', 'identifier', 'uuid', 'number', 'name'];

/**
 * Returns fields of the rows that came that a placeholder may mean, the likeliest first: that of its example; that of
 * the document; then others that tell each row.
 */
export function fieldsFor(
  { path, example }: NonNullable<NestedList['placeholder']>,
  rows: readonly Json[],
): readonly string[] {
  const own = rows.flatMap((row) =>
    isObject(row) ? entriesOf(row).filter(([, value]) => isScalar(value) && toText(value) === example) : [],
  );
  const others = IN_PATHS.filter((name) => {
    const values = rows.map((row) => (isObject(row) ? getKey(row, name) : undefined));
    const texts = values.flatMap((value) =>
      value !== undefined && isScalar(value) && /^[\w.~-]+$/.test(toText(value)) ? [toText(value)] : [],
    );
    return rows.length > 0 && new Set(texts).size === rows.length;
  });
  const isThere = rows.length === 0 || rows.some((row) => isScalar(compilePath(path).find(row)));
  // the rows may have nothing of what the document says of them
  const documented = isThere || others.length === 0 ? [path] : [];
  const found = new Set([...own.slice(0, 1).map(([name]) => name), ...documented, ...others]);
  return [...found].slice(0, MOST_FIELDS);
}

const MOST_FIELDS = 3;

function lastNameOf(path: string): string {
  return partsOf(path).findLast((part) => !part.startsWith('{')) ?? '';
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

/**
 * Returns the field of a row that a path parameter means: of its own name, else its id; the usual name, where the
 * document has none and the rows are looked at.
 */
function idFor(parameter: string, { place, path }: ListOperation, isAsked: boolean): string | undefined {
  const row: Json = place.rows[0] ?? {};
  if (!isObject(row)) return undefined;
  const names = keysOf(row);
  const resource = wordsOf(lastNameOf(path)).map(singular).join('_');
  const wanted = plain(parameter);
  const bare = wanted.startsWith(`${resource}_`) ? wanted.slice(resource.length + 1) : wanted;
  const own = names.find((name) => plain(name) === wanted) ?? names.find((name) => plain(name) === bare);
  if (own !== undefined) return own;
  if (!/(?:^|_)id$/.test(bare) && bare !== resource) {
    const alike = names.find((name) => bare.endsWith(`_${plain(name)}`));
    if (alike !== undefined) return alike;
  }
  const id = ['id', '_id', 'uuid', 'guid', 'key', 'gid', 'sid'].find(
    (name) => getKey(row, name) !== undefined,
  );
  return id ?? (isAsked && /(?:^|_)id$/.test(wanted) ? 'id' : undefined);
}
