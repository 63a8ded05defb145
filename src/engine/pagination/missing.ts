import { entriesOf, isJsonPath, isObject, type Json, type Path } from '../../lib/json/index.ts';
import { nearest } from '../../lib/suggest.ts';

/**
 * Finds the path that was probably meant by one that a response does not have: `scroll.tokn` is `scroll.token`,
 * `nextToken` is `next_token`, `next` is `meta.next`; JSONPath `$.meta.nxt` is `$.meta.next`. Undefined when nothing is
 * near, which is the usual case of a last page.
 *
 * Searches the objects around the rows, to a depth of five keys. Lists are rows and are not searched.
 *
 * @param sample a decoded response
 */
export function nearMiss({ text, keys }: Path, sample: Json): string | undefined {
  if (keys === undefined || keys.length === 0) return undefined;
  const candidates = keyPaths(sample);
  if (candidates.some((candidate) => isSame(candidate, keys))) return undefined;
  const near = candidates.find((candidate) => isNear(keys, candidate, isNearKey));
  const meant = near ?? elsewhere(keys, candidates);
  return meant && `${isJsonPath(text) ? '$.' : ''}${meant.join('.')}`;
}

type Keys = readonly string[];

const MAX_DEPTH = 5;
const MAX_PATHS = 1000;

function keyPaths(sample: Json): readonly Keys[] {
  const found: Keys[] = [];
  const visit = (value: Json, above: Keys): void => {
    if (!isObject(value) || above.length === MAX_DEPTH) return;
    for (const [key, item] of entriesOf(value)) {
      if (found.length >= MAX_PATHS) return;
      const keys = [...above, key];
      found.push(keys);
      visit(item, keys);
    }
  };
  visit(sample, []);
  return found;
}

/**
 * Compares two paths key by key, or word by word. Every key must be equal or near: `links.next` is not `links.last`,
 * although only three letters differ.
 */
function isNear(
  wanted: readonly string[],
  found: readonly string[],
  isNearPart: (wanted: string, found: string) => boolean,
): boolean {
  return wanted.length === found.length && wanted.every((part, i) => isNearPart(part, found[i] ?? ''));
}

function isNearKey(wanted: string, found: string): boolean {
  return letters(wanted) === letters(found) || isNear(words(wanted), words(found), isNearWord);
}

function isNearWord(wanted: string, found: string): boolean {
  return wanted === found || nearest(wanted, [found]) !== undefined;
}

/** Splits a key into words: `nextPage`, `next_page` and `next-page` are `next` and `page`. */
function words(key: string): readonly string[] {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_\-\s]/);
}

function letters(key: string): string {
  return words(key).join('');
}

/** Finds the same keys below others, or without their first one. */
function elsewhere(keys: Keys, candidates: readonly Keys[]): Keys | undefined {
  const below = candidates.find(
    (candidate) => candidate.length > keys.length && isSame(candidate.slice(-keys.length), keys),
  );
  return below ?? candidates.find((candidate) => isSame(candidate, keys.slice(1)));
}

function isSame(some: Keys, others: Keys): boolean {
  return some.length === others.length && some.every((key, i) => key === others[i]);
}
