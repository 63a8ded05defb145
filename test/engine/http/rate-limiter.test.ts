import { describe, expect, test } from 'vitest';
import { createRateLimiter, type RateLimits } from '../../../src/engine/http/rate-limiter.ts';
import type { Send } from '../../../src/engine/shared/message.ts';
import { fakeEnv, get, never, scripted } from './support.ts';
import type { Env } from '../../../src/lib/env.ts';
import { systemEnv } from '../../../src/lib/env.ts';

/** Requests that end when they are told to. */
function held() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const send: Send = (request) =>
    new Promise((resolve) => {
      started.push(request.url);
      ends.set(request.url, () =>
        resolve({ status: 200, headers: {}, url: request.url, body: new Uint8Array() }),
      );
    });
  const end = async (url: string): Promise<void> => {
    ends.get(url)?.();
    await settled();
  };
  return { send, started, end };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function limited(send: Send, options: RateLimits, env: Env = fakeEnv()) {
  const wrapped = createRateLimiter(options, env).limit(send);
  return (url: string, signal = never) => wrapped(get(url), { signal });
}

describe('requests per second', () => {
  test('are evenly spaced', async () => {
    const env = fakeEnv(1000);
    const times: number[] = [];
    const run = limited(
      async (request) => {
        times.push(env.now());
        return { status: 200, headers: {}, url: request.url, body: new Uint8Array() };
      },
      { requestsPerSecond: 4 },
      env,
    );
    for (let i = 0; i < 4; i++) await run('http://h/');
    expect(times).toEqual([1000, 1250, 1500, 1750]);
  });

  test('time that passes anyway is not waited for', async () => {
    const env = fakeEnv();
    const run = limited(scripted(), { requestsPerSecond: 2 }, env);
    await run('http://h/');
    await env.sleep(400);
    await run('http://h/');
    await env.sleep(9000);
    await run('http://h/');
    expect(env.sleeps).toEqual([400, 100, 9000]);
  });

  test('are counted for each host by itself', async () => {
    const env = fakeEnv();
    const run = limited(scripted(), { requestsPerSecond: 1 }, env);
    await run('http://a/1');
    await run('http://b/1');
    await run('https://a/1');
    expect(env.sleeps).toEqual([]);
    await run('http://a/2');
    expect(env.sleeps).toEqual([1000]);
  });

  test('go in the order in which they asked', async () => {
    const order: string[] = [];
    const run = limited(
      async (request) => {
        order.push(request.url);
        return { status: 200, headers: {}, url: request.url, body: new Uint8Array() };
      },
      { requestsPerSecond: 200 },
      systemEnv,
    );
    const urls = Array.from({ length: 10 }, (_, i) => `http://h/${i}`);
    await Promise.all(urls.map((url) => run(url)));
    expect(order).toEqual(urls);
  });

  test('an aborted wait gives its moment back', async () => {
    const waits: number[] = [];
    const env: Env = {
      ...fakeEnv(),
      sleep: (waitMs, signal) => {
        waits.push(waitMs);
        return new Promise((resolve, reject) => {
          if (signal?.aborted === false)
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          else resolve();
        });
      },
    };
    const run = limited(scripted(), { requestsPerSecond: 1 }, env);
    await run('http://h/');
    const controller = new AbortController();
    const second = run('http://h/', controller.signal);
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    const third = new AbortController();
    const pending = run('http://h/', third.signal);
    third.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
    expect(waits).toEqual([1000, 1000]);
  });
});

describe('concurrency', () => {
  test('holds the number of requests under way, first come first served', async () => {
    const { send, started, end } = held();
    const run = limited(send, { concurrency: 2 });
    const all = ['http://h/1', 'http://h/2', 'http://h/3', 'http://h/4'].map((url) => run(url));
    await settled();
    expect(started).toEqual(['http://h/1', 'http://h/2']);
    await end('http://h/2');
    expect(started).toEqual(['http://h/1', 'http://h/2', 'http://h/3']);
    await end('http://h/1');
    await end('http://h/3');
    await end('http://h/4');
    await expect(Promise.all(all)).resolves.toHaveLength(4);
  });

  test('a failure gives its place back', async () => {
    const run = limited(scripted(new Error('no'), {}), { concurrency: 1 });
    await expect(run('http://h/')).rejects.toThrow('no');
    await expect(run('http://h/')).resolves.toMatchObject({ status: 200 });
  });

  test('other hosts have places of their own', async () => {
    const { send, started, end } = held();
    const run = limited(send, { concurrency: 1 });
    const all = [run('http://a/'), run('http://b/')];
    await settled();
    expect(started).toHaveLength(2);
    await end('http://a/');
    await end('http://b/');
    await Promise.all(all);
  });

  test('who is aborted leaves the queue', async () => {
    const { send, started, end } = held();
    const run = limited(send, { concurrency: 1 });
    const controller = new AbortController();
    const first = run('http://h/1');
    const second = run('http://h/2', controller.signal);
    const third = run('http://h/3');
    await settled();
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await end('http://h/1');
    expect(started).toEqual(['http://h/1', 'http://h/3']);
    await end('http://h/3');
    await Promise.all([first, third]);
  });
});

test('without limits nothing is in between', () => {
  const send = scripted();
  expect(createRateLimiter({}, fakeEnv()).limit(send)).toBe(send);
});
