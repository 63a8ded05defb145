import { SPACE } from './pieces.ts';
import { countZone, dropTime, takeTime, type Reading, type ShiftPart, type WeekdayRule } from './reading.ts';
import { inAnyCase, rule, type MatchGroups, type TimeRule } from './rule.ts';
import {
  AMOUNT_WORD,
  amountOf,
  DIRECTION,
  UNIT,
  UNIT_WITHOUT_WEEK,
  unitOf,
  WEEKDAY,
  WEEKDAY_NAME,
} from './words.ts';

/** Words that name a moment by themselves. */
export const KEYWORD_RULES: readonly TimeRule[] = [
  rule(inAnyCase('now'), () => undefined),
  rule(`${inAnyCase('today')}|${inAnyCase('midnight')}`, dropTime),
  rule(inAnyCase('noon'), (reading) => {
    dropTime(reading);
    takeTime(reading, 12);
  }),
  rule(inAnyCase('yesterday'), (reading) => {
    dropTime(reading);
    reading.shift.day = -1;
  }),
  rule(inAnyCase('tomorrow'), (reading) => {
    dropTime(reading);
    reading.shift.day = 1;
  }),
  rule('@(?<seconds>-?\\d+)', applyTimestamp),
  rule('@(?<seconds>-?\\d+)\\.(?<micros>\\d{6})', applyTimestamp),
  rule(inAnyCase('first day of'), (reading) => {
    reading.edge = 'first';
  }),
  rule(inAnyCase('last day of'), (reading) => {
    reading.edge = 'last';
  }),
];

/** Steps in words: `monday`, `last friday of`, `next week`, `third month`, `ago`. */
export const STEP_WORD_RULES: readonly TimeRule[] = [
  rule(`${AMOUNT_WORD}${SPACE}${WEEKDAY_NAME}${SPACE}${inAnyCase('of')}`, (reading, groups) => {
    const amount = amountIn(groups);
    step(reading, groups, amount, amount >= 0 ? 'onOrAfter' : 'after');
    reading.special = { kind: amount > 0 ? 'nthOfMonth' : 'lastOfMonth' };
  }),
  rule(inAnyCase('ago'), applyAgo),
  rule(WEEKDAY, (reading, groups) => {
    dropTime(reading);
    const unit = unitOf(groups['unit'] ?? '');
    // the word “weekday” alone is a Monday
    reading.weekday = unit?.kind === 'weekday' ? unit.weekday : 1;
    if (reading.weekdayRule !== 'ofWeek') reading.weekdayRule = 'onOrAfter';
  }),
  rule(`${DIRECTION}${SPACE}${inAnyCase('week')}`, (reading, groups) => {
    reading.shift.day += amountIn(groups) * 7;
    reading.weekdayRule = 'ofWeek';
    reading.weekday ??= 1;
  }),
  rule(`${AMOUNT_WORD}${SPACE}${UNIT_WITHOUT_WEEK}`, (reading, groups) => {
    const amount = amountIn(groups);
    step(reading, groups, amount, amount === 0 ? 'onOrAfter' : 'after');
  }),
];

/** Steps in digits: `-7 days`, `+1 week`, `3 weekdays`. */
export const STEP_RULES: readonly TimeRule[] = [
  rule(`(?<signs>[+-]*)[ \\t]*(?<count>\\d{1,13})(?:${SPACE})?${UNIT}`, (reading, groups) => {
    const minuses = (groups['signs'] ?? '').split('-').length - 1;
    const count = Number(groups['count'] ?? 0);
    step(reading, groups, minuses % 2 === 1 ? 0 - count : count, 'onOrAfter');
  }),
];

function amountIn(groups: MatchGroups): number {
  return amountOf(groups['amount'] ?? '');
}

function step(reading: Reading, groups: MatchGroups, amount: number, rule: WeekdayRule): void {
  const unit = unitOf(groups['unit'] ?? '');
  if (unit?.kind === 'part') reading.shift[unit.part] += amount * unit.size;
  if (unit?.kind === 'weekday') {
    dropTime(reading);
    // the first of them is found without a step
    reading.shift.day += (amount > 0 ? amount - 1 : amount) * 7;
    reading.weekday = unit.weekday;
    reading.weekdayRule = rule;
  }
  if (unit?.kind === 'workdays') {
    dropTime(reading);
    reading.special = { kind: 'workdays', amount };
  }
}

/** Turns all steps before it round. */
function applyAgo(reading: Reading): void {
  // the keys are those of the type: the object is made in one place
  for (const part of Object.keys(reading.shift) as ShiftPart[]) reading.shift[part] = 0 - reading.shift[part];
  if (reading.weekday !== undefined) reading.weekday = reading.weekday === 0 ? -7 : -reading.weekday;
  if (reading.special?.kind === 'workdays')
    reading.special = { kind: 'workdays', amount: 0 - reading.special.amount };
}

/** Applies seconds since 1970 in UTC; the steps after it are added. */
function applyTimestamp(reading: Reading, groups: MatchGroups): void {
  reading.hasDate = false;
  dropTime(reading);
  Object.assign(reading, { year: 0, month: 0, day: 0 });
  if (!countZone(reading)) return;
  Object.assign(reading, { year: 1970, month: 1, day: 1, zone: { offset: 0 } });
  reading.shift.second += Number(groups['seconds']);
  const micros = Number(groups['micros'] ?? 0);
  reading.shift.micros += groups['seconds']?.startsWith('-') === true ? 0 - micros : micros;
}
