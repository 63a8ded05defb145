import { timeOf } from './values.tsx';

/** Formats a time in a time zone: `Wed 3 Jun, 06:30`. */
export function zoned(time: number | string, timeZone: string): string {
  const ms = typeof time === 'number' ? time : timeOf(time);
  return new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
  }).format(ms);
}

/** Tells whether the browser knows a zone by this name. */
export function isZone(timeZone: string): boolean {
  try {
    return timeZone !== '' && zoned(0, timeZone) !== '';
  } catch {
    return false;
  }
}
