import { read } from './strtotime/read-date.ts';
import { resolve } from './strtotime/resolve.ts';

/** No text of a time is longer. */
const MOST_LETTERS = 1000;

/**
 * Returns the seconds since 1970 of a text in the date formats of PHP 7.4: dates and times in digits or words, ISO
 * 8601, `@1490000000`, and steps such as `-7 days`, `last monday`, `first day of next month`. Parts that the text
 * leaves open come from the base; a text without a zone is in UTC.
 *
 * @param base seconds since 1970
 * @returns false when the text cannot be read
 */
export function strtotime(text: string, base: number): number | false {
  if (text.length > MOST_LETTERS) return false;
  const reading = read(text);
  return reading === undefined ? false : resolve(reading, base);
}
