import { describe, expect, test } from 'vitest';
import { validateConfig } from '../../../src/engine/config/index.ts';
import { collectSecrets, resolveSecrets } from '../../../src/engine/config/secrets.ts';
import type { Decrypt } from '../../../src/lib/encryption/cipher.ts';
import { decryptWith, encryptValue } from '../../../src/lib/encryption/index.ts';
import { ConfigError } from '../../../src/lib/errors.ts';
import { toJsonText } from '../../../src/lib/json/index.ts';
import { keyFrom, RANDOM } from '../../lib/encryption/support.ts';

describe('secrets', () => {
  test('are all texts under a key with #, at any depth, longest first', () => {
    const configuration = {
      '#a': 'short',
      b: { '#list': ['a longer one', { x: 12345 }], '#flag': true, '#empty': '', plain: 'shown' },
    };
    expect(collectSecrets(configuration)).toEqual(['a longer one', 'short', '12345']);
  });

  test('inside of JSON text are secrets too', () => {
    const data = '{"access_token":"inner-token","expires":3600}';
    expect(collectSecrets({ '#data': data })).toEqual([data, 'inner-token', '3600']);
  });

  test('may come from the environment; everything else stays', () => {
    const configuration = {
      '#token': '$env:TOKEN',
      plain: '$env:TOKEN',
      '#text': 'a $env:TOKEN',
      list: [{ '#k': ['$env:TOKEN'] }],
    };
    expect(toJsonText(resolveSecrets(configuration, { TOKEN: 'abc' }))).toBe(
      '{"#token":"abc","plain":"$env:TOKEN","#text":"a $env:TOKEN","list":[{"#k":["abc"]}]}',
    );
  });

  test('from variables that are not set are one error that names them all', () => {
    const configuration = { parameters: { '#a': '$env:ONE', '#b': '$env:TWO' } };
    expect(() => resolveSecrets(configuration, {})).toThrow(ConfigError);
    expect(() => resolveSecrets(configuration, {})).toThrow(
      'The environment variable ONE is not set. The environment variable TWO is not set.',
    );
    expect(toJsonText(resolveSecrets({ '#a': '$env:EMPTY' }, { EMPTY: '' }))).toBe('{"#a":""}');
  });

  test('that are still encrypted are an error with the path and without the value', () => {
    try {
      resolveSecrets({ parameters: { config: { '#password': 'KBC::ProjectSecure::abcdef' } } }, {});
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ where: { path: 'parameters.config.#password' } });
      expect(String(error)).not.toContain('abcdef');
    }
  });

  describe('that this package encrypted', () => {
    const scope = { project: '1', component: 'ex-generic-v2' };
    const key = keyFrom('a key');
    const encrypted = (value: string | number, with_ = key): string =>
      encryptValue(value, scope, [with_], RANDOM);
    const decrypt = decryptWith([key], scope);

    test('are decrypted beside those of the environment, and a decrypted text is final', () => {
      const configuration = { '#a': encrypted('$env:A'), '#b': '$env:A', '#n': [encrypted(12)] };
      expect(toJsonText(resolveSecrets(configuration, { A: 'x' }, decrypt))).toBe(
        '{"#a":"$env:A","#b":"x","#n":[12]}',
      );
    });

    test('are an error without a key, with a lost one, or when they were cut', () => {
      expect(() => resolveSecrets({ '#a': encrypted('x') }, {})).toThrow('no key was given');
      expect(() => refused(decrypt, encrypted('x', keyFrom('lost')))).toThrow(keyFrom('lost').id);
      expect(() => refused(decrypt, encrypted('x').slice(0, 30))).toThrow('not whole');
      expect(() => refused(decrypt, encrypted('x').slice(0, 30))).toThrow(
        expect.objectContaining({ where: { path: 'parameters.#a' } }),
      );
    });

    test('are validated as what they hold', async () => {
      const config = (username: unknown): string =>
        JSON.stringify({
          parameters: {
            api: { baseUrl: 'http://x.example/', authentication: { type: 'basic' } },
            config: { '#username': username, '#password': encrypted('p'), jobs: [{ endpoint: 'a' }] },
          },
        });
      expect(await validateConfig(config(encrypted(12)), { env: {}, decrypt })).toEqual([]);
      const problems = await validateConfig(config(encrypted('x', keyFrom('lost'))), { env: {}, decrypt });
      expect(problems).toMatchObject([{ severity: 'error', path: 'parameters.config.#username' }]);
      expect(problems[0]?.message).toContain(keyFrom('lost').id);
    });
  });
});

function refused(decrypt: Decrypt, value: string): void {
  resolveSecrets({ parameters: { '#a': value } }, {}, decrypt);
}
