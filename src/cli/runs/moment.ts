import { isoTime } from '../../lib/iso-time.ts';
import type { Args } from '../command.ts';
import { refused } from '../parse.ts';

/** Returns the time that an option says, as ISO 8601 text. @throws {RunError} `command.invalid` for what is no time */
export async function momentOption(args: Args, name: string, now: number): Promise<string | undefined> {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const { momentFrom } = await import('../../engine/jobs/index.ts');
  const moment = momentFrom(text, now);
  if (moment !== undefined) return isoTime(moment);
  throw refused(
    `--${name} is a time, and not “${text}”.`,
    `Write for example --${name} yesterday, --${name} "-2 hours" or --${name} 2026-03-01.`,
  );
}
