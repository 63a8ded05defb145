import { describe, expect, test } from 'vitest';
import { CURL, failure } from '../../../src/engine/http/send/network-error.ts';
import { status } from '../../../src/engine/http/status.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { errorOf, get, never, scripted } from './support.ts';

const secrets = new Secrets();
secrets.add('known-secret');

function run(answer: Parameters<typeof scripted>[0], ignoreErrors: number[] = []) {
  const request = { ...get('http://me:pw@h/x?api_key=1'), label: 'users' };
  return status({ ignoreErrors, secrets })(scripted(answer))(request, { signal: never });
}

describe('status', () => {
  test.each([200, 204, 302, 399])('%d is handed on', async (code) => {
    expect((await run({ status: code })).status).toBe(code);
  });

  test('an error says what, where and what to do, without secrets', async () => {
    const error = await errorOf(run({ status: 404, body: '{"error":"known-secret is no user"}' }));
    expect(error).toMatchObject({
      code: 'http.status',
      audience: 'user',
      recovery: 'stop',
      message: 'The API answered 404 Not Found to GET http://***@h/x?api_key=***: {"error":"*** is no user"}',
      where: { url: 'http://***@h/x?api_key=***', job: 'users' },
      details: { status: 404 },
    });
  });

  test.each([401, 403, 404, 429, 500, 503])('%d has a hint', async (code) => {
    expect((await errorOf(run({ status: code }))).hint).toMatch(/\.$/);
  });

  test('a status without a name and a body without text are fine', async () => {
    expect((await errorOf(run({ status: 499, body: '' }))).message).toBe(
      'The API answered 499 to GET http://***@h/x?api_key=***.',
    );
  });

  test('500 bytes of the body are shown, no character and no secret is cut in half', async () => {
    const body = `${'č'.repeat(249)}-known-secret ${'x'.repeat(5000)}`;
    const { message } = await errorOf(run({ status: 500, body }));
    expect(message).toMatch(/č-\*?…$/);
    expect(message).not.toContain('known');
  });

  test.each([
    ['{"access_token":"abc-def","page":2}', '{"access_token":"***","page":2}'],
    ['{"a":{"upload_token" : "ab\\"c', '{"a":{"upload_token":"***"'],
    [`{"client_secret":"${'x'.repeat(5000)}"}`, '{"client_secret":"***"'],
    ['{"next_page_token":"abc","id":"7"}', '{"next_page_token":"abc","id":"7"}'],
  ])(
    'what is secret by the name of its key is hidden in the body, where it is cut, too: %#',
    async (body, shown) => {
      const { message } = await errorOf(run({ status: 500, body }));
      expect(message.slice(message.indexOf(': {') + 2)).toBe(shown);
    },
  );

  test('what is ignored is handed on', async () => {
    expect((await run({ status: 404 }, [404, 410])).status).toBe(404);
    expect(await errorOf(run({ status: 500 }, [404]))).toMatchObject({ code: 'http.status' });
  });

  test('errors of the network learn job and address', async () => {
    const error = await errorOf(run(failure(CURL.dns, 'x')));
    expect(error.where).toEqual({ url: 'http://***@h/x?api_key=***', job: 'users' });
  });
});
