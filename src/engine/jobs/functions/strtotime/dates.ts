import { dayNumber, dayOfIsoWeek } from '../calendar.ts';
import {
  DAY,
  DAY_2,
  DAY_OF_YEAR,
  FRACTION,
  HOUR,
  HOUR_2,
  LONG_YEAR,
  MINUTE,
  MINUTE_2,
  MONTH,
  MONTH_2,
  OFFSET,
  SECOND,
  SECOND_2,
  SIGNED_YEAR_4,
  SPACE,
  WEEK_2,
  YEAR,
  YEAR_2,
  YEAR_4,
  ZONE,
} from './pieces.ts';
import { takeDate, type Reading } from './reading.ts';
import { numberIn, rule, type MatchGroups, type TimeRule } from './rule.ts';
import { applyTime, TIME_LONG_12, TIME_LONG_24, TIME_SHORT_12, TIME_SHORT_24 } from './times.ts';
import { MONTH_NAME, MONTH_TEXT, monthOf, SHORT_MONTH_NAME } from './words.ts';
import { applyZone } from './zones.ts';

const MONTH_DAY = `${MONTH_TEXT}[ .\\t-]*${DAY}(?:[,.stndrh\\t ]+|$)`;

/** Dates, alone and with a time in one piece. */
export const DATE_RULES: readonly TimeRule[] = [
  // 10/21, 10/21/2017
  rule(`${MONTH}/${DAY}`, applyDate),
  rule(`${MONTH}/${DAY}/${YEAR}`, applyDate),
  // 2017-10-21, 2017/10/21, 17-10-21, +12017-10-21
  rule(`${SIGNED_YEAR_4}-${MONTH_2}-${DAY_2}`, applyDate),
  rule(`${YEAR_4}/${MONTH_2}/${DAY_2}/?`, applyDate),
  rule(`${YEAR_4}/${MONTH}/${DAY}`, applyDate),
  rule(`${YEAR_2}-${MONTH_2}-${DAY_2}`, applyDate),
  rule(`${LONG_YEAR}-${MONTH_2}-${DAY_2}`, applyDate),
  // 2017-10, 2017-1-2
  rule(`${YEAR_4}-${MONTH}`, applyMonth),
  rule(`${YEAR}-${MONTH}-${DAY}`, applyDate),
  // 21 October 2017, 21-oct-17, 21.X.2017
  rule(`${DAY}[ \\t.-]*${MONTH_TEXT}[ \\t.-]*${YEAR}`, applyDate),
  // 21.10.2017, 21-10-2017, 21.10.77
  rule(`${DAY}[.\\t-]${MONTH}[.-]${YEAR_4}`, applyDate),
  rule(`${DAY}[.\\t]${MONTH}\\.${YEAR_2}`, applyDate),
  // October 2017, 2017-oct
  rule(`${MONTH_TEXT}[ .\\t-]*${YEAR_4}`, applyMonth),
  rule(`${YEAR_4}[ .\\t-]*${MONTH_TEXT}`, applyMonth),
  // October 21st, 2017; October 21st; 21 October
  rule(`${MONTH_TEXT}[ .\\t-]*${DAY}[,.stndrh\\t ]+${YEAR}`, applyDate),
  rule(MONTH_DAY, applyDate),
  rule(`${DAY}[ .\\t-]*${MONTH_TEXT}`, applyDate),
  // 20171021
  rule(`${YEAR_4}${MONTH_2}${DAY_2}`, applyDate),
  // 20171021T21:16:05, 20171021t211605, 20171021211605
  rule(`${YEAR_4}${MONTH_2}${DAY_2}T${HOUR}:${MINUTE_2}:${SECOND_2}`, applyDateTime),
  rule(`${YEAR_4}${MONTH_2}${DAY_2}[tT]${HOUR}${MINUTE_2}${SECOND_2}`, applyDateTime),
  rule(`${YEAR_4}${MONTH_2}${DAY_2}${HOUR_2}${MINUTE_2}${SECOND_2}`, applyDateTime),
  // 2017-10-21T21:16:05.123+02:00, 2017-10-21T21:16:05
  rule(`${YEAR_4}-${MONTH_2}-${DAY_2}T${HOUR_2}:${MINUTE_2}:${SECOND_2}${FRACTION}${OFFSET}?`, applyDateTime),
  rule(`${YEAR_4}-${MONTH}-${DAY}T${HOUR}:${MINUTE}:${SECOND}`, applyDateTime),
  // 2017:10:21 21:16:05, as in the metadata of pictures
  rule(`${YEAR_4}:${MONTH_2}:${DAY_2} ${HOUR_2}:${MINUTE_2}:${SECOND_2}`, applyDateTime),
  // 2017.294, 2017294
  rule(`${YEAR_4}\\.?${DAY_OF_YEAR}`, (reading, groups) =>
    takeDate(reading, { year: numberIn(groups, 'year'), month: 1, day: numberIn(groups, 'dayOfYear') }),
  ),
  // 2017-W42-3, 2017W42
  rule(`${YEAR_4}-?W${WEEK_2}(?:-?(?<weekday>[0-7]))?`, applyWeek),
  // May-09-78, 78-Dec-22
  rule(`${SHORT_MONTH_NAME}-${DAY_2}-${YEAR}`, applyDate),
  rule(`${YEAR}-${SHORT_MONTH_NAME}-${DAY_2}`, applyDate),
  // 10/Oct/2000:13:55:36 -0700, as in the logs of web servers
  rule(
    `${DAY}/${SHORT_MONTH_NAME}/${YEAR_4}:${HOUR_2}:${MINUTE_2}:${SECOND_2}${SPACE}${OFFSET}`,
    applyDateTime,
  ),
  // 1978: no date by itself
  rule(YEAR_4, (reading, groups) => {
    reading.year = numberIn(groups, 'year') ?? 0;
  }),
  // May
  rule(MONTH_NAME, applyDate),
];

