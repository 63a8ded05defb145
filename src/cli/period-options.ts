import type { Stretch } from '../engine/jobs/index.ts';
import { valued, type Args, type Option } from './command.ts';
import { isoTime } from '../lib/iso-time.ts';
import { refused } from './parse.ts';

/** A stretch of time that is asked for again. */
export const periodOptions = {
  from: valued(
    'TIME',
    'Ask again for the time from here on, in jobs with windows or a state from the data; no state moves',
  ),
  to: valued('TIME', 'With --from: up to before this time; now by default'),
} as const satisfies Record<string, Option>;

/**
 * @param now milliseconds since 1970
 * @throws {RunError} `command.invalid` for what is no time, and for a period that is empty or runs backward
 */
export async function periodArg(args: Args, now: number): Promise<Stretch | undefined> {
  const [from, to] = [await momentArg(args, 'from', now), await momentArg(args, 'to', now)];
  if (from === undefined && to === undefined) return undefined;
  if (from === undefined)
    throw refused('--to needs --from.', 'Write for example --from 2026-01-01 --to 2026-02-01.');
  if (args.text('replay') !== undefined)
    throw refused(
      '--from does not go with --replay: a run that is played again has the time that it had.',
      'Leave one of the two out.',
    );
  const period = { from, to: to ?? now };
  if (period.from < period.to) return period;
  throw refused(
    `The time ${period.from === period.to ? 'is empty' : 'runs backward'}: from ${isoTime(period.from)} to ${isoTime(period.to)}.`,
    '--to is the moment behind the last one: --from 2026-01-01 --to 2026-02-01 is January.',
  );
}

async function momentArg(
  args: Args,
  name: keyof typeof periodOptions,
  now: number,
): Promise<number | undefined> {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const { momentFrom } = await import('../engine/jobs/index.ts');
  const moment = momentFrom(text, now);
  if (moment !== undefined) return moment;
  throw refused(
    `--${name} is a time, and not “${text}”.`,
    `Write for example --${name} 2026-01-01, or --${name} "2026-01-01 06:00".`,
  );
}
