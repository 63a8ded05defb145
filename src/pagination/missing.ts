import { entriesOf, isJsonPath, isObject, splitPath, type Json } from '../json/index.ts';
import { nearest } from '../suggest.ts';

/**
 * The path of a response that was probably meant by one that is not there: `scroll.tokn` is `scroll.token`,
 * `nextToken` is `next_token`, `next` is `meta.next`; JSONPath `$.meta.nxt` is `$.meta.next`. Undefined when nothing is near,
 * which is the usual case of a last page (design 8.8).
 *
 * Looked at are the objects around the rows, to a depth of five keys; lists are rows and are not entered.
 *
 * @param sample a decoded response
 */
export function nearMiss(path: string, sample: Json): string | undefined {
  if (isJsonPath(path)) {
    const meant = nearMiss(path.slice(2), sample);
    return meant === undefined ? undefined : `$.${meant}`;
  }
  const candidates = keyPaths(sample);
  if (candidates.includes(path)) return undefined;
  return candidates.find((candidate) => isMisspelled(path, candidate)) ?? elsewhere(path, candidates);
}

const MAX_DEPTH = 5;
const MAX_PATHS = 1000;

function keyPaths(sample: Json): readonly string[] {
  const found: string[] = [];
  const visit = (value: Json, prefix: string, depth: number): void => {
    if (!isObject(value) || depth > MAX_DEPTH) return;
    for (const [key, item] of entriesOf(value)) {
      if (found.length >= MAX_PATHS) return;
      found.push(prefix + key);
      visit(item, `${prefix}${key}.`, depth + 1);
    }
  };
  visit(sample, '', 1);
  return found;
}

/** Every key is equal or near; so `links.next` is not `links.last`, although only three letters differ. */
function isMisspelled(path: string, candidate: string): boolean {
  return isNear(splitPath(path), splitPath(candidate), isNearKey);
}

/** Compares key by key, or word by word. */
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

/** `nextPage`, `next_page` and `next-page` are `next` and `page`. */
function words(key: string): readonly string[] {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_\-\s]/);
}

function letters(key: string): string {
  return words(key).join('');
}

/** The same keys below another one, or without their first one. */
function elsewhere(path: string, candidates: readonly string[]): string | undefined {
  const below = candidates.find((candidate) => candidate.endsWith(`.${path}`));
  const above = splitPath(path).slice(1).join('.');
  return below ?? candidates.find((candidate) => candidate === above);
}
