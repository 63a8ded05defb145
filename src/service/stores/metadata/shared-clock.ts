import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import type { Meta } from './database.ts';
import { databaseNow } from './timestamp.ts';
import { Unready, type Check } from '../../platform/health/readiness.ts';

/** The time of the database, which is one for all processes over it. */
export interface SharedClock {
  /** The world with that time, however wrong the clock of this process is, and becomes. */
  readonly env: Env;
  /** Fails while the clock of this process is wrong. */
  readonly check: Check;
  close(): void;
}

/** How often the database is asked: clocks of machines drift apart by some milliseconds in that time. */
const EVERY_MS = 10_000;

/** An answer that took longer says too little of the moment that it is about. */
const QUICK_MS = 1000;
const TRIES = 5;

/** A clock that is further off than that makes a process unready. */
const OFF_MS = 60_000;

/** The database's time at one moment of the clock that only goes forward. */
interface Sample {
  readonly now: number;
  readonly at: number;
}

/** Asks the database for the time, again and again until it is closed. */
export async function shareClock(meta: Meta, own: Env, log: Log): Promise<SharedClock> {
  const closing = new AbortController();
  let sample = await firstSample(meta);
  const now = (): number => Math.round(sample.now + performance.now() - sample.at);
  const offMs = (): number => own.now() - now();
  let isTold = false;

  function tell(): void {
    const isOff = Math.abs(offMs()) > OFF_MS;
    if (isOff && !isTold) log.warn(`${wrong(offMs())} Until then this process is not ready`);
    isTold = isOff;
  }

  async function goOn(): Promise<void> {
    while (!closing.signal.aborted) {
      await own.sleep(EVERY_MS, closing.signal).catch(() => undefined);
      if (closing.signal.aborted) return;
      // While the database is unavailable, the last sample stays in use.
      const next = await takeSample(meta).catch(() => undefined);
      if (next !== undefined && next.tookMs <= QUICK_MS) sample = next;
      tell();
    }
  }

  tell();
  void goOn();
  return {
    env: { now, randomBytes: (count) => own.randomBytes(count), sleep: own.sleep.bind(own) },
    check: {
      name: 'clock',
      async check() {
        if (Math.abs(offMs()) > OFF_MS) throw new Unready(wrong(offMs()));
        await Promise.resolve();
      },
    },
    close: () => closing.abort(),
  };
}

async function firstSample(meta: Meta): Promise<Sample> {
  let best = await takeSample(meta);
  for (let n = 1; n < TRIES && best.tookMs > QUICK_MS; n++) {
    const next = await takeSample(meta);
    if (next.tookMs < best.tookMs) best = next;
  }
  return best;
}

async function takeSample(meta: Meta): Promise<Sample & { readonly tookMs: number }> {
  const begin = performance.now();
  const now = await databaseNow(meta);
  const tookMs = performance.now() - begin;
  return { now, at: begin + tookMs / 2, tookMs };
}

function wrong(offMs: number): string {
  const seconds = Math.round(Math.abs(offMs) / 1000);
  const [count, unit] =
    seconds < 7200
      ? [seconds, 'seconds']
      : seconds < 172_800
        ? [Math.round(seconds / 3600), 'hours']
        : [Math.round(seconds / 86_400), 'days'];
  const way = offMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this process is ${count} ${unit} ${way} that of the database: set it right.`;
}
