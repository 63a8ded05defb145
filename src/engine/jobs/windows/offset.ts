import { toText, type Json } from '../../../lib/json/index.ts';
import type { ClockZone } from '../functions/date.ts';

/** Returns the offset that a time is written with, such as `+02:00`; undefined for one in UTC or without any. */
export function writtenOffset(value: Json | undefined): ClockZone | undefined {
  if (typeof value !== 'string') return undefined;
  const found = /\d:\d{2}(?::\d{2}(?:[.,]\d+)?)? ?(([+-])(\d{2}):?(\d{2}))$/.exec(toText(value).trim());
  if (found === null) return undefined;
  const [, name = '', sign, hours, minutes] = found;
  const seconds = (Number(hours) * 60 + Number(minutes)) * 60 * (sign === '-' ? -1 : 1);
  return { name, offsetAt: () => seconds };
}

/** Tells whether a format writes the offset, so that a time in any zone is the same moment. */
export function writesOffset(format: string): boolean {
  return /[OPcr]/.test(format.replace(/\\[^]/g, ''));
}
