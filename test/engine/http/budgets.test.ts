import { describe, expect, test } from 'vitest';
import { keepBudgets, parseBudgets } from '../../../src/engine/http/budgets.ts';
import type { Send } from '../../../src/engine/shared/message.ts';
import { parseExact } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { fakeEnv, get, never } from './support.ts';

/** When each of the requests left, in milliseconds since the first. */
async function startsOf(budgets: string, urls: readonly string[], gapMs = 0): Promise<number[]> {
  const env = fakeEnv(1_000_000);
  const starts: number[] = [];
  const send: Send = async (request) => {
    starts.push(env.now() - 1_000_000);
    return { status: 200, headers: {}, url: request.url, body: new Uint8Array() };
  };
  const keep = keepBudgets(parseBudgets(parseExact(budgets)), env, silentLog);
  if (keep === undefined) throw new Error('no budgets');
  const kept = keep(send);
  for (const url of urls) {
    await kept(get(url), { signal: never });
    await env.sleep(gapMs);
  }
  return starts;
}

const five = Array.from({ length: 5 }, (_, i) => `http://h/a?${i}`);

describe('a budget', () => {
  test('lets so many requests go, and the next when the first is long enough ago', async () => {
    expect(await startsOf('[{"calls": 2, "per": "10 seconds"}]', five)).toEqual([
      0, 0, 10_000, 10_000, 20_000,
    ]);
    expect(await startsOf('[{"calls": 2, "per": 10}]', five, 4000)).toEqual([
      0, 4000, 10_000, 14_000, 20_000,
    ]);
  });

  test('counts the paths that it is for', async () => {
    const urls = ['http://h/reports/1', 'http://h/users', 'http://h/reports/2', 'http://h/users'];
    expect(await startsOf('[{"calls": 1, "per": "1 minute", "path": "^/reports"}]', urls)).toEqual([
      0, 0, 60_000, 60_000,
    ]);
  });

  test('holds beside others', async () => {
    const both = '[{"calls": 2, "per": "1 second"}, {"calls": 3, "per": "1 minute"}]';
    expect(await startsOf(both, five)).toEqual([0, 0, 1000, 60_000, 60_000]);
  });

  test('counts each host by itself', async () => {
    expect(await startsOf('[{"calls": 1, "per": 60}]', ['http://a/', 'http://b/', 'http://a/'])).toEqual([
      0, 0, 60_000,
    ]);
  });

  test('that many wait for holds for all of them, and one that gives up takes no place', async () => {
    const env = fakeEnv(0);
    const sleepers: (() => void)[] = [];
    const slow = {
      ...env,
      sleep: (ms: number) => new Promise<void>((r) => sleepers.push(() => void env.sleep(ms).then(r))),
    };
    const starts: number[] = [];
    const keep = keepBudgets(parseBudgets([{ calls: 1, per: 1 }]), slow, silentLog);
    const kept = keep?.(async (request) => {
      starts.push(env.now());
      return { status: 200, headers: {}, url: request.url, body: new Uint8Array() };
    });
    const giveUp = new AbortController();
    const all = [0, 1, 2].map((i) =>
      kept?.(get(`http://h/${i}`), { signal: i === 1 ? giveUp.signal : never }).catch(() => 'gave up'),
    );
    giveUp.abort();
    while (starts.length < 2) {
      sleepers.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await all[1]).toBe('gave up');
    expect(starts).toEqual([0, 2000]);
  });
});

test.each([
  ['{"calls": 1}', 'is a list'],
  ['[1]', 'is an object'],
  ['[{"calls": 0, "per": 1}]', '`calls`'],
  ['[{"calls": 1.5, "per": 1}]', '`calls`'],
  ['[{"calls": 1}]', '`per`'],
  ['[{"calls": 1, "per": "1 fortnight"}]', '`per`'],
  ['[{"calls": 1, "per": "0 seconds"}]', '`per`'],
  ['[{"calls": 1, "per": ""}]', '`per`'],
  ['[{"calls": 1, "per": "40 days"}]', '`per`'],
  ['[{"call": 1, "per": 1}]', '“call”'],
  ['[{"calls": 1, "per": 1, "path": "("}]', 'cannot be read'],
  ['[{"calls": 1, "per": 1, "path": "(?=a)"}]', 'cannot be read'],
])('%s is refused', (json, message) => {
  expect(() => parseBudgets(parseExact(json))).toThrow(message);
});

test.each([
  ['30', 30_000],
  ['"30"', 30_000],
  ['"1.5 minutes"', 90_000],
  ['"hour"', 3_600_000],
  ['"2 Days"', 172_800_000],
  ['"500 ms"', 500],
])('%s is a time', (per, perMs) => {
  expect(parseBudgets(parseExact(`[{"calls": 1, "per": ${per}}]`))).toMatchObject([{ perMs }]);
});
