/**
 * Returns the time that a server asks to wait (RFC 9110 sections 5.6.7 and 10.2.3).
 *
 * | value | wait |
 * |---|---|
 * | a number smaller than yesterday's clock | that many seconds |
 * | another number | until that Unix time, in seconds (or milliseconds, if it is too large for seconds) |
 * | a date: IMF-fixdate, RFC 850, asctime | until then |
 * | a time that has passed, a negative number | none |
 *
 * @param nowMs milliseconds since 1970
 * @returns milliseconds; undefined when the value says nothing: absent, zero or unreadable
 */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const waitMs = NUMBER.test(text) ? numberMs(Number(text), nowMs) : dateMs(text, nowMs);
  if (waitMs === undefined || Number.isNaN(waitMs) || waitMs === 0) return undefined;
  return Math.max(waitMs, 0);
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const DAY_S = 86_400;
/** In seconds it is the year 5138: a clock in milliseconds. */
const MILLISECONDS_FROM = 1e11;

function numberMs(value: number, nowMs: number): number {
  if (value < nowMs / 1000 - DAY_S) return value * 1000;
  return (value > MILLISECONDS_FROM ? value : value * 1000) - nowMs;
}

function dateMs(text: string, nowMs: number): number | undefined {
  const at = httpDate(text, nowMs);
  // In whole seconds, as HTTP dates are.
  return at === undefined ? undefined : at - Math.floor(nowMs / 1000) * 1000;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const FIXDATE =
  /^[a-z]{3}, (\d{1,2}) ([a-z]{3}) (\d{4}) (\d\d):(\d\d):(\d\d) (?:GMT|UTC?|Z|([+-])(\d\d):?(\d\d))$/i;
const RFC850 = /^[a-z]{6,9}, (\d\d)-([a-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/i;
const ASCTIME = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/i;

/** Parses a date in one of the three forms of RFC 9110 section 5.6.7 into milliseconds since 1970. */
function httpDate(text: string, nowMs: number): number | undefined {
  let match = FIXDATE.exec(text);
  if (match) {
    const [, day, month, year, hour, minute, second, sign, zoneHours = '0', zoneMinutes = '0'] = match;
    const zoneMs = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000 * (sign === '-' ? -1 : 1);
    const at = utc(Number(year), month, day, hour, minute, second);
    return at === undefined ? undefined : at - zoneMs;
  }
  match = RFC850.exec(text);
  if (match) {
    const [, day, month, year, hour, minute, second] = match;
    return utc(fullYear(Number(year), nowMs), month, day, hour, minute, second);
  }
  match = ASCTIME.exec(text);
  if (!match) return undefined;
  const [, month, day, hour, minute, second, year] = match;
  return utc(Number(year), month, day, hour, minute, second);
}

/** Expands a year of two digits: one that would be more than 50 years ahead is in the past. */
function fullYear(twoDigits: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}

function utc(year: number, month = '', day = '', hour = '', minute = '', second = ''): number | undefined {
  const index = MONTHS.indexOf(month.toLowerCase());
  return index === -1
    ? undefined
    : Date.UTC(year, index, Number(day), Number(hour), Number(minute), Number(second));
}
