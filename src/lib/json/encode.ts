import { toJsonText, type JsonText } from './text.ts';
import { getKey, isList, JsonNumber, keysOf, type Json } from './value.ts';

/** Writes JSON text that `parseExact` reads back to the same value: literals and key order kept. For our own files. */
export function encodeExact(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof JsonNumber) return value.literal;
  let text = '';
  if (isList(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${encodeExact(item)}`;
    return `[${text}]`;
  }
  for (const key of keysOf(value))
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${encodeExact(getKey(value, key) ?? null)}`;
  return `{${text}}`;
}

/** Returns the writer of lists and objects in cells: exact, or the reference's. */
export function jsonTextOf(isExact: boolean): JsonText {
  return isExact ? encodeExact : toJsonText;
}
