import { describe, expect, test } from 'vitest';
import { HttpError } from '../../../src/lib/errors.ts';
import type { ApiRequest } from '../../../src/engine/shared/message.ts';
import { CURL, failure } from '../../../src/engine/http/send/network-error.ts';
import {
  DEFAULT_RETRY,
  retry,
  type RetryContext,
  type RetryOptions,
} from '../../../src/engine/http/retry.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { errorOf, fakeEnv, get, never, recordingLog, scripted } from './support.ts';

function setUp(
  send: ReturnType<typeof scripted>,
  options: Partial<RetryOptions> = {},
  more: Partial<RetryContext> = {},
) {
  const env = fakeEnv();
  const log = recordingLog();
  const wrapped = retry(
    { ...DEFAULT_RETRY, ...options },
    { env, log, secrets: new Secrets(), ...more },
  )(send);
  const run = (request: ApiRequest = get('http://h/x?token=abcdef'), signal = never) =>
    wrapped(request, { signal });
  return { run, env, log, sent: send.sent };
}

const after = (value: string) => ({ status: 503, headers: { 'retry-after': value } });
const cut = (): Error => failure(CURL.receive, 'The response was cut off by http://h.');

const begin = (first: number, ...answers: Parameters<typeof scripted>) => {
  const firstContact = { isMade: false, attempts: first };
  return { ...setUp(scripted(...answers), {}, { firstContact }), firstContact };
};

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
    const { run, env } = setUp(scripted({ status: 429, headers: { 'retry-after': String(days40) } }, {}), {
      maxRetryAfterMs: Infinity,
    });
    await run();
    expect(Math.max(...env.sleeps)).toBeLessThan(2 ** 31);
    expect(env.sleeps.reduce((a, b) => a + b)).toBe(days40 * 1000);
  });

  test.each([
    ['99999999999', '900'],
    ['86400', '900'],
    ['1e300', '900'],
    ['901', '900'],
    ['Wed, 01 Jan 2110 00:00:00 GMT', '900'],
  ])('a server that asks to wait for %s seconds ends it, with that number', async (value, most) => {
    const { run, env, sent } = setUp(scripted({ status: 429, headers: { 'retry-after': value } }, {}));
    const error = await errorOf(run());
    expect(error).toMatchObject({ code: 'http.status', details: { status: 429 } });
    expect(error.message).toMatch(/^The API answered 429 and asks to wait \S+ seconds \(Retry-After\)/);
    if (/^\d+$/.test(value)) expect(error.details['retryAfterMs']).toBeGreaterThan(900_000);
    expect(error.message).toContain(`longer than ${most}.`);
    expect(error.hint).toContain('api.retryConfig.maxRetryAfter');
    expect([env.sleeps, sent.length]).toEqual([[], 1]);
  });

  test('a wait that is just allowed is taken, and more when the configuration allows it', async () => {
    const { run, env } = setUp(scripted(after('900'), {}));
    await run();
    const longer = setUp(scripted(after('7200'), {}), { maxRetryAfterMs: 7_200_000 });
    await longer.run();
    expect([...env.sleeps, ...longer.env.sleeps]).toEqual([900_000, 7_200_000]);
  });

  describe('before anything has answered', () => {
    test.each([CURL.dns, CURL.connect, CURL.tls])(
      'failure %d is tried three times, within seconds',
      async (curl) => {
        const { run, env, sent, log } = begin(3, failure(curl, 'No connection.'));
        expect(await errorOf(run())).toMatchObject({ details: { curl } });
        expect([sent.length, env.sleeps]).toEqual([3, [1000, 2000]]);
        expect(log.lines.map(({ level }) => level)).toEqual(['info', 'info']);
      },
    );

    test('and once when a run is only tried out', async () => {
      const { run, sent } = begin(1, failure(CURL.connect, 'No connection.'));
      await errorOf(run());
      expect(sent).toHaveLength(1);
    });

    test.each([
      ['an answer', { status: 503 }],
      ['a cut answer', cut()],
    ])('%s makes it a matter of patience', async (_what, answer) => {
      const { run, sent, firstContact } = begin(
        3,
        answer,
        ...Array.from({ length: 9 }, () => failure(CURL.connect, 'x')),
        {},
      );
      expect((await run()).status).toBe(200);
      expect(sent).toHaveLength(11);
      expect(firstContact.isMade).toBe(true);
    });

    test('fewer retries than that stay fewer', async () => {
      const { run, sent } = setUp(
        scripted(failure(CURL.dns, 'x')),
        { maxRetries: 1 },
        { firstContact: { isMade: false, attempts: 3 } },
      );
      await errorOf(run());
      expect(sent).toHaveLength(2);
    });
  });

  test('maxRetries 0 means once', async () => {
    const { run, sent } = setUp(scripted({ status: 500 }), { maxRetries: 0 });
    await run();
    expect(sent).toHaveLength(1);
  });

  test('every wait is told with its reason, from the first on, and without secrets', async () => {
    const secrets = new Secrets();
    secrets.add('abcdef');
    const { run, log } = setUp(
      scripted(
        { status: 429, headers: { 'retry-after': '60' }, body: '' },
        cut(),
        {
          status: 500,
          headers: { 'retry-after': '1' },
          body: '{"error": "no\\n\\u0000 disk abcdef"}',
        },
        { status: 503, headers: { 'retry-after': '3' }, body: 'busy' },
        {},
      ),
      {},
      { secrets },
    );
    await run({ ...get('http://h/?token=abcdef'), label: 'books' });
    expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'info Retrying in 60 seconds (1 of 10) after status 429.',
      'info Retrying in 2 seconds (2 of 10) after network failure 56: The response was cut off by http://h.',
      'info Retrying in 1 second (3 of 10) after status 500: {"error": "no\\n\\u0000 disk ***"}',
      'info Retrying in 3 seconds (4 of 10) after status 503.',
    ]);
    for (const { fields } of log.lines) expect(fields).toMatchObject({ job: 'books', maxRetries: 10 });
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
