import type { Env } from '../lib/env.ts';
import {
  endText,
  type EndEvent,
  type PageEvent,
  type Progress,
  type RequestEvent,
  type WaitEvent,
} from '../engine/extract/progress.ts';
import type { RunProgress } from '../storage/protocol/run.ts';
import { isBadRequest, type RunRequest } from '../storage/protocol/run-requests.ts';
import type { ShownProgress } from './progress.ts';
import { isoTime } from '../lib/iso-time.ts';
import { followTime } from './time-spent.ts';

const EVERY_MS = 1000;
const JOBS = 50;
/** Period over which the rate is measured. */
const RATE_MS = 10_000;
const TEXT = 500;
/** Requests that are told: the first so many, and so many that failed later. */
const REQUESTS = 2000;
const BAD_REQUESTS = 3000;
const ADDRESS = 4000;

type ShownJob = { -readonly [Key in keyof RunProgress['jobs'][number]]: RunProgress['jobs'][number][Key] };

/**
 * Follows a run, and tells how far it is once a second at most, and when it ends.
 *
 * @param startMs when its process began, in milliseconds since 1970
 */
export function createRunProgress(
  env: Env,
  tell: (progress: RunProgress, requests: readonly RunRequest[]) => void,
  startMs = env.now(),
): ShownProgress {
  const spent = followTime(env, startMs);
  const counts = { pages: 0, rows: 0, bytes: 0, requests: 0, retries: 0, waitedMs: 0 };
  const jobs: ShownJob[] = [];
  const marks: { readonly at: number; readonly rows: number }[] = [{ at: env.now(), rows: 0 }];
  let row: string | undefined;
  let last: RunProgress['last'];
  let transfer: RunProgress['transfer'];
  /** Waits end at this time: those of several requests at once count once. */
  let waitedUntil = 0;
  let waiting: { readonly for: WaitEvent['why']; readonly until: number } | undefined;
  let hasNews = false;
  let answered = 0;
  let badLater = 0;
  let requests: RunRequest[] = [];

  const timer = setInterval(say, EVERY_MS);
  timer.unref();

  function say(): void {
    if (!hasNews && transfer === undefined) return;
    hasNews = false;
    const now = env.now();
    const [first] = marks;
    const seconds = Math.max(now - (first?.at ?? now), EVERY_MS) / 1000;
    const rowsPerSecond = Math.round(((counts.rows - (first?.rows ?? 0)) / seconds) * 10) / 10;
    marks.push({ at: now, rows: counts.rows });
    while (marks.length > 1 && now - (marks[0]?.at ?? now) > RATE_MS) marks.shift();
    const isWaiting = waiting !== undefined && waiting.until > now;
    // The rate falls while nothing comes, and the end of a wait is news.
    hasNews = isWaiting || rowsPerSecond > 0;
    const told = requests;
    requests = [];
    const progress: RunProgress = {
      time: isoTime(now),
      ...(row === undefined ? {} : { row }),
      ...counts,
      // The rest of a wait is still to come.
      waitedMs: counts.waitedMs - Math.max(0, Math.round(waitedUntil - now)),
      rowsPerSecond,
      ...(isWaiting && waiting !== undefined
        ? { waiting: { for: waiting.for, until: isoTime(waiting.until) } }
        : {}),
      ...(last === undefined ? {} : { last }),
      ...(transfer === undefined ? {} : { transfer }),
      spent: spent.soFar(),
      jobs,
    };
    tell(progress, told);
  }

  function note({ request, body, isLogin, answer }: RequestEvent): void {
    if (answer === undefined) return;
    answered++;
    const about: RunRequest = {
      number: answered,
      request: request.slice(0, ADDRESS),
      ...(isLogin === true ? { isLogin } : {}),
      ...(body === undefined ? {} : { body: body.slice(0, TEXT) }),
      at: isoTime(env.now()),
      ...('failure' in answer ? { ms: answer.ms, failure: answer.failure.slice(0, TEXT) } : answer),
    };
    if (answered <= REQUESTS || (isBadRequest(about) && ++badLater <= BAD_REQUESTS)) requests.push(about);
  }

  function jobOf(name: string, level: number, of: string | undefined): ShownJob {
    const known = jobs.findLast((job) => job.job === name && job.level === level && job.row === of);
    if (known !== undefined) return known;
    const at = isoTime(env.now());
    const made: ShownJob = {
      ...(of === undefined ? {} : { row: of }),
      job: name.slice(0, TEXT),
      level,
      pages: 0,
      rows: 0,
      bytes: 0,
      startTime: at,
    };
    jobs.push(made);
    if (jobs.length > JOBS) jobs.shift();
    return made;
  }

  const listenerOf = (of: string | undefined): Pick<Progress, 'end' | 'page'> => ({
    page({ job, level, rows, bytes }: PageEvent) {
      row = of;
      for (const each of [counts, jobOf(job, level, of)]) {
        each.pages++;
        each.rows += rows;
        each.bytes += bytes;
      }
      hasNews = true;
    },
    end({ job, level, reason, judgement }: EndEvent) {
      if (level === 0) jobOf(job, level, of).end = endText(reason, judgement).slice(0, TEXT);
      hasNews = true;
    },
  });

  return {
    ...listenerOf(undefined),
    ofRow({ id }) {
      row = id;
      spent.row();
      transfer = undefined;
      hasNews = true;
      return listenerOf(id);
    },
    request(event: RequestEvent) {
      const { request, answer, isLogin = false } = event;
      note(event);
      spent.request(answer === undefined ? 1 : -1, isLogin);
      if (answer === undefined) {
        counts.requests++;
        waiting = undefined;
        last = { request: request.slice(0, TEXT) };
      } else if ('failure' in answer)
        last = { request: request.slice(0, TEXT), failure: answer.failure.slice(0, TEXT), ms: answer.ms };
      else last = { request: request.slice(0, TEXT), status: answer.status, ms: answer.ms };
      hasNews = true;
    },
    wait({ why, ms }: WaitEvent) {
      const until = env.now() + ms;
      spent.wait(until);
      counts.waitedMs += Math.round(Math.max(0, until - Math.max(env.now(), waitedUntil)));
      waitedUntil = Math.max(waitedUntil, until);
      if (why === 'retry') counts.retries++;
      waiting = { for: why, until: env.now() + ms };
      hasNews = true;
    },
    transfer({ direction, name, bytes, totalBytes }) {
      spent.transfer(direction, name);
      transfer = {
        direction,
        name: name.slice(0, TEXT),
        bytes,
        ...(totalBytes === undefined ? {} : { totalBytes }),
      };
    },
    stop() {
      clearInterval(timer);
      hasNews = true;
      say();
    },
  };
}
