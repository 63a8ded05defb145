import * as fc from 'fast-check';
import { inject } from 'vitest';

/** True where nothing is left out: see `vitest.config.ts`. */
export const isAll = process.env['TEST_ALL'] !== '0';

/**
 * Draws some of many cases, in their order and the same ones for the seed that is printed; all of them where nothing is
 * left out.
 */
export function sample<T>(cases: readonly T[], count: number): readonly T[] {
  if (isAll || cases.length <= count) return cases;
  const drawn = fc.shuffledSubarray(
    cases.map((_, at) => at),
    { minLength: count, maxLength: count },
  );
  const chosen = new Set(fc.sample(drawn, { seed: inject('seed'), numRuns: 1 })[0]);
  return cases.filter((_, at) => chosen.has(at));
}

/** Times that something random is tried: a tenth of them where not everything is run. */
export function times(count: number): number {
  return isAll ? count : Math.ceil(count / 10);
}
