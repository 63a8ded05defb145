import { readFileSync } from 'node:fs';
import { digKeys, isList, parseExact, type Json } from '../../../../src/lib/json/index.ts';

const vectors = parseExact(readFileSync(new URL('vectors.json', import.meta.url), 'utf8'));

/** The recorded cases of one function: inputs, then the result. */
export function casesOf(name: string): readonly (readonly Json[])[] {
  const cases = digKeys([name], vectors);
  if (!isList(cases) || cases.length === 0) throw new Error(`no vectors for ${name}`);
  return cases.map((entry) => {
    if (!isList(entry)) throw new Error(`a vector of ${name} is no list`);
    return entry;
  });
}
