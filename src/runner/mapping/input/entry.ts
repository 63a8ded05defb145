import {
  entriesOf,
  getKey,
  isIntegerLike,
  isList,
  isObject,
  isScalar,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { Problems } from './problems.ts';

/** One node of a mapping. What is missing, null or an empty text is "none"; what is of another kind is a problem. */
export interface MappingNode {
  /** `storage.input.tables[0]` */
  readonly path: string;
  text(key: string): string | undefined;
  texts(key: string): readonly string[];
  /** Returns a whole number from 0, or its text. */
  whole(key: string): number | undefined;
  flag(key: string, byDefault: boolean): boolean;
  node(key: string): MappingNode;
  /** Objects in a list. */
  nodes(key: string): readonly MappingNode[];
  /** Notes what is wrong with a key. */
  wrong(key: string, message: string, hint?: string): void;
}

export function entryOf(object: AnyObject, path: string, problems: Problems): MappingNode {
  const wrong: MappingNode['wrong'] = (key, message, hint) => problems.add(`${path}.${key}`, message, hint);
  const kind = <T>(key: string, wanted: string, none: T): T => {
    wrong(key, `\`${key}\` must be ${wanted}.`);
    return none;
  };
  const list = (key: string): readonly Json[] => {
    const value = getKey(object, key);
    if (isNone(value)) return [];
    return listOf(value) ?? kind(key, 'a list', []);
  };
  const objectAt = (value: Json | undefined, key: string): AnyObject => {
    if (isNone(value) || (isList(value) && value.length === 0)) return NOTHING;
    return isObject(value) ? value : kind(key, 'an object', NOTHING);
  };
  return {
    path,
    wrong,
    text(key) {
      const value = getKey(object, key);
      if (isNone(value)) return undefined;
      return isText(value) ? toText(value) : kind(key, 'a text', undefined);
    },
    texts: (key) =>
      list(key).map((item, i) => (isText(item) ? toText(item) : kind(`${key}[${i}]`, 'a text', ''))),
    whole(key) {
      const value = getKey(object, key);
      if (isNone(value)) return undefined;
      const text = isText(value) ? toText(value).trim() : '';
      return /^\d{1,15}$/.test(text) ? Number(text) : kind(key, 'a whole number from 0', undefined);
    },
    flag(key, byDefault) {
      const value = getKey(object, key);
      if (isNone(value)) return byDefault;
      return typeof value === 'boolean' ? value : kind(key, 'true or false', byDefault);
    },
    node: (key) => entryOf(objectAt(getKey(object, key), key), `${path}.${key}`, problems),
    nodes: (key) =>
      list(key).map((item, i) => entryOf(objectAt(item, `${key}[${i}]`), `${path}.${key}[${i}]`, problems)),
  };
}

const NOTHING: AnyObject = objectOf([]);

function isNone(value: Json | undefined): value is '' | null | undefined {
  return value === undefined || value === null || value === '';
}

function isText(value: Json): boolean {
  return isScalar(value) && typeof value !== 'boolean';
}

/** Returns a list; an object with the keys 0, 1 … is one, too, as other programs write it. */
function listOf(value: Json): readonly Json[] | undefined {
  if (isList(value)) return value;
  if (!isObject(value)) return undefined;
  const entries = entriesOf(value);
  return entries.every(([key]) => isIntegerLike(key)) ? entries.map(([, item]) => item) : undefined;
}
