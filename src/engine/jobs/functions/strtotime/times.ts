import {
  FRACTION,
  HOUR,
  HOUR_2,
  HOUR_OF_12,
  MERIDIAN,
  MINUTE,
  MINUTE_2,
  SECOND,
  SECOND_2,
  SPACE,
} from './pieces.ts';
import { dropTime, takeTime, Unreadable, type Reading } from './reading.ts';
import { inAnyCase, numberIn, rule, type MatchGroups, type TimeRule } from './rule.ts';

export const TIME_SHORT_12 = `${HOUR_OF_12}[:.]${MINUTE_2}(?:${SPACE})?${MERIDIAN}`;
export const TIME_LONG_12 = `${HOUR_OF_12}[:.]${MINUTE}[:.]${SECOND_2}(?:${SPACE})?${MERIDIAN}`;
export const TIME_SHORT_24 = `[tT]?${HOUR}[:.]${MINUTE}`;
export const TIME_LONG_24 = `[tT]?${HOUR}[:.]${MINUTE}[:.]${SECOND}`;

/** Times of the day alone. */
export const TIME_RULES: readonly TimeRule[] = [
  // 9pm, 9:16 pm, 9:16:05 p.m.
  rule(`${HOUR_OF_12}(?:${SPACE})?${MERIDIAN}`, applyTime),
  rule(TIME_SHORT_12, applyTime),
  rule(TIME_LONG_12, applyTime),
  // 9:16:05:123pm
  rule(`${HOUR_OF_12}:${MINUTE_2}:${SECOND_2}[:.](?<ticks>\\d+)${MERIDIAN}`, applyTime),
  // T21, 21:16, 21:16:05, 21:16:05.123
  rule(`[tT]${HOUR}`, applyTime),
  rule(TIME_SHORT_24, applyTime),
  rule(TIME_LONG_24, applyTime),
  rule(`${TIME_LONG_24}${FRACTION}`, applyTime),
  // 2116; after a time, four digits are a year
  rule(`[tT]?(?<digits>${HOUR_2}${MINUTE_2})`, (reading, groups) => {
    if (reading.times === 0) takeTime(reading, numberIn(groups, 'hour') ?? 0, numberIn(groups, 'minute'));
    else if (reading.times === 1) Object.assign(reading, { year: numberIn(groups, 'digits'), times: 2 });
    else throw new Unreadable('two times');
  }),
  // 211605
  rule(`[tT]?${HOUR_2}${MINUTE_2}${SECOND_2}`, applyTime),
  // a quarter past, a quarter before
  rule(`${inAnyCase('back of ')}${HOUR}(?:(?:${SPACE})?${MERIDIAN})?`, (reading, groups) => {
    dropTime(reading);
    const hour = numberIn(groups, 'hour') ?? 0;
    takeTime(reading, toHour24(hour, groups), 15);
  }),
  rule(`${inAnyCase('front of ')}${HOUR}(?:(?:${SPACE})?${MERIDIAN})?`, (reading, groups) => {
    dropTime(reading);
    const hour = numberIn(groups, 'hour') ?? 0;
    takeTime(reading, toHour24(hour, groups) - 1, 45);
  }),
];

export function applyTime(reading: Reading, groups: MatchGroups): void {
  takeTime(
    reading,
    toHour24(numberIn(groups, 'hour') ?? 0, groups),
    numberIn(groups, 'minute'),
    numberIn(groups, 'second'),
    microsOf(groups),
  );
}

function toHour24(hour: number, groups: MatchGroups): number {
  const meridian = groups['meridian']?.toLowerCase();
  if (meridian === 'a' && hour === 12) return 0;
  return meridian === 'p' && hour !== 12 ? hour + 12 : hour;
}

function microsOf(groups: MatchGroups): number {
  const digits = groups['fraction']?.slice(1) ?? groups['ticks'] ?? '';
  return Number(digits.slice(0, 6).padEnd(6, '0'));
}
