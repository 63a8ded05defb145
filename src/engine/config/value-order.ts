import { childrenOf, isList, type Json } from '../../lib/json/index.ts';
import { keysOfPath, type KeyPath } from './path.ts';
import type { DocumentPlace, Positions } from './positions.ts';

/**
 * Returns the places in a value that was made, and read from no text: all are in one line, in the order in which a text
 * would have them.
 */
export function orderIn(value: Json): Positions {
  const counts = new WeakMap<object, number>();
  const countOf = (node: Json): number => {
    if (typeof node !== 'object' || node === null) return 1;
    const known = counts.get(node);
    if (known !== undefined) return known;
    const count = (childrenOf(node) ?? []).reduce((sum, [, child]) => sum + countOf(child), 1);
    counts.set(node, count);
    return count;
  };
  const at = (keys: KeyPath): DocumentPlace | undefined => {
    let node = value;
    let before = 0;
    let isItem = true;
    for (const key of keys) {
      const all = childrenOf(node) ?? [];
      const index = all.findIndex(([name]) => name === key);
      const found = all[index];
      if (found === undefined) return undefined;
      before += all.slice(0, index).reduce((sum, [, child]) => sum + countOf(child), 1);
      isItem = isList(node);
      [, node] = found;
    }
    const place = { value: { line: 1, column: 2 * before + 2 } };
    return isItem ? place : { ...place, key: { line: 1, column: 2 * before + 1 } };
  };
  return {
    at,
    nearest(path) {
      const keys = typeof path === 'string' ? keysOfPath(path) : path;
      const length = keys.findLastIndex((_, index) => at(keys.slice(0, index + 1)) !== undefined) + 1;
      return at(keys.slice(0, length)) ?? { value: { line: 1, column: 1 } };
    },
    duplicates: [],
  };
}
