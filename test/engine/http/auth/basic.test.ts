import { describe, expect, test } from 'vitest';
import { Secrets } from '../../../../src/lib/secrets.ts';
import { clientOf, failure, startApi } from './support.ts';

const auth = { type: 'basic' };

describe('basic', () => {
  test('user name and password of the configuration are sent with every request', async () => {
    const api = await startApi();
    const client = clientOf({
      baseUrl: api.url,
      auth,
      config: { '#username': 'JohnDoe', '#password': 'secret' },
    });
    await client.get('users');
    await client.get('orders');
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Basic Sm9obkRvZTpzZWNyZXQ=',
      'Basic Sm9obkRvZTpzZWNyZXQ=',
    ]);
  });

  test('its header is a secret when a server quotes it', async () => {
    const api = await startApi();
    const secrets = new Secrets();
    const config = { username: 'JohnDoe', '#password': 'secret' };
    await clientOf({ baseUrl: api.url, auth, config, secrets }).get('users');
    const sent = String(api.seen[0]?.headers.authorization);
    expect(sent).toBe('Basic Sm9obkRvZTpzZWNyZXQ=');
    expect(secrets.redact(`no access for ${sent}.`)).toBe('no access for Basic ***.');
  });

  test('the plain key wins over the one with #, and text is UTF-8', async () => {
    const api = await startApi();
    const config = { username: 'žluť', '#username': 'other', '#password': 'p:ä' };
    await clientOf({ baseUrl: api.url, auth, config }).get('users');
    const [seen] = api.seen;
    expect(Buffer.from(seen?.headers.authorization?.slice(6) ?? '', 'base64').toString()).toBe('žluť:p:ä');
  });

  test('it wins over a header of the job', async () => {
    const api = await startApi();
    const config = { username: 'a', '#password': 'b' };
    await clientOf({ baseUrl: api.url, auth, config, headers: { authorization: 'mine' } }).get('users');
    expect(api.seen[0]?.headers.authorization).toBe('Basic YTpi');
  });

  test('an empty password is one, a missing one is not', async () => {
    const api = await startApi();
    await clientOf({ baseUrl: api.url, auth, config: { '#username': 'key', '#password': '' } }).get('users');
    expect(api.seen[0]?.headers.authorization).toBe('Basic a2V5Og==');
    expect(await failure(() => clientOf({ baseUrl: api.url, auth, config: { username: 'key' } }))).toEqual({
      code: 'config.invalid',
      path: 'parameters.config.#password',
      message: 'The basic authentication needs “password” or “#password” in “config”.',
      hint: 'Add "#password" to "config"; the # keeps it secret.',
    });
  });
});

describe('the type', () => {
  test('is none when it is empty', async () => {
    const api = await startApi();
    await clientOf({ baseUrl: api.url, auth: { type: '' } }).get('users');
    await clientOf({ baseUrl: api.url, auth: [] }).get('users');
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  test('that is unknown is an error with the nearest one', async () => {
    expect(await failure(() => clientOf({ baseUrl: 'http://h/', auth: { type: 'oauth.20' } }))).toEqual({
      code: 'config.invalid',
      path: 'parameters.api.authentication.type',
      message: 'There is no authentication type “oauth.20”.',
      hint: 'Did you mean "oauth20"? The types are basic, bearer, apiKey, headers, query, login, oauth10, oauth20, oauth20.login, oauth20.clientCredentials, oauth20.refreshToken, jwt, several, choice.',
    });
  });
});