/** `Oct 21 21:16`: a rule of its own, lest the hour be taken for a year. */
export const DATED_TIME_RULES: readonly TimeRule[] = [
  TIME_SHORT_12,
  TIME_LONG_12,
  TIME_SHORT_24,
  TIME_LONG_24,
  `${TIME_LONG_24}${FRACTION}`,
  `${TIME_LONG_24}(?:${SPACE})?${ZONE}`,
].map((time) => rule(MONTH_DAY + time, applyDateTime));

function applyDate(reading: Reading, groups: MatchGroups): void {
  const { year, monthName } = groups;
  takeDate(reading, {
    year: year === undefined ? undefined : fullYear(year),
    month: monthName === undefined ? numberIn(groups, 'month') : monthOf(monthName),
    day: numberIn(groups, 'day'),
  });
}

/** Applies a month of a year, which starts on its first day. */
function applyMonth(reading: Reading, groups: MatchGroups): void {
  applyDate(reading, { ...groups, day: '1' });
}

function applyDateTime(reading: Reading, groups: MatchGroups): void {
  applyDate(reading, groups);
  applyTime(reading, groups);
  if (groups['zone'] !== undefined) applyZone(reading, groups['zone']);
}

function applyWeek(reading: Reading, groups: MatchGroups): void {
  const year = numberIn(groups, 'year') ?? 0;
  takeDate(reading, { year, month: 1, day: 1 });
  const day = dayOfIsoWeek(year, numberIn(groups, 'week') ?? 1, numberIn(groups, 'weekday') ?? 1);
  reading.shift.day = day - dayNumber(year, 1, 1);
}

/** Expands a year: one and two digits are 1970 to 2069. */
function fullYear(text: string): number {
  const year = Number(text);
  if (text.length >= 4 || year >= 100) return year;
  return year < 70 ? 2000 + year : 1900 + year;
}
