import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createHttpClient } from '../../../src/engine/http/client.ts';
import { createHostLimits } from '../../../src/engine/http/host-limits.ts';
import type { LimitStart, LimitTrace } from '../../../src/engine/http/limit-trace.ts';
import type { ApiResponse, Send } from '../../../src/engine/shared/message.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { get, never, recordingLog } from './support.ts';
import { VirtualClock } from './virtual-clock.ts';

interface Server {
  readonly send: Send;
  /** Moments at which it refused, in milliseconds since the first request. */
  readonly refused: readonly number[];
  readonly mostAtOnce: () => number;
  readonly count: () => number;
}

interface Rules {
  /** Status of its refusals. */
  readonly status?: number;
  /** Refuses more at once. */
  readonly atOnce?: number;
  /** Refuses what is more than so many in a second, after as many as fit into a bucket. */
  readonly bucket?: { readonly perSecond: number; readonly size: number };
  /** Refuses no rate from then on. */
  readonly untilMs?: number;
  /** Refuses what comes sooner after the last that it took. */
  readonly apartMs?: number;
  /** Refuses more in any such time. */
  readonly sliding?: { readonly count: number; readonly ms: number };
  /** Has too much to do from one moment to another. */
  readonly away?: readonly [from: number, to: number];
  /** Refuses a part of the requests, whatever it is asked. */
  readonly byChance?: { readonly part: number; readonly status: number; readonly retryAfter?: string };
  /** Refuses the request of that number in its path, for so many times; always by default. */
  readonly never?: number;
  readonly stubborn?: number;
  /** Refuses each one of so many by the number in its path, for so many times. */
  readonly some?: { readonly oneOf: number; readonly times: number };
  /** Refuses each one of so many, so that two in a row are not refused. */
  readonly oneOf?: number;
  /** Refuses more in a window of the clock. */
  readonly calls?: { readonly count: number; readonly ms: number };
  readonly latencyMs: (underWay: number, number: number) => number;
  readonly headers?: (facts: { left: number; resetS: number; isRefused: boolean }) => Record<string, string>;
}

const answer = (url: string, status: number, headers: Record<string, string>): ApiResponse => ({
  status,
  headers,
  url,
  body: new Uint8Array(),
});

function server(
  clock: VirtualClock,
  {
    status = 429,
    atOnce = Infinity,
    calls,
    bucket,
    untilMs = Infinity,
    apartMs = 0,
    sliding = { count: Infinity, ms: 0 },
    away,
    byChance,
    never,
    stubborn = Infinity,
    some,
    oneOf = Infinity,
    latencyMs,
    headers,
  }: Rules,
): Server {
  const startMs = clock.passed();
  const refused: number[] = [];
  let [underWay, most, count, windowAt, inWindow] = [0, 0, 0, startMs, 0];
  let chance = 1;
  const taken: number[] = [];
  let disliked = 0;
  const times = new Map<string, number>();
  const isOneOfSome = (url: string): boolean => {
    if (some === undefined || Number(url.slice('http://h/'.length)) % some.oneOf !== 0) return false;
    times.set(url, (times.get(url) ?? 0) + 1);
    return (times.get(url) ?? 0) <= some.times;
  };
  let [tokens, tokensAt] = [bucket?.size ?? Infinity, startMs];
  const send: Send = async ({ url }) => {
    count++;
    const now = clock.passed();
    if (calls !== undefined && now - windowAt >= calls.ms)
      [windowAt, inWindow] = [windowAt + Math.floor((now - windowAt) / calls.ms) * calls.ms, 0];
    inWindow++;
    if (bucket !== undefined)
      tokens = Math.min(bucket.size, tokens + ((now - tokensAt) / 1000) * bucket.perSecond);
    tokensAt = now;
    const isAway = away !== undefined && now - startMs >= away[0] && now - startMs < away[1];
    const isRate =
      now - startMs < untilMs &&
      ((calls !== undefined && inWindow > calls.count) ||
        tokens < 1 ||
        now - (taken.at(-1) ?? -Infinity) < apartMs ||
        now - (taken.at(-sliding.count) ?? -Infinity) < sliding.ms);
    const isDisliked = url === `http://h/${never}` && ++disliked <= stubborn;
    const isRefused = isAway || underWay >= atOnce || isRate || isDisliked || isOneOfSome(url);
    if (!isRefused) {
      tokens--;
      taken.push(now);
    }
    const facts = {
      left: Math.max(0, (calls?.count ?? 0) - inWindow),
      resetS: Math.ceil((windowAt + (calls?.ms ?? 0) - now) / 1000),
      isRefused,
    };
    const more = headers?.(facts) ?? {};
    if (isRefused) {
      refused.push(now - startMs);
      await clock.sleep(5);
      return answer(url, isAway ? 503 : status, more);
    }
    chance = (chance * 48_271) % 0x7fff_ffff;
    const isUnlucky = byChance !== undefined && chance / 0x7fff_ffff < byChance.part;
    const isItsTurn = count % oneOf === 0;
    if (isUnlucky || isItsTurn) refused.push(now - startMs);
    underWay++;
    most = Math.max(most, underWay);
    await clock.sleep(latencyMs(underWay, count));
    underWay--;
    const told = isUnlucky && byChance.retryAfter !== undefined ? { 'retry-after': byChance.retryAfter } : {};
    return answer(url, isUnlucky ? byChance.status : isItsTurn ? 503 : 200, { ...more, ...told });
  };
  return { send, refused, mostAtOnce: () => most, count: () => count };
}

