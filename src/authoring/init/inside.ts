import { entriesOf, isList, isObject, type Json } from '../../lib/json/index.ts';
import { pathOf, signOf, signsOf, valueOf } from './signs.ts';

/** A list inside of a row of which only a part came, by what stands beside it. */
export interface ListInside {
  /** Path of the list in the row: `items_page.items`. */
  readonly path: string;
  /** Path of what says that there is more: `items_page.cursor`. */
  readonly by: string;
  /** Items that came. */
  readonly count: number;
}

/** Objects inside of rows that are looked into. */
const MAX_DEPTH = 3;
const MOST_ROWS = 200;

/** Finds a list inside of rows that goes on: beside it is a cursor, a flag or a total that says so. Pure. */
export function listThatGoesOn(rows: readonly Json[]): ListInside | undefined {
  for (const row of rows.slice(0, MOST_ROWS)) {
    const found = within(row, [], rows.length === 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @param isAbout whether what stands in this object is about a list in it: of a row it is about the row */
function within(value: Json, keys: readonly string[], isAbout: boolean): ListInside | undefined {
  if (!isObject(value) || keys.length > MAX_DEPTH) return undefined;
  for (const [key, item] of entriesOf(value)) {
    const way = [...keys, key];
    if (isList(item) && item.length > 0 && isAbout) {
      const by = saysMore(value, key, item);
      if (by !== undefined)
        return {
          path: pathOf(way),
          by: [...(keys.length === 0 ? [] : [pathOf(keys)]), by].join('.'),
          count: item.length,
        };
    }
    const inside = within(item, way, true);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/** Returns the path of what says that a list is longer. */
function saysMore(value: Json, key: string, list: readonly Json[]): string | undefined {
  const signs = signsOf(value, { keys: [key], kind: 'list', rows: list }, {});
  const total = signOf(signs, 'total');
  if ((valueOf(total) ?? 0) > list.length) return total?.path;
  const isOver = signOf(signs, 'end') !== undefined || signOf(signs, 'noNext') !== undefined;
  return signOf(signs, 'more')?.path ?? (isOver ? undefined : signs.pointers[0]?.path);
}
