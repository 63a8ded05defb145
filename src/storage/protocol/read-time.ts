/**
 * A time as filters give it: Unix seconds, a date with or without a time (UTC unless it says
 * otherwise), `now`, `today`, `yesterday`, `tomorrow`, or an offset such as `-2 days` or `1 hour ago`. Years have four
 * digits.
 */
export function readTime(text: string, now: number): Date | undefined {
  const given = text.trim();
  if (/^@?-?\d+(?:\.\d+)?$/.test(given) && !/^\d{8}$/.test(given))
    return validDate(Number(given.replace('@', '')) * 1000);
  const named = namedTime(given.toLowerCase(), now);
  if (named !== undefined) return named;
  const [, date, time = '00:00:00', zone = 'Z'] = DATE.exec(given) ?? [];
  if (date === undefined) return offsetTime(given.toLowerCase(), now);
  const day = date.length === 8 ? `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}` : date;
  const offset = /^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
  return validDate(
    Date.parse(`${day}T${time.length === 5 ? `${time}:00` : time}${offset === 'UTC' ? 'Z' : offset}`),
  );
}

const DATE = /^(\d{4}-\d\d-\d\d|\d{8})(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/i;

const DAY_MS = 86_400_000;
const NAMES: Readonly<Record<string, number>> = {
  today: 0,
  midnight: 0,
  yesterday: -DAY_MS,
  tomorrow: DAY_MS,
};

function namedTime(text: string, now: number): Date | undefined {
  if (text === 'now') return new Date(now);
  const shift = Object.hasOwn(NAMES, text) ? NAMES[text] : undefined;
  return shift === undefined ? undefined : new Date(Math.floor(now / DAY_MS) * DAY_MS + shift);
}

/** One or more of `<number> <unit> [ago]`, from now. */
function offsetTime(text: string, now: number): Date | undefined {
  if (text.length > MOST_LETTERS) return undefined;
  const parts = [...text.matchAll(PART)];
  if (parts.length === 0 || text.replaceAll(PART, '').trim() !== '') return undefined;
  const time = new Date(now);
  for (const [, sign = '', count = '', unit = '', ago] of parts) {
    shift(time, Number(count) * (sign === '-' ? -1 : 1) * (ago === undefined ? 1 : -1), unit);
  }
  return validDate(time.getTime());
}

/** No text of a time is longer. */
const MOST_LETTERS = 200;

const PART =
  /\s*([+-]?)\s*(\d{1,9})\s*(sec(?:ond)?|min(?:ute)?|hour|day|week|fortnight|month|year)s?(\s+ago)?(?=[\s+-]|$)/g;

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  sec: 1,
  second: 1,
  min: 60,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 604_800,
  fortnight: 1_209_600,
};

function shift(time: Date, count: number, unit: string): void {
  if (unit === 'month') time.setUTCMonth(time.getUTCMonth() + count);
  else if (unit === 'year') time.setUTCFullYear(time.getUTCFullYear() + count);
  else time.setTime(time.getTime() + count * (UNIT_SECONDS[unit] ?? 0) * 1000);
}

/** Years of four digits alone: others have no form that every database reads. */
function validDate(milliseconds: number): Date | undefined {
  return milliseconds >= FIRST_MS && milliseconds < END_MS ? new Date(milliseconds) : undefined;
}

const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const END_MS = Date.parse('+010000-01-01T00:00:00Z');
