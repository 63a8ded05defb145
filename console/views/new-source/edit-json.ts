import {
  getKey,
  isList,
  isObject,
  objectOf,
  withKey,
  withoutKey,
  type Json,
} from '../../../src/lib/json/value.ts';

/** Keys, and places in lists. */
export type Steps = readonly (number | string)[];

/** Returns the value at a path; undefined when there is none. */
export function valueAt(value: Json | undefined, [step, ...rest]: Steps): Json | undefined {
  if (step === undefined) return value;
  if (typeof step === 'number') return isList(value) ? valueAt(value[step], rest) : undefined;
  return isObject(value) ? valueAt(getKey(value, step), rest) : undefined;
}

/**
 * Returns a copy with a value at a path; undefined removes the key. Missing objects on the way are created, places in
 * lists are not.
 */
export function withValueAt(value: Json | undefined, [step, ...rest]: Steps, next: Json | undefined): Json {
  if (step === undefined) return next ?? null;
  if (typeof step === 'number') {
    const list = isList(value) ? value : [];
    return list.map((item, i) => (i === step ? withValueAt(item, rest, next) : item));
  }
  const object = isObject(value) ? value : objectOf([]);
  if (rest.length === 0 && next === undefined) return withoutKey(object, step);
  const inner = getKey(object, step);
  if (next === undefined && inner === undefined) return object;
  return withKey(object, step, withValueAt(inner, rest, next));
}

export function textAt(value: Json | undefined, steps: Steps): string | undefined {
  const found = valueAt(value, steps);
  return typeof found === 'string' ? found : undefined;
}