/** Makes requests, as many ahead as the client wants. @returns how long it took in milliseconds, and more */
async function run(
  rules: Rules,
  requests: number,
  options: {
    starts?: Record<string, LimitStart>;
    maxRetries?: number;
    /** Names of the jobs that requests are for, by their numbers. */
    job?: (number: number) => string;
    sets?: readonly (readonly [at: number, ms: number])[];
    /** Requests to begin with that are made one after another. */
    first?: number;
    concurrency?: number | 'auto';
  } = {},
) {
  const { concurrency = 'auto' } = options;
  const clock = new VirtualClock(options.sets);
  const api = server(clock, rules);
  const log = recordingLog();
  const traces: LimitTrace[] = [];
  const client = createHttpClient({
    env: clock,
    log,
    secrets: new Secrets(),
    bottom: api.send,
    rateLimits: { concurrency },
    hosts: createHostLimits(clock, {
      startOf: ({ origin }) => options.starts?.[origin],
      nameOf: (credentials) => credentials,
      keep: (kept) => void traces.push(...kept),
    }),
    retry: { maxRetries: options.maxRetries ?? 0 },
  });
  const work = async (): Promise<void> => {
    const atWork = new Set<Promise<unknown>>();
    for (let i = 0; i < requests; i++) {
      const one: Promise<unknown> = client
        .send({ ...get(`http://h/${i}`), label: options.job?.(i) ?? 'all' }, { signal: never })
        .finally(() => atWork.delete(one));
      atWork.add(one);
      const ahead = concurrency === 'auto' ? client.ahead() : concurrency;
      while (atWork.size >= (i < (options.first ?? 0) ? 1 : ahead)) await Promise.race(atWork);
    }
    await Promise.all(atWork);
  };
  await clock.until(work());
  await client.close();
  return { ms: clock.passed(), api, traces, log };
}

/** Returns the time that the best fixed number of requests at once takes. */
async function bestOf(rules: Rules, requests: number): Promise<number> {
  const runs = [1, 2, 3, 5, 8, 16, 32].map((concurrency) =>
    run(rules, requests, { concurrency, maxRetries: 10 }).then(
      ({ ms }) => ms,
      () => Infinity,
    ),
  );
  return Math.min(...(await Promise.all(runs)));
}

const steady = (): number => 100;

/** Returns numbers of a normal distribution, the same ones each time. */
function normal(): () => number {
  let state = 1;
  const uniform = (): number => (state = (state * 48_271) % 0x7fff_ffff) / 0x7fff_ffff;
  return () => Array.from({ length: 12 }, uniform).reduce((sum, one) => sum + one, -6);
}

/** Refusals after the first minute, in parts of the requests of that time. */
function late(refused: readonly number[], ms: number, requests: number): number {
  const after = refused.filter((at) => at > 60_000).length;
  return after / Math.max(1, (requests * Math.max(0, ms - 60_000)) / ms);
}

