import { describe, expect, test } from 'vitest';
import { md5 } from '../../../../src/lib/json/index.ts';
import { legacyHeader, legacyName } from '../../../../src/engine/records/legacy/names.ts';

describe('legacy names', () => {
  test.each([
    ['address.city', 'address_city'],
    ['user/{user-id}', 'user__user-id'],
    ['x__y', 'x__y'],
    [' a b ', 'a_b'],
    ['č', ''],
    ['ačb', 'a__b'],
    ['_x_', 'x'],
    ['x'.repeat(64), 'x'.repeat(64)],
  ])('%j becomes %j', (raw, safe) => {
    expect(legacyName(raw)).toBe(safe);
  });

  test('one long word becomes its digest', () => {
    const raw = 'a'.repeat(70);
    expect(legacyName(raw)).toBe(md5(raw));
  });

  test('a long word keeps its end from the first gap that fits', () => {
    const raw = `${'a'.repeat(60)}1_${'b'.repeat(10)}`;
    expect(legacyName(raw)).toBe('a__bbbbbbbbbb');
    const digits = `${'1'.repeat(60)}_${'2'.repeat(10)}`;
    expect(legacyName(digits)).toBe(`${md5(digits)}__2222222222`);
  });

  test('several long words become their first letters, and the end from the first space', () => {
    const raw = 'The quick brown fox jumps over the lazy dog and then runs away from here';
    expect(raw.length).toBeGreaterThan(64);
    // Ttqb… 15 letters and a gap leave 48 characters: the cut is at the first space behind the 24th
    expect(legacyName(raw)).toBe('Tqbfjotldatrafh__over_the_lazy_dog_and_then_runs_away_from_here');
  });

  test('a name of a header that is taken becomes the digest of its raw form', () => {
    expect(legacyHeader(['id', 'a b', 'a_b', 'tag', 'tag'])).toEqual([
      'id',
      'a_b',
      md5('a_b'),
      'tag',
      md5('tag'),
    ]);
  });
});
