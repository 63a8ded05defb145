import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  countPlain,
  decryptWith,
  encryptValue,
  hasEncrypted,
  hideSecrets,
  openSecrets,
  openText,
  sealText,
} from '../../../src/lib/encryption/index.ts';
import { encodeExact, isObject, parseExact, type AnyObject, type Json } from '../../../src/lib/json/index.ts';
import { keyFrom, RANDOM } from './support.ts';
import { times } from '../../support/sample.ts';

const key = keyFrom('a key');
const scope = { project: '1', component: 'c' };
const options = { keys: [key], scope, env: RANDOM };

const ENCRYPTED = /"GEX::1::[^"]+"/g;

/** JSON texts with `#` keys, escapes, odd keys, odd numbers and white space of any kind. */
const documents: fc.Arbitrary<string> = fc
  .tuple(
    fc.letrec<{ value: string; object: string }>((tie) => {
      const space = fc.constantFrom('', ' ', '\n  ', '\t', '\r\n');
      const key = fc.oneof(
        fc.constantFrom('#password', '#', 'a', '__proto__', '10', '#10', 'x.y', 'a"b', '#ü'),
        fc.string({ maxLength: 4 }),
      );
      const scalar = fc.oneof(
        fc.constantFrom(
          '1.0',
          '-0',
          '1e3',
          '12345678901234567890',
          'true',
          'false',
          'null',
          '""',
          '"$env:X"',
        ),
        fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => JSON.stringify(text.toWellFormed())),
        fc.constantFrom('"\\u0041\\/"', '"a\\\\"', '"\\"#b\\":"'),
      );
      const list = fc
        .tuple(space, fc.array(tie('value'), { maxLength: 3 }))
        .map(([gap, items]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`);
      return {
        value: fc.oneof({ maxDepth: 4 }, scalar, list, tie('object')),
        object: fc
          .tuple(
            space,
            fc.uniqueArray(fc.tuple(key, tie('value')), { maxLength: 4, selector: ([name]) => name }),
          )
          .map(([gap, members]) => {
            const lines = members.map(
              ([name, value]) => `${JSON.stringify(name.toWellFormed())}${gap}:${gap}${value}`,
            );
            return `{${gap}${lines.join(`${gap},${gap}`)}${gap}}`;
          }),
      };
    }).object,
    fc.constantFrom('', '\n'),
  )
  .map(([text, end]) => text + end);

describe('sealing a JSON text', () => {
  test('and opening it again gives the same document, for any document', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const sealed = sealText(text, options);
        fc.pre(sealed.problems.length === 0);
        expect(countPlain(sealed.text)).toBe(0);
        expect(encodeExact(parseExact(openText(sealed.text, options).text))).toBe(
          encodeExact(parseExact(text)),
        );
        expect(sealText(sealed.text, options)).toMatchObject({ text: sealed.text, changed: 0 });
      }),
      { numRuns: times(300) },
    );
  });

  test('changes nothing between the values', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const sealed = sealText(text, options);
        const parts = sealed.text.split(ENCRYPTED);
        expect(parts.length - 1).toBe(sealed.changed);
        let at = 0;
        for (const part of parts) {
          const found = text.indexOf(part, at);
          expect(found).toBeGreaterThanOrEqual(at);
          at = found + part.length;
        }
        expect(text.endsWith(parts.at(-1) ?? '')).toBe(true);
      }),
      { numRuns: times(300) },
    );
  });

  test('leaves no plain value under a # key, in lists and objects below it too', () => {
    const text =
      '{"#a": "s3cret", "b": {"#c": ["s3cret", {"d": 7654321, "e": true}]}, "f": "shown", "#g": null, "#h": ""}';
    const sealed = sealText(text, options);
    expect(sealed.changed).toBe(4);
    expect(sealed.text).not.toMatch(/s3cret|7654321|true/);
    expect(sealed.text).toContain('"f": "shown", "#g": null, "#h": ""}');
  });

  test('finds a key that is written with an escape', () => {
    expect(sealText('{"\\u0023a":"s3cret"}', options).text).toMatch(/^\{"\\u0023a":"GEX::1::/);
  });

  test('passes what is encrypted already, by whomever, and names of variables', () => {
    const text = '{"#a":"KBC::ProjectSecure::abc","#b":"$env:B","#c":"$env:B "}';
    const once = sealText(text, options);
    expect(once).toMatchObject({ changed: 1, kept: 2, problems: [] });
    expect(once.text).toContain('{"#a":"KBC::ProjectSecure::abc","#b":"$env:B","#c":"GEX::');
  });

  test('tells of a value that only begins like an encrypted one', () => {
    const { text, problems } = sealText('{"x":{"#a":"GEX::1::cut"}}', options);
    expect(text).toBe('{"x":{"#a":"GEX::1::cut"}}');
    expect(problems).toMatchObject([{ keys: ['x', '#a'], start: 11, error: { code: 'encryption.damaged' } }]);
  });

  test('keeps the encrypted form of a value that is the same as before', () => {
    const before = sealText('{"#a":"one","#b":"two","#n":1}', options).text;
    const same = sealText('{"#a":"one","#b":"two","#n":1}', { ...options, before });
    expect(same.text).toBe(before);
    const other = sealText('{"#a":"one","#b":"2","#n":"1"}', { ...options, before });
    expect(other.text.slice(0, other.text.indexOf('"#b"'))).toBe(before.slice(0, before.indexOf('"#b"')));
    expect(encodeExact(parseExact(openText(other.text, options).text))).toBe(
      '{"#a":"one","#b":"2","#n":"1"}',
    );
    const lost = sealText('{"#a":"one"}', { ...options, keys: [keyFrom('new')], before });
    expect(lost).toMatchObject({ changed: 1, problems: [] });
    expect(before).not.toContain(lost.text.slice(7, -2));
  });

  test('rotates to the first key, keeps the scope, and does not touch what it has encrypted', () => {
    const newer = keyFrom('newer');
    const narrow = { ...scope, configuration: '5' };
    const text = `{"#a":${JSON.stringify(encryptValue('x', scope, [key], RANDOM))},"#b":${JSON.stringify(encryptValue(7, narrow, [key], RANDOM))},"#c":"plain"}`;
    const rotated = sealText(text, { ...options, keys: [newer, key], scope: narrow, rotate: true });
    expect(rotated).toMatchObject({ changed: 3, problems: [] });
    expect(openText(rotated.text, { keys: [newer], scope: narrow }).text).toBe(
      '{"#a":"x","#b":7,"#c":"plain"}',
    );
    expect(openText(rotated.text, { keys: [newer], scope }).problems).toMatchObject([
      { keys: ['#b'], error: { code: 'encryption.scope' } },
      { keys: ['#c'] },
    ]);
    const again = sealText(rotated.text, { ...options, keys: [newer, key], scope: narrow, rotate: true });
    expect(again).toMatchObject({ text: rotated.text, changed: 0, kept: 3 });
  });
});

describe('opening in memory', () => {
  test('gives every value back and leaves those that cannot be read', () => {
    const lost = encryptValue('x', scope, [keyFrom('lost')], RANDOM);
    const sealed = sealText('{"a":{"#n":1.0,"#l":["x",{"k":false}]},"10":"y"}', options).text;
    const whole = objectIn(`{"lost":{"#v":${JSON.stringify(lost)}},${sealed.slice(1)}`);
    expect(hasEncrypted(whole)).toBe(true);
    expect(encodeExact(openSecrets(whole, decryptWith([key], scope)))).toBe(
      `{"lost":{"#v":${JSON.stringify(lost)}},"a":{"#n":1.0,"#l":["x",{"k":false}]},"10":"y"}`,
    );
    expect(hasEncrypted(objectIn('{"a":"GEX::1::x","#b":"plain"}'))).toBe(false);
  });
});

test('what only people read is hidden without a key', () => {
  expect(hideSecrets('{"#a":"s3cret","b":[{"#c":1}],"d":"shown"}')).toBe(
    '{"#a":"***","b":[{"#c":"***"}],"d":"shown"}',
  );
});

function objectIn(text: string): AnyObject {
  const value: Json = parseExact(text);
  if (!isObject(value)) throw new Error('not an object');
  return value;
}
