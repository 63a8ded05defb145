// @module-tag thorough
import { describe, expect, test } from 'vitest';
import { createHttpClient } from '../../../src/engine/http/client.ts';
import { createHostLimits } from '../../../src/engine/http/host-limits.ts';
import type { LimitTrace } from '../../../src/engine/http/limit-trace.ts';
import { systemEnv } from '../../../src/lib/env.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { get, never, recordingLog, startApi } from './support.ts';

/** Answers later than the times of connections, and waits shorter than those of real APIs. */
const ANSWER_MS = 60;

interface Punishing {
  /** Refuses more at once. */
  readonly atOnce?: number;
  /** Refuses more in a window. */
  readonly window?: { readonly count: number; readonly ms: number };
  readonly latencyMs?: (underWay: number) => number;
}

/** Asks a real server on loopback. @returns what it refused, by the numbers of its requests, and the limit at the end */
async function ask({ atOnce = Infinity, window, latencyMs = () => ANSWER_MS }: Punishing, requests: number) {
  const refused: number[] = [];
  let [underWay, windowAt, inWindow] = [0, 0, 0];
  const api = await startApi((response, _seen, count) => {
    if (window !== undefined && Date.now() - windowAt >= window.ms) [windowAt, inWindow] = [Date.now(), 0];
    if (underWay >= atOnce || ++inWindow > (window?.count ?? Infinity)) {
      refused.push(count);
      response.writeHead(429).end();
      return;
    }
    underWay++;
    setTimeout(() => {
      underWay--;
      response.end('[]');
    }, latencyMs(underWay));
  });
  const traces: LimitTrace[] = [];
  const client = createHttpClient({
    env: systemEnv,
    log: recordingLog(),
    secrets: new Secrets(),
    rateLimits: { concurrency: 'auto' },
    hosts: createHostLimits(systemEnv, {
      startOf: () => undefined,
      nameOf: (credentials) => credentials,
      keep: (kept) => void traces.push(...kept),
    }),
    retry: { maxRetries: 0 },
  });
  await Promise.all(
    Array.from({ length: requests }, (_, i) => client.send(get(`${api.url}/${i}`), { signal: never })),
  );
  await client.close();
  return { refused, limit: traces[0]?.limit, sent: api.seen.length };
}

describe('a real server that punishes', () => {
  test('more than five at once refuses few, and none after a while', async () => {
    const { refused, limit, sent } = await ask({ atOnce: 5 }, 300);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(sent / 20);
    expect(limit).toBeLessThanOrEqual(6);
  });

  test('more than 25 in a second refuses few after a while', async () => {
    const { refused, sent } = await ask({ window: { count: 25, ms: 1000 } }, 200);
    expect(refused.length).toBeGreaterThan(0);
    const half = sent / 2;
    expect(refused.filter((count) => count > half).length).toBeLessThan(0.1 * half);
  });

  test('more than five at once by slower answers is asked about five at once', async () => {
    const { refused, limit } = await ask({ latencyMs: (n) => ANSWER_MS * Math.max(1, (n / 5) ** 2) }, 250);
    expect(refused).toEqual([]);
    expect(limit).toBeGreaterThan(2);
    expect(limit).toBeLessThan(9);
  });
});
