import { MAX_DEPTH, numberFrom } from './parse.ts';
import { objectOf, type Json } from './value.ts';

/**
 * Converts a value of the runtime to what the text of `JSON.stringify` is read as; undefined for one that is nested
 * deeper than a text may be.
 */
export function jsonFrom(value: unknown): Json | undefined {
  let isTooDeep = false;
  const convert = (node: unknown, depth: number): Json => {
    if (typeof node === 'string') return node.toWellFormed();
    if (typeof node === 'number') return fromNumber(node);
    if (typeof node !== 'object' || node === null) return typeof node === 'boolean' ? node : null;
    if (depth === MAX_DEPTH) {
      isTooDeep = true;
      return null;
    }
    if (Array.isArray(node)) return node.map((item: unknown) => convert(item, depth + 1));
    const entries: [string, Json][] = [];
    for (const [key, item] of Object.entries(node))
      if (item !== undefined) entries.push([key.toWellFormed(), convert(item, depth + 1)]);
    return objectOf(entries);
  };
  const converted = convert(value, 0);
  return isTooDeep ? undefined : converted;
}

function fromNumber(value: number): Json {
  if (!Number.isFinite(value)) return null;
  // -0 loses its sign
  return Number.isInteger(value) && Math.abs(value) < 1e14 ? value + 0 : numberFrom(JSON.stringify(value));
}
