import { entriesOf, isList, isObject, JsonNumber, type Json } from '../../src/lib/json/value.ts';

/** Formats JSON for people, exactly: literals and the order of keys stay. */
export function pretty(value: Json, indent = ''): string {
  if (value instanceof JsonNumber) return value.literal;
  if (isList(value)) {
    if (value.length === 0) return '[]';
    const items = value.map((item) => `${indent}  ${pretty(item, `${indent}  `)}`);
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (isObject(value)) {
    const entries = entriesOf(value);
    if (entries.length === 0) return '{}';
    const items = entries.map(
      ([key, item]) => `${indent}  ${JSON.stringify(key)}: ${pretty(item, `${indent}  `)}`,
    );
    return `{\n${items.join(',\n')}\n${indent}}`;
  }
  return JSON.stringify(value);
}