/** Gives refusals a header. */
const retryAfterOf =
  (told: Record<string, string> = {}) =>
  ({ isRefused }: { isRefused: boolean }): Record<string, string> =>
    isRefused ? told : {};

const retryAfter = ({ resetS, isRefused }: { resetS: number; isRefused: boolean }): Record<string, string> =>
  isRefused ? { 'retry-after': String(resetS) } : {};

describe('an API that refuses', () => {
  test('more than five at once is asked five at once', async () => {
    const { ms, api, traces } = await run({ atOnce: 5, latencyMs: steady }, 5000);
    expect(ms).toBeLessThan(1.03 * 100_000);
    expect(late(api.refused, ms, 5000)).toBeLessThan(0.05);
    // at 8, at 6 ten seconds later, and not for three minutes after that
    expect(api.refused.length).toBeLessThan(10);
    expect(api.refused.some((at) => at > 10_000 && at < 20_000)).toBe(true);
    expect(traces[0]?.refused).toBe(api.refused.length);
  });

  test.each([
    [
      'and says how long',
      ({ resetS, isRefused }: { resetS: number; isRefused: boolean }) =>
        isRefused ? { 'retry-after': String(resetS) } : {},
    ],
    ['and says nothing', () => ({})],
    [
      'and says what is left',
      ({ left, resetS }: { left: number; resetS: number }) => ({
        'ratelimit-policy': '"a";q=50;w=10',
        ratelimit: `"a";r=${left};t=${resetS}`,
      }),
    ],
    [
      'and says so as others do',
      ({ left, resetS }: { left: number; resetS: number }) => ({
        'x-ratelimit-remaining': String(left),
        'x-ratelimit-limit': '50',
        'x-ratelimit-reset': String(resetS),
      }),
    ],
  ])('more than 50 in ten seconds %s is asked nearly as often as it takes', async (_how, headers) => {
    const { ms, api } = await run({ calls: { count: 50, ms: 10_000 }, latencyMs: steady, headers }, 1500);
    const best = 29 * 10_000 + 1000;
    expect(ms).toBeLessThan(1.15 * best);
    expect(late(api.refused, ms, 1500)).toBeLessThan(0.05);
  });

  test.each([
    ['300 in a minute', { calls: { count: 300, ms: 60_000 } }, 1800, 300_000 + 30_000],
    ['five in a second, and 50 at the beginning', { bucket: { perSecond: 5, size: 50 } }, 1500, 290_000],
    ['ten in ten seconds', { calls: { count: 10, ms: 10_000 } }, 300, 290_000],
    ['50 in ten seconds, with 503', { status: 503, calls: { count: 50, ms: 10_000 } }, 800, 151_000],
  ])('more than %s without a word gets the pace of it', async (_what, rules, requests, best) => {
    const { ms, api, traces } = await run({ ...rules, latencyMs: steady }, requests);
    expect(ms).toBeLessThan(1.15 * best);
    expect(late(api.refused, ms, requests)).toBeLessThan(0.05);
    expect(traces[0]?.refused).toBe(api.refused.length);
  });

  test.each([
    ['five in a second, and 50 at the beginning,', { bucket: { perSecond: 5, size: 50 } }, 10_200],
    ['ten in a second, and five at the beginning,', { bucket: { perSecond: 10, size: 5 } }, 9700],
  ])('%s is asked nearly as often as it takes by a short run', async (_what, rules, best) => {
    const { ms } = await run({ ...rules, latencyMs: steady }, 100);
    expect(ms).toBeLessThan(1.15 * best);
  });

  test('more than five at once with 429 and a time to wait is not asked for more again soon', async () => {
    const rules = { atOnce: 5, latencyMs: steady, headers: () => ({ 'retry-after': '2' }) };
    const { api } = await run(rules, 1000);
    expect(api.refused.length).toBeGreaterThan(0);
    expect(api.refused.every((at) => at < 1000)).toBe(true);
  });

  test.each([
    ['three in a second', { bucket: { perSecond: 3, size: 5 } }, 60, 200, 65_000],
    ['ten in a second, one after the other,', { bucket: { perSecond: 10, size: 1 } }, 30, 300, 30_000],
    ['60 in a second with 503', { status: 503, bucket: { perSecond: 60, size: 5 } }, 60, 1000, 40_000],
  ])(
    'a bucket of %s is refused seldom while its pace is found',
    async (_what, rules, latency, requests, most) => {
      const { ms, api } = await run({ ...rules, latencyMs: () => latency }, requests);
      expect(ms).toBeLessThan(1.2 * most);
      expect(api.refused.length).toBeLessThan(60);
    },
  );

  test.each([
    [1000, Infinity],
    [30_000, Infinity],
    [110_000, Infinity],
    [50_000, 5],
  ])('all for %s ms is asked soon after that, and as before (%s at once)', async (outage, atOnce) => {
    const rules = { away: [2000, 2000 + outage], atOnce, latencyMs: steady } as const;
    const { ms, api, traces } = await run(rules, 3000, { maxRetries: 5 });
    expect(ms).toBeLessThan(1.15 * outage + 1.1 * (300_000 / Math.min(32, atOnce)));
    expect(traces[0]?.limit).toBe(Math.min(32, atOnce));
    // those under way, one after another, and the next one beyond what it takes
    expect(api.refused.length).toBeLessThan(90);
    // it is not what it takes at once that was refused
    const back = traces[0]?.changes.find(({ from, to, atMs }) => atMs > 2000 + outage && to > from);
    expect(atOnce === 5 || back?.to === 32).toBe(true);
  });

  test('more than 50 in any ten seconds is asked nearly as often as it takes', async () => {
    const { ms, api } = await run({ sliding: { count: 50, ms: 10_000 }, latencyMs: steady }, 1500);
    expect(ms).toBeLessThan(1.1 * (29 * 10_000 + 1000));
    expect(late(api.refused, ms, 1500)).toBeLessThan(0.04);
  });

  test.each([
    ['a second after the last, and says so,', 1000, 60, 300, { 'retry-after': '1' }],
    ['a tenth of a second after the last, and names five seconds,', 100, 60, 600, { 'retry-after': '5' }],
    ['50 ms after the last and answers in 800 ms', 50, 800, 1000, undefined],
  ])('what comes sooner than %s gets time between', async (_what, apartMs, latency, requests, told) => {
    const rules = { apartMs, latencyMs: () => latency, headers: retryAfterOf(told) };
    const { ms, api } = await run(rules, requests);
    expect(ms).toBeLessThan(1.15 * (await bestOf(rules, requests)));
    // more than twice the time between them is lost to pauses that are told, and to a pace that is found
    expect(ms).toBeLessThan(2.6 * requests * apartMs);
    expect(late(api.refused, ms, requests)).toBeLessThan(0.05);
  });

  test('a rate that is refused no more becomes faster', async () => {
    const rules = { calls: { count: 50, ms: 10_000 }, untilMs: 60_000, latencyMs: steady };
    const { ms, api } = await run(rules, 8000);
    expect(api.refused.length).toBeGreaterThan(5);
    expect(ms).toBeLessThan(700_000);
  });

  test('a bucket that is away for a while keeps the pace that it had', async () => {
    const rules = { bucket: { perSecond: 25, size: 20 }, away: [2308, 52_308], latencyMs: () => 30 } as const;
    const { ms, api } = await run(rules, 1000);
    expect(ms).toBeLessThan(1.15 * (50_000 + 1000 * 40));
    expect(api.refused.length).toBeLessThan(120);
  });

  test('what is slow as well finds the number that its rate needs', async () => {
    const rules = { calls: { count: 50, ms: 10_000 }, latencyMs: () => 1000, headers: retryAfter };
    const { ms, api } = await run(rules, 1500);
    expect(ms).toBeLessThan(1.15 * 30 * 10_000);
    expect(late(api.refused, ms, 1500)).toBeLessThan(0.05);
  });

  test.each([
    { status: 503, part: 0.02 },
    { status: 429, part: 0.02 },
    { status: 503, part: 0.05 },
    { status: 429, part: 0.05 },
  ])('$part of the requests by chance with $status is asked as one that takes all', async (byChance) => {
    const { ms, api, traces } = await run({ byChance, latencyMs: steady }, 3000, { maxRetries: 10 });
    expect(api.refused.length).toBeGreaterThan(2500 * byChance.part);
    expect(ms).toBeLessThan((byChance.part < 0.05 ? 1.1 : 1.15) * (3000 / 32) * 100);
    expect(traces[0]?.refused).toBe(api.refused.length);
  });

  test('one of a hundred by chance with 503 and a time to wait does not keep others waiting', async () => {
    const byChance = { part: 0.01, status: 503, retryAfter: '1' };
    const { ms, api, traces, log } = await run({ byChance, latencyMs: steady }, 3000, { maxRetries: 10 });
    expect(ms).toBeLessThan(1.2 * (3000 / 32) * 100);
    expect(traces[0]?.changes.every(({ from, to }) => from < to)).toBe(true);
    expect(log.lines.filter(({ message }) => message.startsWith('Retrying in 1 second'))).toHaveLength(
      api.refused.length,
    );
  });

  test('two of a hundred by chance with 429 and a time to wait do not keep others waiting', async () => {
    const byChance = { part: 0.02, status: 429, retryAfter: '1' };
    // waits for that time cost no retry
    const { ms, api, traces } = await run({ byChance, latencyMs: steady }, 3000);
    expect(api.refused.length).toBeGreaterThan(40);
    expect(ms).toBeLessThan(1.15 * (await bestOf({ byChance, latencyMs: steady }, 3000)));
    expect(traces[0]?.limit).toBe(32);
  });

  test('two of a hundred that are refused four times each keep no others waiting', async () => {
    const rules = { some: { oneOf: 50, times: 4 }, latencyMs: steady };
    const { ms, api } = await run({ ...rules, headers: retryAfterOf({ 'retry-after': '1' }) }, 3000);
    expect(api.refused).toHaveLength((3000 / 50) * 4);
    // the last ones wait for their four seconds
    expect(ms).toBeLessThan(1.2 * (3000 / 32) * 100 + 4000);
  });

  test.each([{ never: 10 }, { some: { oneOf: 50, times: Infinity } }])(
    'what is always refused costs retries while others are taken: %o',
    async (which) => {
      let answers = 0;
      const headers = ({ isRefused }: { isRefused: boolean }): Record<string, string> => {
        answers++;
        return isRefused ? { 'retry-after': '1' } : {};
      };
      await expect(run({ ...which, latencyMs: steady, headers }, 5000, { maxRetries: 2 })).rejects.toThrow(
        '429',
      );
      // five times, and two retries, of a second each
      expect(answers).toBeLessThan(9 * 320);
    },
  );

  test('a request that is refused alone again and again costs retries in the end, and keeps no others waiting', async () => {
    const rules = { never: 10, latencyMs: steady, headers: retryAfterOf({ 'retry-after': '1' }) };
    const failing = run(rules, 3000, { maxRetries: 2 });
    await expect(failing).rejects.toThrow('429');
    const { ms, api, traces } = await run({ ...rules, stubborn: 8 }, 3000, { maxRetries: 3 });
    expect(api.refused).toHaveLength(8);
    expect(ms).toBeLessThan(1.3 * (3000 / 32) * 100);
    expect(traces[0]?.limit).toBe(32);
  });

  test.each([
    [0.01, 0.05],
    [0.05, 0.1],
  ])('%s by chance does not slow down what has a pace more and more', async (part, most) => {
    const rules = { byChance: { part, status: 503 }, bucket: { perSecond: 20, size: 5 }, latencyMs: steady };
    const { ms, api } = await run(rules, 4000, { maxRetries: 10 });
    expect(ms).toBeLessThan(1.15 * (await bestOf(rules, 4000)));
    expect(late(api.refused, ms, 4000)).toBeLessThan(most);
  });

  test.each([
    { oneOf: 16, isCut: false },
    { oneOf: 7, isCut: true },
  ])('one of $oneOf, and never two in a row: fewer at once, $isCut', async ({ oneOf, isCut }) => {
    const { traces } = await run({ oneOf, latencyMs: steady }, 1500, { maxRetries: 10 });
    const cuts = traces[0]?.changes.filter(({ from, to }) => to < from) ?? [];
    expect(cuts.length > 0).toBe(isCut);
    expect(traces[0]?.limit === 32).toBe(!isCut);
  });

  test('by chance, and more than 16 at once, is asked 16 at once', async () => {
    const rules = { byChance: { part: 0.02, status: 503 }, atOnce: 16, latencyMs: steady };
    const { ms, api } = await run(rules, 3000, { maxRetries: 10 });
    expect(ms).toBeLessThan(1.15 * (await bestOf(rules, 3000)));
    expect(api.refused.length).toBeLessThan(3000 / 20);
  });

  test.each([429, 503])('all with %s is given up in the end, and not within a minute', async (status) => {
    const clock = new VirtualClock();
    const api = server(clock, { status, atOnce: 0, latencyMs: steady });
    const client = createHttpClient({
      env: clock,
      log: recordingLog(),
      secrets: new Secrets(),
      bottom: api.send,
      rateLimits: { concurrency: 'auto' },
      retry: { maxRetries: 0 },
    });
    const work = client.send(get('http://h/1'), { signal: never });
    await expect(clock.until(work)).rejects.toThrow(String(status));
    expect(clock.passed()).toBeGreaterThan(60_000);
    expect(clock.passed()).toBeLessThan(150_000);
    expect(api.count()).toBeLessThan(50);
    await client.close();
  });
});

