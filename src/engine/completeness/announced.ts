import type { OwnSigns } from '../shared/completeness-signs.ts';
import { entriesOf, isObject, type Json } from '../../lib/json/index.ts';
import { meaningsOf, type Meaning } from './classify.ts';
import { canonical } from './names.ts';
import type { Sign } from './sign.ts';
import { COUNT_WORDS, COUNTED_THINGS } from './signs.ts';
import { signsOf } from './values.ts';

/**
 * Returns the signals in the answers before the files of an export: a number of rows, an error, that the files are a
 * part, or that there are more. An export is an object with an id and a state, so that only unambiguous names count.
 */
export function announcedSigns(answer: Json, { not }: OwnSigns): readonly Sign[] {
  return signsIn(answer, 'export ', 0, false).filter(({ path }) => !not.includes(path));
}

const MAX_DEPTH = 3;

/** @param isOfRows what stands above is called rows or records */
function signsIn(node: Json, prefix: string, depth: number, isOfRows: boolean): readonly Sign[] {
  if (!isObject(node) || depth > MAX_DEPTH) return [];
  return entriesOf(node).flatMap(([name, value]) => {
    const path = `${prefix}${name}`;
    const key = canonical(name);
    const areRows = key === 'rows' || key === 'records';
    const meanings = meaningsOf(name).filter(
      ({ topic, strength }) => SAID.has(topic) && (topic !== 'next' || strength === 'strong'),
    );
    const signs = signsOf(areRows ? TOTAL : meanings, value, path).flatMap((sign): readonly Sign[] => {
      if (sign.kind !== 'total') return [sign];
      if (areRows || isOfRows || OF_ROWS.test(key)) return [{ ...sign, strength: 'plain' }];
      return isCount(key) ? [{ ...sign, strength: 'weak' }] : [];
    });
    if (signs.length > 0) return signs;
    return meanings.length === 0 && isCount(key)
      ? signsOf(WEAK_TOTAL, value, path)
      : signsIn(value, `${path}.`, depth + 1, areRows);
  });
}

const SAID = new Set<string>(['total', 'error', 'failure', 'partial', 'next', 'more']);
const TOTAL: readonly Meaning[] = [{ topic: 'total', strength: 'plain' }];
const WEAK_TOTAL: readonly Meaning[] = [{ topic: 'total', strength: 'weak' }];
/** A total may as well be that of steps, files or bytes. */
const OF_ROWS = /(?:^|_)(?:row|record)s?(?:_|$)/;

/** A number of things, or of rows with which something was done: `objectCount`, `numberRecordsProcessed`. */
function isCount(key: string): boolean {
  if (key === 'total_count') return true;
  const words = key.split('_');
  return words.length > 1 && words.some((word) => THINGS.has(word)) && words.every((word) => WORDS.has(word));
}

const THINGS = new Set(COUNTED_THINGS);
const WORDS = new Set([...COUNTED_THINGS, ...COUNT_WORDS]);
