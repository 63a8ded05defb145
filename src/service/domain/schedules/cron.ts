import { Cron } from 'croner';
import { invalidField } from '../api-error.ts';
import { reasonOf } from '../../../lib/errors.ts';

/** Timing of a schedule: a cron expression in a time zone. */
export interface Timing {
  readonly cron: string;
  readonly timeZone: string;
}

/**
 * Returns the first time of a schedule after a time (both milliseconds since 1970); undefined when there is none.
 *
 * A fixed time of day that daylight saving leaves out is the first time after the gap, and one that comes twice is
 * its first occurrence; a time that repeats within the hours follows the local clock (the rules of Vixie cron).
 */
export function nextTime({ cron, timeZone }: Timing, after: number): number | undefined {
  return open(cron, timeZone).nextRun(new Date(after))?.getTime();
}

/** Returns the last time of a schedule up to a time. The search begins at `from`, a time of the schedule. */
export function lastTime(timing: Timing, from: number, until: number): number {
  const job = open(timing.cron, timing.timeZone);
  const [last] = job.previousRuns(1, new Date(until + 1000));
  const found = last?.getTime() ?? from;
  return found > from && found <= until ? found : from;
}

/** More times than that are not counted one by one. */
const MOST_TIMES = 10_000;

/** Returns `from`, and the times of a schedule behind it up to before `until`; the first 10,000. */
export function timesBefore(timing: Timing, from: number, until: number): readonly number[] {
  const times: number[] = [];
  const job = open(timing.cron, timing.timeZone);
  for (let at: number | undefined = from; at !== undefined && at < until;) {
    times.push(at);
    at = job.nextRun(new Date(at))?.getTime();
    if (times.length === MOST_TIMES) break;
  }
  return times;
}

/** @throws {ApiError} 400 naming the field that is wrong */
export function checkTiming(timing: Timing): void {
  if (!isTimeZone(timing.timeZone))
    throw invalidField(
      'storage.validation',
      'timeZone',
      `"${timing.timeZone}" is no time zone: give an IANA name, such as Europe/Prague.`,
    );
  try {
    open(timing.cron, timing.timeZone);
  } catch (error) {
    const why = reasonOf(error).replace(/^Cron\w*: /, '');
    throw invalidField(
      'storage.validation',
      'cron',
      `"${timing.cron}" is no cron expression of five fields, such as 30 6 * * 1-5: ${why}`,
    );
  }
}

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function open(cron: string, timezone: string): Cron {
  return new Cron(cron, { timezone, paused: true, mode: '5-part' });
}
