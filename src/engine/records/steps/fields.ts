import { RecordError } from '../../../lib/errors.ts';
import {
  entriesOf,
  isIntegerLike,
  isList,
  isNumber,
  isObject,
  keysOf,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { compilePattern } from '../../language/index.ts';
import { kindOf } from '../../../lib/read-settings.ts';
import { snakeCase } from './snake-case.ts';

/** Settings for the names of fields and for those that are left out: `exclude`, `rename` and `case` together. */
export interface FieldSettings {
  readonly exclude: Json | undefined;
  readonly rename: Json | undefined;
  readonly case: Json | undefined;
}

/** Changes the fields of rows; remembers which patterns were of use. */
export interface FieldStep {
  readonly change: (row: Json) => Json;
  /** Patterns and paths, as written, that no row had so far. */
  unused(): readonly { readonly key: 'exclude' | 'rename'; readonly text: string }[];
  /** Returns the new name of a field by its path; undefined for one that is left out. */
  nameOf(path: string): string | undefined;
}

export const CASES = ['snake', 'lower'] as const;

/**
 * Compiles what becomes of fields. A field is named by its path in the row, keys joined by dots; lists on the way do
 * not count, as their items are all alike.
 *
 * - `exclude`: `_links`, `owner.href`, `*.href` (below any one key), `**.href` (anywhere), `/expression/` over the path
 * - `rename`: path to the new last key
 * - `case`: of every key that `rename` does not name
 *
 * @param at JSON path of the job
 * @throws {RecordError} for what cannot be read
 */
export function compileFields(settings: FieldSettings, at: string): FieldStep | undefined {
  const excluded = compileExclude(settings.exclude, `${at}.exclude`);
  const renamed = compileRename(settings.rename, `${at}.rename`);
  const change = compileCase(settings.case, `${at}.case`);
  if (excluded.length === 0 && renamed.size === 0 && change === undefined) return undefined;
  const fields = new Fields({ excluded, renamed, change }, at);
  return {
    change: (row) => fields.change(row),
    unused: () => fields.unused(),
    nameOf: (path) => fields.nameOf(path),
  };
}

interface Rules {
  readonly excluded: readonly Exclusion[];
  /** Path → new key. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly change: ((key: string) => string) | undefined;
}

interface Exclusion {
  readonly text: string;
  readonly test: (path: string, keys: readonly string[]) => boolean;
}

/** Decision on one path of fields, made once. */
interface Field {
  readonly isExcluded: boolean;
  readonly name: string;
  readonly keys: readonly string[];
  readonly next: Map<string, Field>;
}

/** Paths that are remembered; rows whose keys are data have endless ones. */
const MAX_FIELDS = 20_000;

class Fields {
  readonly #rules: Rules;
  readonly #at: string;
  readonly #root: Field = { isExcluded: false, name: '', keys: [], next: new Map() };
  readonly #used = new Set<string>();
  #count = 0;

  constructor(rules: Rules, at: string) {
    this.#rules = rules;
    this.#at = at;
  }

  change(row: Json): Json {
    return this.#value(row, this.#root);
  }

  unused(): readonly { readonly key: 'exclude' | 'rename'; readonly text: string }[] {
    const { excluded, renamed } = this.#rules;
    return [
      ...excluded.map(({ text }) => ({ key: 'exclude' as const, text })),
      ...[...renamed.keys()].map((text) => ({ key: 'rename' as const, text })),
    ].filter(({ key, text }) => !this.#used.has(`${key} ${text}`));
  }

  nameOf(path: string): string | undefined {
    const names: string[] = [];
    let field = this.#root;
    for (const key of path.split('.')) {
      field = this.#field(field, key);
      if (field.isExcluded) return undefined;
      names.push(field.name);
    }
    return names.join('.');
  }

  #value(value: Json, field: Field): Json {
    if (isList(value)) return this.#list(value, field);
    return isObject(value) ? this.#object(value, field) : value;
  }

  /** Changes a list; returns the list itself when no item changes. */
  #list(list: readonly Json[], field: Field): readonly Json[] {
    let changed: Json[] | undefined;
    for (let i = 0; i < list.length; i++) {
      const before = list[i] ?? null;
      const after = this.#value(before, field);
      if (after === before) continue;
      changed ??= [...list];
      changed[i] = after;
    }
    return changed ?? list;
  }

  /** Changes an object; returns the object itself when nothing in it changes. */
  #object(object: AnyObject, field: Field): AnyObject {
    const entries = entriesOf(object);
    const kept: [string, Json][] = [];
    let isSame = true;
    for (const [key, value] of entries) {
      const inner = this.#field(field, key);
      if (inner.isExcluded) {
        isSame = false;
        continue;
      }
      const after = this.#value(value, inner);
      if (after !== value || inner.name !== key) isSame = false;
      kept.push([inner.name, after]);
    }
    if (isSame) return object;
    const made = plainOf(kept);
    if (keysOf(made).length === kept.length) return made;
    throw this.#collision(field, entries);
  }

  #field(above: Field, key: string): Field {
    const known = above.next.get(key);
    if (known !== undefined) return known;
    const keys = [...above.keys, key];
    const path = keys.join('.');
    const { excluded, renamed, change } = this.#rules;
    const hits = excluded.filter(({ test }) => test(path, keys));
    for (const { text } of hits) this.#used.add(`exclude ${text}`);
    const given = renamed.get(path);
    if (given !== undefined) this.#used.add(`rename ${path}`);
    const field: Field = {
      isExcluded: hits.length > 0,
      name: given ?? change?.(key) ?? key,
      keys,
      next: new Map(),
    };
    if (this.#count < MAX_FIELDS) {
      this.#count++;
      above.next.set(key, field);
    }
    return field;
  }

  #collision(field: Field, entries: readonly (readonly [string, Json])[]): RecordError {
    const seen = new Map<string, string>();
    for (const [key] of entries) {
      const { isExcluded, name } = this.#field(field, key);
      if (isExcluded) continue;
      const other = seen.get(name);
      if (other !== undefined) {
        const [a, b] = [other, key].map((each) => [...field.keys, each].join('.'));
        return new RecordError(
          'records.invalid',
          `Two fields of a row would both be called “${name}”: “${a}” and “${b}”`,
          {
            where: { path: this.#at },
            hint: `Give one of them another name: "rename": {"${b}": "${name}_2"}, or leave it out by "exclude".`,
          },
        );
      }
      seen.set(name, key);
    }
    return new RecordError('internal', 'Fields of a row collide that have different names');
  }
}

