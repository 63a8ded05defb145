import { getKey, isObject, keysOf, type Json } from '../../../lib/json/index.ts';
import { plain, singular, wordsOf } from '../names.ts';
import type { ListOperation, Skipped } from './operations.ts';

/** A list, and the lists that are asked for with the id of each of its rows. */
export interface NestedList {
  readonly list: ListOperation;
  /** The placeholder that a row of the list above fills; undefined at the top. */
  readonly placeholder: { readonly name: string; readonly path: string } | undefined;
  readonly children: NestedList[];
}

/** Puts lists below those whose rows give them their path parameters. What nobody can give is told. */
export function nest(lists: readonly ListOperation[]): {
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
      else tops.push(put(placed, list, undefined));
      continue;
    }
    const name = (parts[last] ?? '').slice(1, -1);
    const above = placed.get(parts.slice(0, last).join('/'));
    const path = above === undefined ? undefined : idFor(name, above.list);
    if (above === undefined || path === undefined) {
      const why =
        above === undefined
          ? `no list gives \`${name}\``
          : `the rows of \`${above.list.path}\` have nothing that is \`${name}\``;
      skipped.push({ what: `GET ${list.path}`, why });
      continue;
    }
    above.children.push(put(placed, list, { name, path }));
  }
  return { tops, skipped };
}

function put(
  placed: Map<string, NestedList>,
  list: ListOperation,
  placeholder: NestedList['placeholder'],
): NestedList {
  const branch: NestedList = { list, placeholder, children: [] };
  const key = partsOf(list.path).join('/');
  if (!placed.has(key)) placed.set(key, branch);
  return branch;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

/** Returns the field of a row that a path parameter means: of its own name, else its id. */
function idFor(parameter: string, { place, path }: ListOperation): string | undefined {
  const row: Json | undefined = place.rows[0];
  if (!isObject(row)) return undefined;
  const names = keysOf(row);
  const resource = wordsOf(path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? '')
    .map(singular)
    .join('_');
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
  return id;
}
