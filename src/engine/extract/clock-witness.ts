import type { Headers } from '../shared/message.ts';
import type { Log } from '../../lib/log.ts';
import { remember } from '../../lib/remember.ts';
import type { RecordedAnswer, Exchanges } from '../recording/exchanges.ts';

/** A clock that is off by more than this is told of. */
const TOLD_MS = 5 * 60_000;
/** A clock that is ahead by less than this is as good as right. */
const EXACT_MS = 2000;
/** The header knows whole seconds. */
const SECOND_MS = 1000;
/** An earlier date is that of a server without a clock. */
const OLDEST = Date.UTC(2000, 0, 1);

/**
 * Compares the clock of this machine with the API's, by the header `Date` of its answers. A clock that is ahead would
 * store a state that lies in the API's future, and what comes until then would never be asked for.
 */
export class ClockWitness {
  readonly #log: Log;
  #isTold = false;
  /** The hosts that answered, and what their answers show. */
  readonly #hosts = new Map<string, Ahead>();
  /** When the last answer came by the clock of this machine. */
  #last: Moment = { to: 0, isRecorded: false };
  /** Origin of the last address, and its host: most answers come from one. */
  #known = { origin: '', host: '' };
  /** Place that the last answer was counted for. */
  #lastAhead: { readonly host: string; readonly setting: number; readonly ahead: Ahead } | undefined;
  /** Times that the clock may have been set since the run began. */
  #settings = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns the exchanges with their answers observed: recorded ones by the clock of their time. */
  watch(exchanges: Exchanges): Exchanges {
    return {
      moment: (place) => exchanges.moment(place),
      ask: async (ask, send) => {
        const answer = await exchanges.ask(ask, send);
        this.#see(answer, ask.place.step.job);
        return answer;
      },
      note: (kept, facts) => exchanges.note(kept, facts),
      drop: (place, page) => exchanges.drop(place, page),
      bytes: (at, length) => exchanges.bytes(at, length),
      again: (at) => exchanges.again(at),
    };
  }

  /**
   * Converts a time of the local clock, in milliseconds since 1970, to that of the API: the same unless the local clock
   * is ahead, and rather earlier than later.
   */
  bound(ms: number): number {
    return ms - Math.max(0, ...[...this.#hosts.values()].map(({ mostMs }) => mostMs));
  }

  /** Answers from before the clock was set say nothing of those that come later, nor these of those. */
  #aheadOf(url: string, moment: Moment): Ahead {
    const { to, isRecorded } = this.#last;
    if (isRecorded === moment.isRecorded && moment.to < to - EXACT_MS) this.#settings++;
    this.#last = moment;
    const setting = this.#settings;
    const host = this.#hostOf(url);
    const before = this.#lastAhead;
    const isSame = before?.setting === setting && before.host === host && isRecorded === moment.isRecorded;
    if (isSame) return before.ahead;
    const key = `${setting} ${moment.isRecorded} ${host}`;
    const ahead = this.#hosts.get(key) ?? {
      leastMs: Number.POSITIVE_INFINITY,
      mostMs: Number.POSITIVE_INFINITY,
    };
    this.#hosts.set(key, ahead);
    this.#lastAhead = { host, setting, ahead };
    return ahead;
  }

  #hostOf(url: string): string {
    const { origin, host } = this.#known;
    if (origin !== '' && url.startsWith(`${origin}/`)) return host;
    const parsed = URL.parse(url);
    this.#known = { origin: parsed?.origin ?? '', host: parsed?.host ?? '' };
    return this.#known.host;
  }

  #see({ response, asked, isRecorded }: RecordedAnswer, job: string): void {
    const told = serverTime(response.headers);
    if (asked === undefined || told === undefined) return;
    const { from, to } = asked;
    // the answer was made at some time between
    const least = from - (told + SECOND_MS);
    const most = to - told;
    const ahead = this.#aheadOf(response.url, { to, isRecorded });
    ahead.leastMs = Math.min(ahead.leastMs, least);
    ahead.mostMs = Math.min(ahead.mostMs, least > EXACT_MS ? most : 0);
    if (this.#isTold || (ahead.leastMs <= TOLD_MS && most >= -TOLD_MS)) return;
    this.#isTold = true;
    const isAhead = ahead.leastMs > TOLD_MS;
    this.#log.warn(
      `The clock of this machine is ${lengthText(isAhead ? least : -most)} ${isAhead ? 'ahead of' : 'behind'} that of the API: it was ${timeText(to)} here when the API said ${timeText(told)}. ` +
        `${isAhead ? 'The state is kept by the clock of the API; but w' : 'W'}hat is asked for by time may be wrong: set the clock right`,
      { job },
    );
  }
}

/** When an answer came, and whether it was recorded before. */
interface Moment {
  readonly to: number;
  readonly isRecorded: boolean;
}

/** How far the clock of this machine is ahead of a host, in milliseconds: by no more than any of its answers shows. */
interface Ahead {
  leastMs: number;
  /** 0 where an answer shows that it is not. */
  mostMs: number;
}

/**
 * Returns the time of an answer by the clock of the server, in milliseconds since 1970; undefined without one.
 *
 * @param headers names in lower case
 */
export function serverTime(headers: Headers): number | undefined {
  const time = timeOf(headers['date'] ?? '');
  if (Number.isNaN(time) || time < OLDEST) return undefined;
  // of one that a cache kept
  const age = headers['age'] ?? '';
  return time + (/^\d{1,9}$/.test(age) ? Number(age) * 1000 : 0);
}

/** Reads a date of a header; most answers of a second have the same one. */
const timeOf = remember((date) => (/^[a-z]{3},? .*GMT$/i.test(date) ? Date.parse(date) : Number.NaN));

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function lengthText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}
