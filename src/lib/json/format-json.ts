import { entriesOf, isList, JsonMap, JsonNumber, type Json } from './value.ts';

/**
 * Formats JSON text with an indentation of two blanks: numbers as they were written, keys in their order. Undefined
 * properties are left out.
 */
export function formatJson(value: unknown, indent = ''): string {
  if (value instanceof JsonNumber) return value.literal;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = `${indent}  `;
  // The client gives JSON, apart from undefined values.
  const json = value as Json;
  const [open, close, items] = isList(json)
    ? ['[', ']', json.map((item) => formatJson(item, inner))]
    : ['{', '}', membersOf(json as JsonMap | { readonly [key: string]: Json }, inner)];
  if (items.length === 0) return open + close;
  return `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`;
}

function membersOf(object: JsonMap | { readonly [key: string]: Json | undefined }, inner: string): string[] {
  const entries = object instanceof JsonMap ? entriesOf(object) : Object.entries(object);
  return entries
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${JSON.stringify(key)}: ${formatJson(item, inner)}`);
}
