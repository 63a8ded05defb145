import { describe, expect, test } from 'vitest';
import { fileNameProblem, savedName, sliceNames } from '../../../../src/runner/mapping/input/file-name.ts';

describe('names of files in in/', () => {
  test.each([
    ['users.csv', '7_users.csv'],
    ['../../etc/passwd', '7_____etc_passwd'],
    ['..', '7__'],
    ['a\\b\u0000c\nd', '7_a_b_c_d'],
    ['', '7_'],
    ['žluťoučký.csv', '7_žluťoučký.csv'],
  ])('%j is saved as %j', (name, saved) => {
    expect(savedName(7, name)).toBe(saved);
    expect(fileNameProblem(savedName(7, name))).toBeUndefined();
  });

  test('a long name is cut within whole characters and keeps its ending', () => {
    const name = savedName(7, `${'ž🙂'.repeat(100)}.csv.gz`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    expect(name).toMatch(/^7_(?:ž🙂)+ž?\.csv\.gz$/);
    expect(Buffer.byteLength(savedName(7, `a.${'b'.repeat(300)}`))).toBe(200);
  });

  test.each(['', '.', '..', 'a/b', 'a\\b', 'a\nb', 'users.manifest', 'x'.repeat(247)])(
    '%j cannot be the destination of a table',
    (name) => {
      expect(fileNameProblem(name)).toBeTypeOf('string');
    },
  );

  test('slices keep their names where these are in order, and are numbered otherwise', () => {
    expect(sliceNames(['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    expect(sliceNames(['b', 'a'])).toEqual(['1_b', '2_a']);
    expect(sliceNames(['a', 'a'])).toEqual(['1_a', '2_a']);
    expect(sliceNames(['x/1', ''])).toEqual(['1_x_1', '2_']);
    const many = Array.from({ length: 11 }, (_, i) => `part${i}`);
    expect(sliceNames(many)).toEqual(sliceNames(many).toSorted());
    expect(sliceNames(many)[9]).toBe('10_part9');
  });
});
