import { isNumber, numberOf, type Json } from '../../../lib/json/index.ts';
import { isNumericText, kindOf } from '../../../lib/read-settings.ts';
import { jobError } from '../read-job.ts';

const UNITS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

const LONGEST_MS = 30 * 86_400_000;

/** Parses a duration: seconds as a number, or a text such as `30 seconds`, in milliseconds. */
export function durationOf(value: Json | undefined, at: string): number {
  const ms = isNumber(value) ? numberOf(value) * 1000 : typeof value === 'string' ? msOf(value) : undefined;
  if (ms !== undefined && ms >= 0 && ms <= LONGEST_MS) return ms;
  throw jobError(
    at,
    `A time is expected here, not ${typeof value === 'string' ? `“${value}”` : kindOf(value)}`,
    'Write seconds as a number, or a text such as "30 seconds", "10 minutes" or "2 hours", up to 30 days.',
  );
}

function msOf(text: string): number | undefined {
  if (isNumericText(text)) return Number(text) * 1000;
  const [, amount, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*$/i.exec(text) ?? [];
  const factor = Object.hasOwn(UNITS, unit.toLowerCase()) ? UNITS[unit.toLowerCase()] : undefined;
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}
