import type { Env } from '../lib/env.ts';
import type { RunSpent } from '../storage/protocol/run.ts';

/** Follows what a run spends its time on: each moment counts once, however much is under way. */
export interface TimeSpent {
  /** Called when a request goes out (1), and when it is answered or given up (-1). */
  request(change: -1 | 1, isLogin: boolean): void;
  /** Called when it is to wait until a time, as long as no request is under way. */
  wait(until: number): void;
  /** Called while a file is moved between the run and the storage. */
  transfer(direction: 'download' | 'upload', name: string): void;
  /** Called when the next row of the configuration begins. */
  row(): void;
  /** Returns the milliseconds so far. */
  soFar(): RunSpent;
}

type Part = keyof RunSpent;

/** @param startMs when the process began, in milliseconds since 1970 */
export function followTime(env: Pick<Env, 'now'>, startMs: number): TimeSpent {
  const spent: Record<Part, number> = {
    startMs: 0,
    loginMs: 0,
    requestsMs: 0,
    waitingMs: 0,
    inputMs: 0,
    writingMs: 0,
    uploadMs: 0,
    importMs: 0,
  };
  const underWay = { logins: 0, requests: 0 };
  let markMs = startMs;
  let waitsUntil = 0;
  /** Part that counts while nothing else is under way. */
  let rest: Part = 'startMs';
  let moved = '';

  /** Adds the time since the last mark to what it was spent on. */
  function add(to: Record<Part, number>, now: number): void {
    if (underWay.logins > 0) to.loginMs += now - markMs;
    else if (underWay.requests > 0) to.requestsMs += now - markMs;
    else {
      const waitedMs = Math.max(0, Math.min(now, waitsUntil) - markMs);
      to.waitingMs += waitedMs;
      to[rest] += now - markMs - waitedMs;
    }
  }

  function mark(): void {
    // A clock that is set back takes nothing away.
    const now = Math.max(markMs, env.now());
    add(spent, now);
    markMs = now;
  }

  return {
    request(change, isLogin) {
      mark();
      underWay[isLogin ? 'logins' : 'requests'] += change;
      rest = 'writingMs';
      moved = '';
    },
    wait(until) {
      mark();
      waitsUntil = Math.max(waitsUntil, until);
    },
    transfer(direction, name) {
      // The time between two looks at the same file went into moving it; behind the last one the storage is at work.
      const isSame = moved === `${direction} ${name}`;
      if (isSame && direction === 'upload') rest = 'uploadMs';
      mark();
      moved = `${direction} ${name}`;
      rest = direction === 'upload' ? 'importMs' : 'inputMs';
    },
    row() {
      mark();
      rest = 'writingMs';
      moved = '';
    },
    soFar() {
      const sum = { ...spent };
      add(sum, Math.max(markMs, env.now()));
      return Object.fromEntries(Object.entries(sum).map(([part, ms]) => [part, Math.round(ms)])) as Record<
        Part,
        number
      >; // of the same keys
    },
  };
}
