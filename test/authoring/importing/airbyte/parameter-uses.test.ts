import { expect, test } from 'vitest';
import { ParameterUses } from '../../../../src/authoring/importing/airbyte/parameter-uses.ts';

test.each([
  ['a parameter that is not read', { a: 1, b: 1 }, { a: 1, b: 2 }, true],
  ['one that is', { a: 1, b: 1 }, { a: 2, b: 1 }, false],
  // components are looked for inside of it, whoever reads it
  ['one that is an object, also where it is not read', { a: 1, b: { c: 1 } }, { a: 1, b: { c: 2 } }, false],
  ['one that is an object there alone', { a: 1, b: 1 }, { a: 1, b: { c: 1 } }, false],
  ['one that is the same object', { a: 1, b: { c: 1 } }, { a: 1, b: { c: 1 } }, true],
  ['one more', { a: 1 }, { a: 1, b: 1 }, false],
])('parameters are read alike with another value of %s: %#', (_, given, others, isAlike) => {
  const uses = new ParameterUses(given, undefined);
  uses.read('a', given.a);
  expect(uses.allows(others)).toBe(isAlike);
});
