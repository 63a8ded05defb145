import { entriesOf, isList, isObject, type Json } from '../../../src/lib/json/value.ts';
import { toText } from '../../../src/lib/json/text.ts';

/** A field of the rows of an answer. */
export interface Field {
  /** Keys with points between them, as a mapping names it. */
  readonly path: string;
  readonly kind: 'list' | 'mixed' | 'number' | 'object' | 'switch' | 'text' | 'empty';
  /** Its first value that is not empty, as text. */
  readonly example: string;
  /** Fields of the items of a list; empty when they are plain values. */
  readonly items: readonly Field[];
}

/** Returns the rows at a path of the answer; a single object is one row. */
export function rowsAt(answer: Json, path: string): readonly Json[] {
  const found = findIn(answer, path);
  if (isList(found)) return found;
  return found === undefined ? [] : [found];
}

/** Finds a value as a configuration does: a key with a dot in its name is found as it is. */
function findIn(value: Json, path: string): Json | undefined {
  if (path === '') return value;
  if (isList(value)) {
    const [, index, rest = ''] = /^(\d+)(?:\.(.+))?$/.exec(path) ?? [];
    const item = index === undefined ? undefined : value[Number(index)];
    return item === undefined ? undefined : findIn(item, rest);
  }
  if (!isObject(value)) return undefined;
  const own = entriesOf(value).filter(([key]) => path === key || path.startsWith(`${key}.`));
  for (const [key, inner] of own) {
    const found = findIn(inner, path.slice(key.length + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Deeper levels are shown as they are. */
const DEEPEST = 8;

/**
 * Returns the fields of the rows, in the order in which they come. Nested objects are expanded; a list is one field.
 */
export function fieldsOf(rows: readonly Json[]): Field[] {
  const found = new Map<string, Json[]>();
  for (const row of rows) collect(row, '', found);
  return [...found].map(([path, values]) => {
    const filled = values.filter((value) => value !== null && value !== '');
    const kinds = new Set(filled.map(kindOf));
    const [kind = 'empty'] = kinds;
    const items = filled.filter(isList).flat();
    return {
      path,
      kind: kinds.size > 1 ? 'mixed' : kind,
      example: exampleOf(filled[0]),
      items: items.some(isObject) ? fieldsOf(items.filter(isObject)) : [],
    };
  });
}

function collect(value: Json, path: string, found: Map<string, Json[]>): void {
  const known = found.get(path);
  if (isObject(value) && (path === '' || path.split('.').length < DEEPEST) && entriesOf(value).length > 0) {
    for (const [key, inner] of entriesOf(value)) collect(inner, path === '' ? key : `${path}.${key}`, found);
  } else if (known === undefined) found.set(path === '' ? '.' : path, [value]);
  else known.push(value);
}

function kindOf(value: Json): Field['kind'] {
  if (isList(value)) return 'list';
  if (isObject(value)) return 'object';
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? 'switch' : 'number';
}

function exampleOf(value: Json | undefined): string {
  if (value === undefined) return '';
  if (isList(value)) return `${value.length} ${value.length === 1 ? 'item' : 'items'}`;
  if (isObject(value)) return '{}';
  return typeof value === 'boolean' ? String(value) : toText(value);
}
