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
 * object whose keys are exactly 0, 1 … n-1 in this order is a list. Scalars and other objects stay.
 */
export function normalise(value: Json): Json {
  return normaliseAt(value, '');
}

function normaliseAt(value: Json, at: string): Json {
  if (isList(value)) return value.map((item, index) => normaliseAt(item, `${at}.${index}`));
  if (!isObject(value)) return value;
  const list = asList(value);
  if (list !== undefined) return list.map((item, index) => normaliseAt(item, `${at}.${index}`));
  const isJob = JOB.test(at);
  return objectOf(
    entriesOf(value).map(([key, item]) => [
      key,
      isJob && key === 'body' ? item : normaliseAt(item, `${at}.${key}`),
    ]),
  );
}

/** The `body` of a job and of its further requests is sent as it stands: an empty object in it is no empty list. */
const JOB =
  /^\.parameters\.(?:config|iterations\.[^.]+)\.jobs\.[^.]+(?:\.children\.[^.]+)*(?:\.export\.(?:create|poll|download))?$/;

/** Returns the items of an object whose keys are 0 … n-1 in order (none for an empty one); else undefined. */
export function asList(object: AnyObject): readonly Json[] | undefined {
  const entries = entriesOf(object);
  return entries.every(([key], index) => key === String(index)) ? entries.map(([, item]) => item) : undefined;
}

/** Tells whether a value is `{}` or `[]`, which are equivalent in a configuration. */
export function isEmptyContainer(value: Json | undefined): boolean {
  return isList(value) ? value.length === 0 : isObject(value) && sizeOf(value) === 0;
}
