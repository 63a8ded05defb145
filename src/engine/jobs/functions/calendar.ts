/** The proleptic Gregorian calendar with a year 0, in plain integers; months and days count from 1. */
export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export const SECONDS_OF_DAY = 86_400;

/** Days since 1970-01-01. Month and day may lie outside their ranges: `2017, 14, 0` is 2018-01-31. */
export function dayNumber(year: number, month: number, day: number): number {
  const monthsFromMarch = year * 12 + month - 1 - 2;
  const marchYear = Math.floor(monthsFromMarch / 12);
  const marchMonth = monthsFromMarch - marchYear * 12;
  // months from March on have 31, 30, 31, 30, 31 days again and again, so a line goes through their starts
  const dayOfMarchYear = Math.floor((153 * marchMonth + 2) / 5);
  const leaps = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leaps + dayOfMarchYear + day - 1 - DAYS_TO_1970;
}

export function civilDate(days: number): CivilDate {
  let year = Math.floor(days / 365.2425) + 1970;
  while (dayNumber(year, 1, 1) > days) year--;
  while (dayNumber(year + 1, 1, 1) <= days) year++;
  let month = Math.floor((days - dayNumber(year, 1, 1)) / 31) + 1;
  while (month < 12 && dayNumber(year, month + 1, 1) <= days) month++;
  return { year, month, day: days - dayNumber(year, month, 1) + 1 };
}

/** Returns the day of the week: 0 for Sunday to 6 for Saturday. */
export function weekdayOf(days: number): number {
  return modulo(days + 4, 7);
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

export function daysInMonth(year: number, month: number): number {
  return dayNumber(year, month + 1, 1) - dayNumber(year, month, 1);
}

/** Returns week and year of ISO 8601: a week belongs to the year that has its Thursday. */
export function isoWeek(days: number): { readonly year: number; readonly week: number } {
  const thursday = days - modulo(days + 3, 7) + 3;
  const { year } = civilDate(thursday);
  return { year, week: Math.floor((thursday - dayNumber(year, 1, 1)) / 7) + 1 };
}

/** Days since 1970 of a day (1 is Monday; 0 the Sunday before) in a week of ISO 8601. */
export function dayOfIsoWeek(year: number, week: number, weekday: number): number {
  const fourth = dayNumber(year, 1, 4); // January 4 is in week 1 always
  return fourth - modulo(fourth + 3, 7) + (week - 1) * 7 + weekday - 1;
}

/** Returns the remainder with the sign of the divisor. */
export function modulo(value: number, divisor: number): number {
  return value - Math.floor(value / divisor) * divisor;
}

/** Days from 0000-03-01 to 1970-01-01. */
const DAYS_TO_1970 = 719_468;
