import { toJsonText, type JsonText } from './text.ts';
import { entriesOf, isList, JsonNumber, type Json } from './value.ts';

/** Writes JSON text that `parseExact` reads back to the same value: literals and key order kept. For our own files. */
export function encodeExact(value: Json): string {
  if (value instanceof JsonNumber) return value.literal;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(encodeExact).join(',')}]`;
  const members = entriesOf(value).map(([key, item]) => `${JSON.stringify(key)}:${encodeExact(item)}`);
  return `{${members.join(',')}}`;
}

/** Returns the writer of lists and objects in cells: exact, or the reference's. */
export function jsonTextOf(isExact: boolean): JsonText {
  return isExact ? encodeExact : toJsonText;
}
