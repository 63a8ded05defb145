import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decryptValue,
  encryptValue,
  kindOfSecret,
  parseEncrypted,
  type Scope,
} from '../../../src/lib/encryption/index.ts';
import { EncryptionError } from '../../../src/lib/errors.ts';
import { encodeExact, JsonNumber } from '../../../src/lib/json/index.ts';
import { keyFrom, RANDOM } from './support.ts';
import { times } from '../../support/sample.ts';

const key = keyFrom('a key');
const scope: Scope = { project: '1', component: 'ex-generic-v2' };

const texts = fc.string({ unit: 'grapheme', maxLength: 200 }).map((text) => text.toWellFormed());
const ids = fc.string({ minLength: 1, maxLength: 20 });
const scopes: fc.Arbitrary<Scope> = fc.record(
  { project: ids, component: ids, configuration: ids },
  { requiredKeys: ['project', 'component'] },
);

describe('encrypted values', () => {
  test('come back as they were, for every text and scope', () => {
    fc.assert(
      fc.property(texts, scopes, (text, where) => {
        const encrypted = encryptValue(text, where, [key], RANDOM);
        expect(kindOfSecret(encrypted)).toBe('encrypted');
        expect(decryptValue(encrypted, where, [key])).toEqual({ value: text, scope: where, key });
      }),
    );
  });

  test('keep their kind: numbers as they are written, true and false', () => {
    for (const value of [
      12,
      -0.5,
      true,
      false,
      new JsonNumber('12345678901234567890'),
      new JsonNumber('1.0'),
    ]) {
      const { value: back } = decryptValue(encryptValue(value, scope, [key], RANDOM), scope, [key]);
      expect(encodeExact(back)).toBe(encodeExact(value));
    }
  });

  test('are never twice the same, and do not show the text', () => {
    const all = Array.from({ length: 50 }, () => encryptValue('open sesame', scope, [key], RANDOM));
    expect(new Set(all).size).toBe(50);
    expect(
      all.some((each) => Buffer.from(parseEncrypted(each)?.payload ?? '', 'base64url').includes('sesame')),
    ).toBe(false);
  });

  test('with any character changed, left out or added are refused', () => {
    const encrypted = encryptValue('open sesame', scope, [key], RANDOM);
    const characters = fc.constantFrom(...'ABCXYZabcxyz0189-_:=G '.split(''));
    fc.assert(
      fc.property(
        fc.nat(encrypted.length - 1),
        characters,
        fc.constantFrom(0, 1),
        (at, character, removed) => {
          const changed = encrypted.slice(0, at) + character + encrypted.slice(at + removed);
          fc.pre(changed !== encrypted);
          expect(() => decryptValue(changed, scope, [key])).toThrow(EncryptionError);
        },
      ),
      { numRuns: times(1000) },
    );
    for (let length = 0; length < encrypted.length; length++)
      expect(() => decryptValue(encrypted.slice(0, length), scope, [key])).toThrow(EncryptionError);
  });

  test('cannot be read in another project, component or configuration', () => {
    fc.assert(
      fc.property(scopes, scopes, (one, other) => {
        const isWithin =
          one.project === other.project &&
          one.component === other.component &&
          (one.configuration === undefined || one.configuration === other.configuration);
        fc.pre(!isWithin);
        const encrypted = encryptValue('x', one, [key], RANDOM);
        expect(codeOf(() => decryptValue(encrypted, other, [key]))).toBe('encryption.scope');
      }),
    );
  });

  test('of one configuration cannot be read in another', () => {
    const encrypted = encryptValue('x', { ...scope, configuration: '7' }, [key], RANDOM);
    const elsewhere = { ...scope, configuration: '8' };
    expect(codeOf(() => decryptValue(encrypted, elsewhere, [key]))).toBe('encryption.scope');
  });

  test('cannot be moved by writing the scope of another place into them', () => {
    const here = encryptValue('x', scope, [key], RANDOM);
    const elsewhere = { ...scope, component: 'other' };
    const there = encryptValue('y', elsewhere, [key], RANDOM);
    const moved = here.replace(parseEncrypted(here)?.scopeHash ?? '', parseEncrypted(there)?.scopeHash ?? '');
    expect(codeOf(() => decryptValue(moved, elsewhere, [key]))).toBe('encryption.damaged');
  });

  test('of a component are read in each of its configurations', () => {
    const encrypted = encryptValue('x', scope, [key], RANDOM);
    expect(decryptValue(encrypted, { ...scope, configuration: '7' }, [key])).toEqual({
      value: 'x',
      scope,
      key,
    });
  });

  test('are written with the first key and read with any', () => {
    const older = keyFrom('older');
    const old = encryptValue('x', scope, [older], RANDOM);
    expect(decryptValue(old, scope, [key, older]).value).toBe('x');
    expect(parseEncrypted(encryptValue('x', scope, [key, older], RANDOM))?.keyId).toBe(key.id);
  });

  test('of a lost key are an error that names the key and says what to do', () => {
    const lost = keyFrom('lost');
    const encrypted = encryptValue('open sesame', scope, [lost], RANDOM);
    try {
      decryptValue(encrypted, scope, [key]);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'encryption.lostKey', details: { keyId: lost.id } });
      expect(String(error)).toContain(lost.id);
      expect((error as EncryptionError).hint).toContain('set the value again');
      expect(JSON.stringify(error) + String(error)).not.toContain(parseEncrypted(encrypted)?.payload);
    }
  });

  test('cannot be made without a key', () => {
    expect(codeOf(() => encryptValue('x', scope, [], RANDOM))).toBe('encryption.noKey');
  });
});

test('what stands under a # key is told apart', () => {
  expect(kindOfSecret('GEX::1::abc')).toBe('damaged');
  expect(kindOfSecret('GEX::2::0123456789ab::')).toBe('damaged');
  expect(kindOfSecret('KBC::ProjectSecure::abc')).toBe('foreign');
  expect(kindOfSecret('$env:NAME')).toBe('reference');
  expect(kindOfSecret('$env:NAME ')).toBe('plain');
  expect(kindOfSecret('my GEX::1::abc')).toBe('plain');
});

function codeOf(act: () => unknown): string {
  try {
    act();
    return 'nothing was thrown';
  } catch (error) {
    return error instanceof EncryptionError ? error.code : String(error);
  }
}
