import { describe, expect, test } from 'vitest';
import { SecretStore } from '../../src/authoring/init/index.ts';
import { askLogin } from '../../src/cli/ask-login.ts';

/** Answers in their order; tells which questions were asked, and which of them were for secrets. */
function person(...answers: readonly string[]) {
  const asked: string[] = [];
  const left = [...answers];
  const ask = async (question: string, { isSecret }: { readonly isSecret: boolean }): Promise<string> => {
    asked.push(`${isSecret ? '*' : ''}${question.split('\n')[0] ?? ''}`);
    return left.shift() ?? '';
  };
  return { ask, asked };
}

const WANTED = { code: 'login', isRefused: false } as const;

describe('a secret that was typed', () => {
  test.each([
    ['$ecret-9', false, '$env:API_TOKEN'],
    ['$ecret', true, '$env:API_TOKEN'],
    ['$MY_TOKEN', false, '$env:MY_TOKEN'],
    ['${MY_TOKEN}', false, '$env:MY_TOKEN'],
  ])('%s', (typed, isLiteral, written) => {
    const vault = new SecretStore({ MY_TOKEN: 'tok' });
    expect(vault.takeTyped(typed)).toBe(isLiteral);
    expect(vault.keep(typed, 'API_TOKEN')).toBe(written);
    expect(vault.unset).toEqual([]);
    expect(vault.environment[written.slice(5)]).toBe(written.includes('MY_') ? 'tok' : typed);
  });
});

describe('the login of gex init in a few questions', () => {
  test.each([
    ['a token', {}, ['1', 'tok'], 'bearer:tok'],
    ['a user, as the challenge says', { kind: 'basic' }, ['anna', 'pass'], 'basic:anna:pass'],
    ['a header that the refusal speaks of', { header: 'X-Api-Key' }, ['key'], 'header:X-Api-Key=key'],
    ['a header', {}, ['3', 'X-Key', 'key'], 'header:X-Key=key'],
    ['the query', {}, ['4', 'api_key', 'key'], 'query:api_key=key'],
    ['a client', { kind: 'bearer' }, ['5', 'id', 'sec', 'https://h/t'], 'client:id:sec@https://h/t'],
    [
      'a person',
      {},
      ['6', 'id', 'sec', 'https://h/a', 'https://h/t', 'read write'],
      'person:id:sec@https://h/a,https://h/t,read write',
    ],
    [
      'a person, by a client without a secret',
      {},
      ['6', 'id', '', 'https://h/a', 'https://h/t', ''],
      'person:id:@https://h/a,https://h/t',
    ],
    [
      'a person, at the page that the challenge names',
      { kind: 'oauth', authorizationUrl: 'https://h/a' },
      ['6', 'id', 'sec', 'https://h/t', ''],
      'person:id:sec@https://h/a,https://h/t',
    ],
    ['no answer', {}, [''], undefined],
    ['no secret', {}, ['1', ''], undefined],
  ] as const)('%s', async (_, said, answers, login) => {
    const { ask } = person(...answers);
    expect(await askLogin({ ...WANTED, ...said }, ask)).toBe(login);
  });

  test('secrets are asked for hidden', async () => {
    const { ask, asked } = person('5', 'id', 'sec', 'https://h/t');
    await askLogin(WANTED, ask);
    expect(asked.filter((question) => question.startsWith('*'))).toEqual(['*Client secret: ']);
  });
});
