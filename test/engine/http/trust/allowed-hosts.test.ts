import { describe, expect, test } from 'vitest';
import {
  allowedHosts,
  hostCheck,
  parseAllowedHosts,
} from '../../../../src/engine/http/trust/allowed-hosts.ts';
import { redirect } from '../../../../src/engine/http/redirect.ts';
import { createTransport } from '../../../../src/engine/http/send/transport.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { Secrets } from '../../../../src/lib/secrets.ts';
import { failure, signal, startApi } from '../auth/support.ts';

describe('allowed hosts', () => {
  test.each<[Record<string, string | number>, string, boolean]>([
    [{ host: 'h.com' }, 'https://h.com/any?x=1', true],
    [{ host: 'H.com' }, 'https://h.COM:8443/any', true],
    [{ host: 'h.com' }, 'https://sub.h.com/', false],
    [{ host: 'h.com' }, 'https://h.com.evil.net/', false],
    [{ host: 'h.com' }, 'https://h.com@evil.net/', false],
    [{ host: 'h.com', scheme: 'https' }, 'http://h.com/', false],
    [{ host: 'h.com', scheme: 'https' }, 'HTTPS://h.com/', true],
    [{ host: 'h.com', port: 443 }, 'https://h.com/', true],
    [{ host: 'h.com', port: 443 }, 'http://h.com/', false],
    [{ host: 'h.com', port: 8080 }, 'http://h.com:8080/', true],
    [{ host: 'h.com', endpoint: '/v1/' }, 'https://h.com/v1', true],
    [{ host: 'h.com', endpoint: 'v1' }, 'https://h.com/v1/users?x=/', true],
    [{ host: 'h.com', endpoint: '/v1' }, 'https://h.com/v10', false],
    [{ host: 'h.com', endpoint: '/v1' }, 'https://h.com/', false],
    [{ host: 'h.com', endpoint: '/v1' }, 'https://h.com/v1/../admin', false],
    [{ host: 'h.com', endpoint: '/v1' }, 'https://h.com/v1/%2E%2e/admin', false],
    [{ host: 'h.com', endpoint: '/v1' }, 'https://h.com/v1/..%2fadmin', false],
    [{ host: 'h.com', endpoint: '/v1' }, 'https://h.com/v1%2fusers', false],
    [{ host: 'h.com', endpoint: '/v1' }, 'https://h.com/?/v1', false],
    [{ host: 'h.com', endpoint: '' }, 'https://h.com', true],
  ])('%j and %s: %s', (entry, url, expected) => {
    expect(hostCheck(parseAllowedHosts([{ host: 'other.com' }, entry]))(url)).toBe(expected);
  });

  test('every hop of a redirect is checked, and nothing is sent', async () => {
    const other = await startApi();
    const api = await startApi(() => ({
      status: 302,
      headers: { location: `${other.url}x?token=abcd&page=2` },
    }));
    const transport = createTransport();
    const [, port] = api.host.split(':');
    const list = parseAllowedHosts([
      { scheme: 'http', host: '127.0.0.1', port: Number(port), endpoint: 'v1' },
    ]);
    const send = redirect({ log: silentLog, secrets: new Secrets() })(allowedHosts(list)(transport.send));
    const error = await failure(() =>
      send({ method: 'GET', url: `${api.url}v1/users`, headers: {} }, { signal }),
    );
    expect(error).toEqual({
      code: 'http.forbiddenHost',
      path: undefined,
      message: `The request to ${other.url}x?token=***&page=2 is not allowed.`,
      hint: `The administrator of this component allows only http://127.0.0.1:${port}/v1.`,
    });
    expect(other.seen).toEqual([]);
    await transport.close();
  });

  test('an empty list allows everything', async () => {
    const api = await startApi();
    const transport = createTransport();
    const send = allowedHosts(parseAllowedHosts([]))(transport.send);
    expect((await send({ method: 'GET', url: api.url, headers: {} }, { signal })).status).toBe(200);
    await transport.close();
  });

  test.each<[string, Record<string, string | number> | string, string]>([
    ['no host', { endpoint: '/v1' }, '0.host'],
    ['a text as the port', { host: 'h.com', port: '443' }, '0.port'],
    ['no map', 'h.com', '0.host'],
  ])('an entry with %s is a wrong configuration', async (_name, entry, path) => {
    expect(await failure(() => parseAllowedHosts([entry]))).toMatchObject({
      code: 'config.invalid',
      path: `image_parameters.allowed_hosts.${path}`,
    });
  });
});
