import {
  getKey,
  isList,
  isObject,
  objectOf,
  sizeOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { StateTag } from './file-mapping.ts';
import type { Problems } from './problems.ts';

/** State of “adaptive” inputs between runs: the part `storage` of a state. */
export interface InputState {
  /** Returns `lastImportDate` of the table as it was before the last export. */
  lastImportDate(source: string): string | undefined;
  /** Returns the greatest id of the fetched files. */
  lastImportId(tags: readonly StateTag[]): number | undefined;
}

const HINT = 'Run with --reset-state to fetch everything once more, or mend the state.';

/** Reads a state; `problems` is told of one that cannot be used. */
export function readInputState(state: Json | undefined, problems: Problems): InputState {
  const dates = new Map<string, string>();
  const ids = new Map<string, number>();
  const wrong = (path: string, what: string): void =>
    problems.add(path, `The state cannot be used: \`${path}\` must be ${what}.`, HINT);
  const storage = objectIn(state, () => wrong('state.storage', 'an object'));
  const input = objectIn(getKey(storage, 'input'), () => wrong('state.storage.input', 'an object'));
  for (const [i, entry] of listIn(input, 'tables', wrong).entries()) {
    const { source, lastImportDate } = fieldsOf(entry, 'source', 'lastImportDate');
    if (typeof source === 'string' && typeof lastImportDate === 'string') dates.set(source, lastImportDate);
    else wrong(`state.storage.input.tables[${i}]`, 'an object with `source` and `lastImportDate`');
  }
  for (const [i, entry] of listIn(input, 'files', wrong).entries()) {
    const { tags, lastImportId } = fieldsOf(entry, 'tags', 'lastImportId');
    const id = toText(lastImportId);
    const known = tagsOf(tags);
    if (known !== undefined && /^\d{1,15}$/.test(id)) ids.set(keyOfTags(known), Number(id));
    else wrong(`state.storage.input.files[${i}]`, 'an object with `tags` and `lastImportId`');
  }
  return {
    lastImportDate: (source) => dates.get(source),
    lastImportId: (tags) => ids.get(keyOfTags(tags)),
  };
}

/** Returns a key that is equal for the same tags in another order. */
export function keyOfTags(tags: readonly StateTag[]): string {
  return tags
    .map(({ name, match }) => JSON.stringify([name, match ?? '']))
    .toSorted()
    .join();
}

function tagsOf(value: Json | undefined): StateTag[] | undefined {
  if (value === undefined || !isList(value)) return undefined;
  const tags = value.map((item): StateTag | undefined => {
    const { name, match } = fieldsOf(item, 'name', 'match');
    if (typeof name !== 'string') return undefined;
    return match === 'include' || match === 'exclude' ? { name, match } : { name };
  });
  return tags.every((tag) => tag !== undefined) ? tags : undefined;
}

function fieldsOf<K extends string>(value: Json, ...keys: readonly K[]): Partial<Record<K, Json>> {
  const object = isObject(value) ? value : objectOf([]);
  const found: Partial<Record<K, Json>> = {};
  for (const key of keys) {
    const field = getKey(object, key);
    if (field !== undefined) found[key] = field;
  }
  return found;
}

/** Returns an object; an empty list is an empty object, as other programs write it. */
function objectIn(value: Json | undefined, wrong: () => void): AnyObject {
  if (isObject(value)) return value;
  if (value !== undefined && value !== null && !(isList(value) && value.length === 0)) wrong();
  return objectOf([]);
}

function listIn(input: AnyObject, key: string, wrong: (path: string, what: string) => void): readonly Json[] {
  const value = getKey(input, key);
  if (value === undefined || value === null || (isObject(value) && sizeOf(value) === 0)) return [];
  if (isList(value)) return value;
  wrong(`state.storage.input.${key}`, 'a list');
  return [];
}
