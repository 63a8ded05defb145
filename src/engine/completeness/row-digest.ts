import { entriesOf, isList, isObject, isScalar, toText, type Json } from '../../lib/json/index.ts';

/** Names of an id, the first that a row has. */
export const ID_NAMES = ['id', '_id', 'Id', 'ID', 'uuid', 'UUID', 'guid', 'gid', 'key', 'Key'];

/** Returns a number of 53 bits for a whole row: two rows are the same where their numbers are. */
export function wholeDigest(row: Json): number {
  const halves = { low: 0x811c9dc5, high: 0x1000193 };
  add(halves, row);
  return (halves.high & 0x1fffff) * 2 ** 32 + (halves.low >>> 0);
}

interface Halves {
  low: number;
  high: number;
}

function add(halves: Halves, value: Json): void {
  if (isScalar(value) || value === null) {
    addText(halves, value === null ? '\u0001' : toText(value));
  } else if (isList(value)) {
    for (const item of value) add(halves, item);
    addText(halves, '\u0002');
  } else if (isObject(value)) {
    for (const [name, item] of entriesOf(value)) {
      addText(halves, name);
      add(halves, item);
    }
    addText(halves, '\u0003');
  }
}

function addText(halves: Halves, text: string): void {
  let { low, high } = halves;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high, 31) + code;
  }
  halves.low = Math.imul(low ^ text.length, 0x85ebca6b);
  halves.high = Math.imul(high ^ text.length, 0xc2b2ae35);
}
