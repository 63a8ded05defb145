import { describe, expect, test } from 'vitest';
import {
  bucketId,
  columnName,
  columnNameProblem,
  storageNameProblem,
  toAscii,
  webalize,
  webalizeDisplayName,
} from '../../src/lib/names.ts';

describe('webalize', () => {
  test.each([
    ['currency €', 'currency_EUR'],
    ['$$ some name $$', 'some_name'],
    ['_MůjBucketíček', 'MujBucketicek'],
    ['lot__of_____underscores____', 'lot__of_____underscores'],
    ['language-id', 'language_id'],
    ['ěšč ß đ ł', 'esc_ss_d_l'],
    ['Straße', 'Strasse'],
    ['ÆRØ', 'AERO'],
    ['Ωμέγα', 'Omega'],
    ['Имя щука', 'Imya_shchuka'],
    ['ｆｕｌｌ ﬁ', 'full_fi'],
    ['a\tb\nc', 'a_b_c'],
    ['\u0001\u0002', ''],
    ['💡', ''],
    ['', ''],
  ])('makes %j %j', (name, expected) => {
    expect(webalize(name)).toBe(expected);
  });

  test('cuts to 64 characters, a column name is not cut', () => {
    expect(webalize('x'.repeat(70))).toBe('x'.repeat(64));
    expect(columnName('x'.repeat(70))).toBe('x'.repeat(70));
  });

  test('gives a reserved name an underscore only as a column', () => {
    expect(columnName('CTID')).toBe('CTID_');
    expect(columnName('oid')).toBe('oid_');
    expect(columnName('oids')).toBe('oids');
    expect(webalize('CTID')).toBe('CTID');
  });
});

describe('names of buckets, tables and columns', () => {
  test('say why they are refused', () => {
    expect(columnNameProblem('good_1')).toBeUndefined();
    expect(columnNameProblem('')).toBe('is empty');
    expect(columnNameProblem('x'.repeat(65))).toBe('is longer than 64 characters');
    expect(columnNameProblem('_timestamp')).toBe('starts with an underscore');
    expect(columnNameProblem('a-b')).toMatch(/other characters/);
    expect(columnNameProblem('XMIN')).toBe('is reserved');
    expect(storageNameProblem('my-table_1')).toBeUndefined();
    expect(storageNameProblem('$$$$$')).toBe(
      "'$$$$$' contains not allowed characters. Only alphanumeric characters dash and underscores are allowed.",
    );
    expect(storageNameProblem('_x')).toBe(
      "'_x' contains not allowed characters. Cannot start with underscore.",
    );
  });

  test('a display name keeps words apart with dashes', () => {
    expect(webalizeDisplayName('Môj 1$ obľúbený bucket $')).toBe('Moj-1-oblubeny-bucket');
    expect(webalizeDisplayName('-----')).toBe('');
  });

  test('a bucket id has stage and prefix', () => {
    expect(bucketId('in', 'main')).toBe('in.c-main');
  });

  test('ASCII stays as it is', () => {
    expect(toAscii('a b\u007f~')).toBe('a b\u007f~');
  });
});
