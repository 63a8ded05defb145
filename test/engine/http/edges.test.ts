import { describe, expect, test } from 'vitest';
import { cache } from '../../../src/engine/http/cache.ts';
import { withHeader } from '../../../src/engine/shared/message.ts';
import { retryAfterMs } from '../../../src/engine/http/retry-after.ts';
import { DEFAULT_RETRY, retry } from '../../../src/engine/http/retry.ts';
import { BodyBuffer } from '../../../src/engine/http/send/body-buffer.ts';
import { targetOf } from '../../../src/engine/http/send/target.ts';
import { status } from '../../../src/engine/http/status.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { errorOf, fakeEnv, get, never, recordingLog, scripted, temporaryFolder } from './support.ts';

/** The values right at a bound, where a sign the wrong way round would go unseen. */
describe('at the edge', () => {
  test('a year of two digits is at most 50 years ahead', () => {
    const now = Date.UTC(2026, 10, 21, 12);
    const ms = (date: string): number => retryAfterMs(date, now) ?? -1;
    expect(ms('Saturday, 21-Nov-76 12:00:00 GMT')).toBe(Date.UTC(2076, 10, 21, 12) - now);
    expect(ms('Monday, 21-Nov-77 12:00:00 GMT')).toBe(0);
  });

  test('an answer that was kept by a clock that is ahead is asked for again', async () => {
    const folder = temporaryFolder();
    const send = scripted({ body: 'first' }, { body: 'second' });
    for (const now of [2_000_000_000_000, 1_000_000_000_000])
      await cache({ folder, env: fakeEnv(now), log: recordingLog() })(send)(get('http://h/x'), {
        signal: never,
      });
    expect(send.sent).toHaveLength(2);
  });

  test('400 is an error, 399 is none', async () => {
    const secrets = new Secrets();
    const send = status({ secrets })(scripted({ status: 399 }, { status: 400 }));
    expect((await send(get('http://h/x'), { signal: never })).status).toBe(399);
    expect(await errorOf(send(get('http://h/x'), { signal: never }))).toMatchObject({
      details: { status: 400 },
    });
  });

  test('65535 is a port, 65536 is none', () => {
    expect(targetOf('http://h:65535/').port).toBe(65_535);
    expect(() => targetOf('http://h:65536/')).toThrow('no http or https address');
  });

  test('a header that is set takes the place of its other spellings', () => {
    expect(withHeader({ 'x-KEY': '1', a: '2' }, 'X-Key', '3')).toEqual({ a: '2', 'X-Key': '3' });
  });

  test('a bound below the usual pause leaves the usual pause', async () => {
    const env = fakeEnv();
    const options = { ...DEFAULT_RETRY, maxRetryAfterMs: 0 };
    const context = { env, log: recordingLog(), secrets: new Secrets() };
    const send = retry(options, context)(scripted({ status: 503 }, { status: 503 }, {}));
    expect((await send(get('http://h/x'), { signal: never })).status).toBe(200);
    expect(env.sleeps).toEqual([1000, 2000]);
  });

  test('a part of a body that is larger than twice what there is finds room', () => {
    const parts = [2 ** 21, 2 ** 24, 3].map((length, i) => new Uint8Array(length).fill(i + 1));
    const all = Buffer.concat(parts);
    const body = new BodyBuffer();
    for (const part of parts) body.add(part);
    expect(Buffer.compare(body.take(), all)).toBe(0);
  });

  test.each([
    ['small', 2 ** 10, 0],
    ['large', 2 ** 20, 0],
    ['large of a known size', 2 ** 20, 3 * 2 ** 20],
  ])(
    'the parts of a %s body give their memory back, and pieces of something else do not',
    (_, size, announced) => {
      const parts = [1, 2, 3].map((value) => new Uint8Array(size).fill(value));
      const all = Buffer.concat([...parts, Buffer.from('cd')]);
      const other = Buffer.from('abcdef').subarray(2, 4);
      const body = new BodyBuffer(announced);
      for (const part of [...parts, other]) body.add(part);
      expect(Buffer.compare(body.take(), all)).toBe(0);
      expect(parts.map(({ length }) => length)).toEqual([0, 0, 0]);
      expect(String(other)).toBe('cd');
    },
  );
});