test('an API that slows down is not asked more and more', async () => {
  const { ms, traces } = await run({ latencyMs: (underWay) => 100 * Math.max(1, underWay / 4) }, 2000);
  expect(ms).toBeLessThan(1.05 * 50_000);
  expect(traces[0]?.limit).toBeLessThan(9);
  expect(traces[0]?.changes.every(({ to }) => to >= 3)).toBe(true);
});

test('an API that slows down by more than it is asked is asked five at once from the start', async () => {
  const { ms } = await run({ latencyMs: (n) => 100 * Math.max(1, (n / 5) ** 2) }, 1000);
  expect(ms).toBeLessThan(1.1 * 20_000);
});

test.each([
  { requests: 400, sigma: 0, coldMs: 60, most: 1.12 },
  { requests: 400, sigma: 0.2, coldMs: 60, most: 1.2 },
  { requests: 1000, sigma: 0, coldMs: 60, most: 1.06 },
  { requests: 1000, sigma: 0.2, coldMs: 60, most: 1.1 },
  { requests: 1000, sigma: 0.4, coldMs: 0, most: 1.15 },
])(
  'an API that slows down, whose times vary by $sigma and whose first answers are late, is asked five at once by $requests',
  async ({ requests, sigma, coldMs, most }) => {
    const noise = normal();
    const latencyMs = (n: number, count: number): number =>
      150 * Math.max(1, (n / 5) ** 2) * Math.exp(sigma * noise() - sigma ** 2 / 2) +
      (count <= 4 ? coldMs : 0);
    const { ms, traces } = await run({ latencyMs }, requests);
    expect(ms).toBeLessThan((most * requests * 150) / 5);
    expect([4, 5, 6]).toContain(traces[0]?.limit);
  },
);

