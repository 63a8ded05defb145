import { describe, expect, test } from 'vitest';
import { collectSecrets, resolveSecrets } from '../../src/config/secrets.ts';
import { ConfigError } from '../../src/errors.ts';
import { toJsonText } from '../../src/json/index.ts';

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
});