/** Creates an object, faster than {@link objectOf} for usual keys. */
function plainOf(entries: readonly (readonly [string, Json])[]): AnyObject {
  const object: Record<string, Json> = {};
  for (const [key, value] of entries) {
    if (key === '__proto__' || isIntegerLike(key)) return objectOf(entries);
    object[key] = value;
  }
  return object;
}

function compileExclude(value: Json | undefined, at: string): readonly Exclusion[] {
  if (value === undefined || value === null || value === '') return [];
  const items = isList(value) ? value : [value];
  return items.map((item, i) => {
    if ((typeof item !== 'string' && !isNumber(item)) || item === '')
      throw wrong(`“exclude” is a list of paths and patterns, and here is ${kindOf(item)}`, `${at}[${i}]`);
    return exclusion(toText(item), isList(value) ? `${at}[${i}]` : at);
  });
}

function exclusion(text: string, at: string): Exclusion {
  const expression = /^\/(.+)\/(i?)$/s.exec(text);
  if (expression !== null) {
    const [, body = '', flag = ''] = expression;
    const pattern = compilePattern(flag === 'i' ? `(?i)${body}` : body, at, (place, message, hint) =>
      wrong(message, place, hint),
    );
    return { text, test: (path) => pattern.test(path) };
  }
  const plain = text.startsWith('$.') ? text.slice(2) : text;
  if (!plain.includes('*')) return { text, test: (path) => path === plain };
  const wanted = plain.split('.');
  return { text, test: (_path, keys) => fits(wanted, keys, 0, 0) };
}

/** Tells whether a path fits a pattern: `*` is a part of one key, `**` any number of keys. */
function fits(wanted: readonly string[], keys: readonly string[], w: number, k: number): boolean {
  const part = wanted[w];
  if (part === undefined) return k === keys.length;
  if (part === '**') {
    for (let from = k; from <= keys.length; from++) if (fits(wanted, keys, w + 1, from)) return true;
    return false;
  }
  const key = keys[k];
  return key !== undefined && fitsKey(part, key) && fits(wanted, keys, w + 1, k + 1);
}

function fitsKey(part: string, key: string): boolean {
  const pieces = part.split('*');
  const [head = '', ...others] = pieces;
  const tail = others.pop();
  if (tail === undefined) return part === key;
  if (!key.startsWith(head) || key.length < head.length + tail.length || !key.endsWith(tail)) return false;
  let from = head.length;
  const end = key.length - tail.length;
  for (const piece of others) {
    const at = key.indexOf(piece, from);
    if (at < 0 || at + piece.length > end) return false;
    from = at + piece.length;
  }
  return true;
}

function compileRename(value: Json | undefined, at: string): ReadonlyMap<string, string> {
  if (value === undefined || value === null || (isList(value) && value.length === 0)) return new Map();
  if (!isObject(value))
    throw wrong(
      `“rename” is an object of paths and new names, and here is ${kindOf(value)}`,
      at,
      RENAME_HINT,
    );
  return new Map(
    entriesOf(value).map(([path, name]) => {
      if ((typeof name === 'string' && name !== '') || isNumber(name))
        return [path.startsWith('$.') ? path.slice(2) : path, toText(name)];
      throw wrong(`The new name of “${path}” is ${kindOf(name)}`, `${at}.${path}`, RENAME_HINT);
    }),
  );
}

const RENAME_HINT = 'Write {"owner.login": "name"}: the last key of the path is replaced.';

function compileCase(value: Json | undefined, at: string): ((key: string) => string) | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (value === 'snake') return snakeCase;
  if (value === 'lower') return (key) => key.toLowerCase();
  throw wrong('This is no case of keys', at, `Known are ${CASES.join(' and ')}.`);
}

function wrong(message: string, at: string, hint?: string): RecordError {
  return new RecordError('records.invalid', message.replace(/\.$/, ''), { where: { path: at }, hint });
}