test('more at once that brings fewer answers is taken back, and tried again later', async () => {
  const { ms, traces } = await run({ latencyMs: (n) => 100 * Math.max(1, (n / 8) ** 1.5) }, 2000);
  expect(ms).toBeLessThan(1.1 * 25_000);
  expect(traces[0]?.changes.slice(0, 5).map(({ from, to }) => `${from} → ${to}`)).toEqual([
    '4 → 8',
    '8 → 16',
    '16 → 8',
    '8 → 11',
    '11 → 8',
  ]);
});

test('one job whose answers take longer than those of another is not held by them', async () => {
  const { traces } = await run({ latencyMs: (_n, count) => (count > 20 ? 300 : 50) }, 600, {
    job: (number) => (number >= 20 ? 'child' : 'list'),
  });
  expect(traces[0]?.limit).toBe(32);
});

test('an API that takes all is asked 32 at once, and where times vary as well', async () => {
  // 4, 8, 16 and then 32 in each round, and not all of what is tried at the same moment
  expect((await run({ latencyMs: steady }, 60)).ms).toBeLessThanOrEqual(460);
  expect((await run({ latencyMs: steady }, 100)).ms).toBeLessThanOrEqual(630);
  expect((await run({ latencyMs: steady }, 3000)).ms).toBeLessThanOrEqual(9660);
  expect((await run({ latencyMs: (_n, i) => 50 + ((i * 7919) % 101) }, 100)).ms).toBeLessThan(800);
  const noisy = await run({ latencyMs: (_n, i) => 50 + ((i * 7919) % 101) }, 3000);
  expect(noisy.ms).toBeLessThan(1.15 * (3000 / 32) * 100);
});

