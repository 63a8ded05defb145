import {
  entriesOf,
  isList,
  isObject,
  objectOf,
  sizeOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';

/**
 * Reads a configuration as the reference does: an empty object is an empty list, and an
 * object whose keys are exactly 0, 1 … n-1 in this order is a list. Scalars and other objects stay; what has nothing of
 * the kind in it is returned itself.
 */
export function normalise(value: Json): Json {
  return normaliseAt(value, 'root');
}

function normaliseAt(value: Json, place: Place | undefined): Json {
  if (isList(value)) {
    const items = value.map((item) => normaliseAt(item, below(place, '')));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  const list = asList(value);
  if (list !== undefined) return list.map((item) => normaliseAt(item, below(place, '')));
  let isChanged = false;
  const entries = entriesOf(value);
  for (const entry of entries) {
    const [key, item] = entry;
    if (key === 'body' && (place === 'job' || place === 'request')) continue;
    entry[1] = normaliseAt(item, below(place, key));
    isChanged ||= entry[1] !== item;
  }
  return isChanged ? objectOf(entries) : value;
}

/** Places on the way to the jobs of a configuration, and to their further requests. */
type Place = 'root' | 'parameters' | 'iterations' | 'config' | 'jobs' | 'job' | 'export' | 'request';

/**
 * Places below others by their keys; `*` is any key. The `body` of a job and of its further requests is sent as it
 * stands: an empty object in it is no empty list.
 */
const BELOW: Readonly<Record<Place, Readonly<Partial<Record<string, Place>>>>> = {
  root: { parameters: 'parameters' },
  parameters: { config: 'config', iterations: 'iterations' },
  iterations: { '*': 'config' },
  config: { jobs: 'jobs' },
  jobs: { '*': 'job' },
  job: { children: 'jobs', export: 'export' },
  export: { create: 'request', poll: 'request', download: 'request' },
  request: {},
};

function below(place: Place | undefined, key: string): Place | undefined {
  if (place === undefined) return undefined;
  const known = BELOW[place];
  return known['*'] ?? (Object.hasOwn(known, key) ? known[key] : undefined);
}

/** Returns the items of an object whose keys are 0 … n-1 in order (none for an empty one); else undefined. */
export function asList(object: AnyObject): readonly Json[] | undefined {
  const entries = entriesOf(object);
  return entries.every(([key], index) => key === String(index)) ? entries.map(([, item]) => item) : undefined;
}

/** Tells whether a value is `{}` or `[]`, which are equivalent in a configuration. */
export function isEmptyContainer(value: Json | undefined): boolean {
  return isList(value) ? value.length === 0 : isObject(value) && sizeOf(value) === 0;
}
