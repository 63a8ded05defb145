import { equalJson } from '../../../src/lib/json/equal.ts';
import { getKey, isList, isObject, keysOf, objectOf, type Json } from '../../../src/lib/json/value.ts';
import { pathText } from '../../../src/engine/config/path.ts';
import { kindOfSecret } from './document.ts';

/** One place where two documents differ. */
export interface Difference {
  readonly kind: 'added' | 'changed' | 'removed';
  readonly keys: readonly string[];
  readonly before?: Json | undefined;
  readonly after?: Json | undefined;
}

/**
 * Returns the differences of two documents, in the order of the texts; an object or a list that is new as a whole is
 * one difference.
 */
export function differences(before: Json, after: Json, keys: readonly string[] = []): Difference[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...keysOf(before), ...keysOf(after)])];
    return names.flatMap((name) => between(getKey(before, name), getKey(after, name), [...keys, name]));
  }
  if (isList(before) && isList(after))
    return Array.from({ length: Math.max(before.length, after.length) }, (_, i) =>
      between(before[i], after[i], [...keys, String(i)]),
    ).flat();
  return equalJson(before, after) ? [] : [{ kind: 'changed', keys, before, after }];
}

function between(before: Json | undefined, after: Json | undefined, keys: readonly string[]): Difference[] {
  if (before === undefined) return after === undefined ? [] : [{ kind: 'added', keys, after }];
  if (after === undefined) return [{ kind: 'removed', keys, before }];
  return differences(before, after, keys);
}

export const pathOf = ({ keys }: Difference): string => (keys.length === 0 ? 'all of it' : pathText(keys));

const LONGEST = 80;

/** Describes a value in a sentence; a secret is only named as one. */
export function wordsFor(value: Json | undefined, keys: readonly string[]): string {
  if (keys.some((key) => key.startsWith('#'))) {
    const kind = kindOfSecret(value);
    return kind === 'encrypted' ? 'an encrypted value' : kind === 'none' ? 'nothing' : 'a secret';
  }
  if (isObject(value)) return `an object with ${keysOf(value).slice(0, 5).join(', ') || 'nothing in it'}`;
  if (isList(value)) return value.length === 1 ? 'a list of one' : `a list of ${value.length}`;
  const text = JSON.stringify(value) ?? '';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Which of the two is taken at a place that both have changed. */
export type Choice = 'mine' | 'theirs';

/** A place that two people have changed in different ways. */
export interface Clash {
  readonly path: string;
  readonly keys: readonly string[];
  readonly mine: Json | undefined;
  readonly theirs: Json | undefined;
}

/**
 * Merges the changes of two people to the same document: a change by one of them is taken, and for clashes the given
 * choice.
 */
export function merged(
  base: Json,
  mine: Json,
  theirs: Json,
  choices: ReadonlyMap<string, Choice>,
): { readonly value: Json; readonly clashes: readonly Clash[] } {
  const clashes: Clash[] = [];
  const value = merge(base, mine, theirs, []);
  return { value: value ?? null, clashes };

  function merge(
    old: Json | undefined,
    own: Json | undefined,
    other: Json | undefined,
    keys: readonly string[],
  ): Json | undefined {
    if (same(own, other) || same(old, other)) return own;
    if (same(old, own)) return other;
    if (isObject(own) && isObject(other)) {
      const before = isObject(old) ? old : {};
      const names = [...new Set([...keysOf(other), ...keysOf(own)])];
      return objectOf(
        names.flatMap((name): [string, Json][] => {
          const found = merge(getKey(before, name), getKey(own, name), getKey(other, name), [...keys, name]);
          return found === undefined ? [] : [[name, found]];
        }),
      );
    }
    // Lists of the same length are the same things in the same order, as far as one can tell.
    if (
      isList(own) &&
      isList(other) &&
      isList(old) &&
      own.length === other.length &&
      own.length === old.length
    )
      return own.map((item, i) => merge(old[i], item, other[i], [...keys, String(i)]) ?? null);
    const path = pathText(keys);
    clashes.push({ path, keys, mine: own, theirs: other });
    return choices.get(path) === 'theirs' ? other : own;
  }
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return equalJson(a, b);
}

/** Creates an object with descriptive keys, for {@link differences} between versions. */
export const named = (entries: readonly (readonly [string, Json])[]): Json => objectOf(entries);