test('a limit that the API declares is kept, and a run begins where it is told to', async () => {
  const declared = await run(
    {
      atOnce: 4,
      latencyMs: steady,
      headers: () => ({ 'ratelimit-policy': '"p";q=4;qu="concurrent-requests"' }),
    },
    500,
  );
  expect(declared.api.refused).toEqual([]);
  expect(declared.api.mostAtOnce()).toBe(4);
  const begun = await run({ latencyMs: steady }, 12, {
    starts: { 'http://h': { limit: 12, wasRefused: false } },
  });
  expect(begun.ms).toBe(100);
});

test('a run that begins where another one was refused goes on one by one', async () => {
  const starts = { 'http://h': { limit: 12, wasRefused: true } };
  const { api, traces } = await run({ atOnce: 16, latencyMs: steady }, 300, { starts });
  expect(api.refused.length).toBeLessThan(5);
  expect(traces[0]?.changes.slice(0, 4).map(({ to }) => to)).toEqual([13, 14, 15, 16]);
});

test('changes are told with their reasons', async () => {
  const { log, traces } = await run(
    { atOnce: 5, latencyMs: steady, headers: ({ isRefused }) => (isRefused ? { 'retry-after': '2' } : {}) },
    200,
  );
  expect(log.lines.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^Requests at once: 8 → 4 after \d+ requests \(429, Retry-After 2 s\)$/),
  );
  expect(traces[0]?.origin).toBe('http://h');
  expect(traces[0]?.changes.map(({ from, to, why }) => `${from} → ${to}: ${why}`)).toEqual([
    '4 → 8: it was used',
    '8 → 4: 429, Retry-After 2 s',
    '4 → 5: it was used',
  ]);
});

