import type { OwnSigns } from '../shared/completeness-signs.ts';
import { entriesOf, isObject, type Json } from '../../lib/json/index.ts';
import { meaningsOf } from './classify.ts';
import { canonical } from './names.ts';
import type { Sign } from './sign.ts';
import { signsOf } from './values.ts';

/**
 * What the answers before the files of an export say of them: a number of rows, an error, that they are a part, or that
 * there are more. An export is a thing with an id and a state, so that only what can mean nothing else counts.
 */
export function announcedSigns(answer: Json, { not }: OwnSigns): readonly Sign[] {
  return signsIn(answer, 'export ', 0).filter(({ path }) => !not.includes(path));
}

const MAX_DEPTH = 3;

function signsIn(node: Json, prefix: string, depth: number): readonly Sign[] {
  if (!isObject(node) || depth > MAX_DEPTH) return [];
  return entriesOf(node).flatMap(([name, value]) => {
    const path = `${prefix}${name}`;
    const key = canonical(name);
    if (key === 'rows' || key === 'records')
      return signsOf([{ topic: 'total', strength: 'weak' }], value, path);
    const meanings = meaningsOf(name).filter(
      ({ topic, strength }) => SAID.has(topic) && (topic !== 'next' || strength === 'strong'),
    );
    const signs = signsOf(meanings, value, path).filter(({ kind }) => kind !== 'total' || OF_ROWS.test(key));
    return signs.length > 0 ? signs : signsIn(value, `${path}.`, depth + 1);
  });
}

const SAID = new Set<string>(['total', 'error', 'failure', 'partial', 'next', 'more']);
/** A total may as well be that of steps, files or bytes. */
const OF_ROWS = /(?:^|_)(?:row|record)s?(?:_|$)/;
