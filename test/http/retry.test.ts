import { describe, expect, test } from 'vitest';
import { HttpError } from '../../src/errors.ts';
import type { ApiRequest } from '../../src/http/message.ts';
import { CURL, failure } from '../../src/http/network-error.ts';
import { DEFAULT_RETRY, retry, type RetryOptions } from '../../src/http/retry.ts';
import { Secrets } from '../../src/secrets.ts';
import { errorOf, fakeEnv, get, never, recordingLog, scripted } from './support.ts';

function setUp(send: ReturnType<typeof scripted>, options: Partial<RetryOptions> = {}) {
  const env = fakeEnv();
  const log = recordingLog();
  const wrapped = retry({ ...DEFAULT_RETRY, ...options }, { env, log, secrets: new Secrets() })(send);
  const run = (request: ApiRequest = get('http://h/x?token=abcdef'), signal = never) =>
    wrapped(request, { signal });
  return { run, env, log, sent: send.sent };
}

const after = (value: string) => ({ status: 503, headers: { 'retry-after': value } });
const cut = (): Error => failure(CURL.receive, 'The response was cut off by http://h.');

describe('retry', () => {
  test('pauses 1, 2, 4 … seconds, ten times, and then hands the response on', async () => {
    const { run, env, sent } = setUp(scripted({ status: 500 }));
    expect((await run()).status).toBe(500);
    expect(sent).toHaveLength(11);
    expect(env.sleeps).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((s) => s * 1000));
  });

  test('throws the last error of the network', async () => {
    const { run, sent } = setUp(scripted(cut()), { maxRetries: 2 });
    expect(await errorOf(run())).toMatchObject({ details: { curl: 56 } });
    expect(sent).toHaveLength(3);
  });

  test.each([500, 502, 503, 504, 408, 420, 429])('%d is tried again', async (status) => {
    const { run, sent } = setUp(scripted({ status }, {}));
    expect((await run()).status).toBe(200);
    expect(sent).toHaveLength(2);
  });

  test.each([200, 202, 301, 400, 401, 404, 501, 505])('%d is not', async (status) => {
    const { run, sent } = setUp(scripted({ status }, {}));
    expect((await run()).status).toBe(status);
    expect(sent).toHaveLength(1);
  });

  test('the list replaces the default, and a success in it is tried again', async () => {
    const { run, sent } = setUp(scripted({ status: 202 }, { status: 500 }), { codes: [202] });
    expect((await run()).status).toBe(500);
    expect(sent).toHaveLength(2);
  });

  test.each([6, 7, 28, 35, 52, 56])('network failure %d is tried again', async (curl) => {
    const { run, sent } = setUp(scripted(failure(curl, 'x'), {}));
    expect((await run()).status).toBe(200);
    expect(sent).toHaveLength(2);
  });

  test('a certificate that is not trusted is not', async () => {
    const { run, sent } = setUp(scripted(failure(CURL.certificate, 'x', { code: 'http.tls' }), {}));
    expect(await errorOf(run())).toMatchObject({ code: 'http.tls' });
    expect(sent).toHaveLength(1);
  });

  test('the list of network failures replaces the default', async () => {
    const { run } = setUp(scripted(cut(), {}), { curlCodes: [6] });
    expect(await errorOf(run())).toMatchObject({ details: { curl: 56 } });
  });

  test('other errors are not retried', async () => {
    for (const error of [new HttpError('auth.failed', 'x'), new TypeError('a mistake')]) {
      const { run, sent } = setUp(scripted(error, {}));
      await expect(run()).rejects.toBe(error);
      expect(sent).toHaveLength(1);
    }
  });

  test('the server says how long, by the header that is configured', async () => {
    const send = scripted({ status: 429, headers: { 'x-wait': '7', 'retry-after': '99' } }, {});
    const { run, env } = setUp(send, { retryHeader: 'X-Wait' });
    await run();
    expect(env.sleeps).toEqual([7000]);
  });

  test('0 and nonsense are as if nothing was said, a time in the past is no wait', async () => {
    const { run, env, sent } = setUp(scripted(after('0'), after('soon'), after('-3'), after('0'), {}));
    await run();
    expect(env.sleeps).toEqual([1000, 2000, 8000]);
    expect(sent).toHaveLength(5);
  });

  test('a wait longer than a timer can be is taken in pieces', async () => {
    const days40 = 40 * 86_400;
    const { run, env } = setUp(scripted({ status: 429, headers: { 'retry-after': String(days40) } }, {}));
    await run();
    expect(Math.max(...env.sleeps)).toBeLessThan(2 ** 31);
    expect(env.sleeps.reduce((a, b) => a + b)).toBe(days40 * 1000);
  });

  test('maxRetries 0 means once', async () => {
    const { run, sent } = setUp(scripted({ status: 500 }), { maxRetries: 0 });
    await run();
    expect(sent).toHaveLength(1);
  });

  test('every wait is logged with its reason and without secrets; long ones are for everybody', async () => {
    const { run, log } = setUp(
      scripted(
        { status: 429, headers: { 'retry-after': '60' } },
        cut(),
        { status: 503, headers: { 'retry-after': '3' } },
        {},
      ),
    );
    await run();
    expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'info Retrying in 60 seconds [1 x] after status 429.',
      'debug Retrying in 2 seconds [2 x] after network failure 56: The response was cut off by http://h.',
      'info Retrying in 3 seconds [3 x] after status 503.',
    ]);
    expect(JSON.stringify(log.lines)).not.toContain('abcdef');
  });

  test('an abort while waiting ends it', async () => {
    const controller = new AbortController();
    const { run, sent } = setUp(scripted({ status: 500 }));
    controller.abort(new Error('enough'));
    await expect(run(get('http://h/'), controller.signal)).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
  });
});