const EMPTY = { 'x-ratelimit-limit': '50', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' };

describe('what an API declares', () => {
  const word = fc.oneof(
    fc.integer({ min: -5, max: 120 }).map(String),
    fc.constantFrom(
      '',
      '-1',
      '0',
      '1e300',
      '9'.repeat(30),
      'soon',
      '"a";r=',
      '"a";r=5;t=5',
      '1700000060',
      '1700000060000',
    ),
    fc.constantFrom(
      '"a";q=4;w=999999999',
      '"a";q=0;qu="concurrent-requests"',
      'limit=5, remaining=0, reset=3',
    ),
    fc.constantFrom('2023-11-14T22:14:00Z', 'Tue, 14 Nov 2023 22:14:00 GMT', '"a";r=0;t=999999999999999'),
  );
  const names = [
    'ratelimit',
    'ratelimit-policy',
    'ratelimit-remaining',
    'ratelimit-reset',
    'ratelimit-limit',
  ];
  const older = ['x-ratelimit-remaining', 'x-ratelimit-reset', 'x-ratelimit-limit', 'x-rate-limit-reset'];
  const fields = fc.dictionary(fc.constantFrom(...names, ...older, 'date', 'age'), word);

  test('is never waited for longer than it says, however it is nonsense', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fields, { minLength: 1, maxLength: 5 }), async (given) => {
        let count = 0;
        const headers = (): Record<string, string> => given[count++ % given.length] ?? {};
        const { ms, api } = await run({ latencyMs: steady, headers }, 60);
        expect(api.count()).toBe(60);
        // each request may be told to wait for two minutes
        expect(ms).toBeLessThan(60 * 125_000);
      }),
      { numRuns: 150 },
    );
  });

  test('is not kept to when nothing is ever left, and all is taken', async () => {
    const { ms, traces } = await run({ latencyMs: steady, headers: () => EMPTY }, 500);
    expect(ms).toBeLessThan(3000);
    expect(traces[0]?.changes.map(({ why }) => why)).toContain(
      'RateLimit: none left, and requests are taken: not kept to',
    );
  });

  test.each([
    ['nothing of one in a minute', () => [0, 1]],
    ['three of a hundred, whatever is asked', () => [3, 100]],
    ['any number, and another one each time', (count: number) => [count % 7, 100]],
  ])('is not kept to for long where %s is left, and all is taken', async (_what, leftOf) => {
    let count = 0;
    const headers = (): Record<string, string> => {
      const [left, quota] = leftOf(++count);
      return { 'ratelimit-policy': `"a";q=${quota};w=60`, ratelimit: `"a";r=${left};t=60` };
    };
    const { ms, api, traces } = await run({ latencyMs: steady, headers }, 1000);
    expect(ms).toBeLessThan(1.3 * (1000 / 32) * 100);
    expect(api.refused).toEqual([]);
    expect(traces[0]?.changes.map(({ why }) => why)).toContainEqual(
      expect.stringMatching(/left, and requests are taken: not kept to$/),
    );
  });

  test('is kept to for one reset where it counts down and is nonsense then', async () => {
    let count = 0;
    const headers = (): Record<string, string> => ({
      'ratelimit-policy': '"a";q=20;w=20',
      ratelimit: `"a";r=${Math.max(0, 20 - ++count)};t=20`,
    });
    const { ms } = await run({ latencyMs: steady, headers }, 1000);
    expect(ms).toBeGreaterThan(20_000);
    expect(ms).toBeLessThan(2.1 * 20_000 + 1.3 * (1000 / 32) * 100);
  });

  test.each([
    [50, 10_000, 100],
    [5, 30_000, 100],
    [2, 10_000, 100],
    [27, 1000, 223],
    [8, 1000, 531],
    [300, 60_000, 1500],
  ])('is never refused where it is true: %s in %s ms, with answers of %s ms', async (count, ms, latency) => {
    const headers = ({ left, resetS }: { left: number; resetS: number }): Record<string, string> => ({
      'ratelimit-policy': `"a";q=${count};w=${ms / 1000}`,
      ratelimit: `"a";r=${left};t=${resetS}`,
    });
    const rules = { calls: { count, ms }, latencyMs: () => latency, headers };
    const { api } = await run(rules, 20 * count, { first: 1 });
    expect(api.refused).toEqual([]);
  });

  test.each([
    ['is true', { count: 1, ms: 60_000 }, 1, 19 * 60_000],
    ['is false', undefined, 0, 60_000],
  ])('is asked for one more, once, where one in a minute %s', async (_what, calls, refused, least) => {
    const headers = ({ resetS }: { resetS: number }): Record<string, string> => ({
      'ratelimit-policy': '"a";q=1;w=60',
      ratelimit: `"a";r=0;t=${calls === undefined ? 60 : resetS}`,
    });
    // one after another, as pages are that name the next one
    const { ms, api } = await run(
      { ...(calls === undefined ? {} : { calls }), latencyMs: steady, headers },
      20,
      {
        first: 20,
      },
    );
    expect(api.refused).toHaveLength(refused);
    expect(ms).toBeGreaterThan(least);
    expect(ms).toBeLessThan(1.05 * least + 20 * 100);
  });

  test.each([-3_600_000, -86_400_000, 3_600_000])('outlives a clock that is set by %s ms', async (by) => {
    const rules = { calls: { count: 50, ms: 10_000 }, latencyMs: steady, headers: retryAfter };
    const { ms } = await run(rules, 500, { sets: [[12_000, by]] });
    expect(ms).toBeLessThan(1.3 * (9 * 10_000 + 1000));
  });
});

test('a request that waits to be sent again gives its place to others', async () => {
  const clock = new VirtualClock();
  const done: number[] = [];
  let count = 0;
  const client = createHttpClient({
    env: clock,
    log: recordingLog(),
    secrets: new Secrets(),
    bottom: async ({ url }) => {
      await clock.sleep(10);
      return answer(url, count++ === 0 ? 500 : 200, {
        'ratelimit-policy': '"p";q=1;qu="concurrent-requests"',
      });
    },
    rateLimits: { concurrency: 'auto' },
    retry: { maxRetries: 3 },
  });
  const send = async (number: number): Promise<void> => {
    await client.send(get(`http://h/${number}`), { signal: never });
    done.push(number);
  };
  await clock.until(Promise.all([0, 1, 2, 3].map(send)));
  expect(done).toEqual([1, 2, 3, 0]);
  expect(clock.passed()).toBeLessThan(1100);
  await client.close();
});
