import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDate, strtotime } from '../../../../src/engine/jobs/functions/index.ts';
import { toText } from '../../../../src/lib/json/index.ts';
import { casesOf } from './vectors.ts';
import { workMs } from '../../../support/work.ts';

/** Saturday, 2017-10-21 21:16:00. */
const SATURDAY = 1_508_620_560;
/** Sunday, 2017-10-22 08:00:00. */
const SUNDAY = 1_508_659_200;

function read(text: string, base = SATURDAY): string | false {
  const seconds = strtotime(text, base);
  return seconds === false ? false : formatDate('Y-m-d H:i:s', seconds);
}

test('every recorded text gives the recorded time', () => {
  const wrong = casesOf('strtotime').filter(
    ([text, base, wanted]) => strtotime(toText(text), Number(base)) !== wanted,
  );
  expect(wrong).toEqual([]);
});

test('a time of ISO 8601 reads back to itself', () => {
  const years0To9999 = fc.integer({ min: -62_167_219_200, max: 253_402_300_799 });
  fc.assert(
    fc.property(years0To9999, fc.integer({ min: -1e10, max: 1e10 }), (seconds, base) => {
      expect(strtotime(formatDate('c', seconds), base)).toBe(seconds);
      expect(strtotime(formatDate('r', seconds), base)).toBe(seconds);
      expect(strtotime(`@${formatDate('U', seconds)}`, base)).toBe(seconds);
    }),
  );
});

test('steps by days, hours and seconds are sums', () => {
  const amount = fc.integer({ min: -5000, max: 5000 });
  fc.assert(
    fc.property(
      fc.integer({ min: -1e10, max: 1e10 }),
      amount,
      amount,
      amount,
      (base, days, hours, seconds) => {
        const sum = base + days * 86_400 + hours * 3600 + seconds;
        expect(strtotime(`${days} days ${hours} hours ${seconds} seconds`, base)).toBe(sum);
        expect(strtotime(`${days} days ${hours} hours ${seconds} seconds ago`, base)).toBe(2 * base - sum);
      },
    ),
  );
});

test('any text is read or refused, never an error', () => {
  const words = fc.constantFrom(
    'first',
    'last',
    'monday',
    'of',
    'day',
    ' ',
    '-',
    '+1',
    '2017',
    'jan',
    ':',
    '.',
    'T',
    '10',
    'week',
    '@',
    '(',
    'pm',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(words).map((list) => list.join('')),
        fc.string(),
      ),
      (text) => {
        const seconds = strtotime(text, SATURDAY);
        expect(seconds === false || Number.isSafeInteger(seconds)).toBe(true);
      },
    ),
  );
});

describe.each([
  [
    'dates in digits',
    {
      '2017-1-2': '2017-01-02 00:00:00',
      '17-10-21': '2017-10-21 00:00:00',
      '77-10-21': '1977-10-21 00:00:00',
      '2017/10/21/': '2017-10-21 00:00:00',
      '1/2': '2017-01-02 00:00:00',
      '1/2/99': '1999-01-02 00:00:00',
      '1.2.2017': '2017-02-01 00:00:00',
      '21.10.77': '1977-10-21 00:00:00',
      '1-2-2017': '2017-02-01 00:00:00',
      '-0044-03-15': '-0044-03-15 00:00:00',
      '+12017-10-21': '12017-10-21 00:00:00',
      '2017294': '2017-10-21 00:00:00',
      '2016.366': '2016-12-31 00:00:00',
      '2017W42': '2017-10-16 00:00:00',
      '2017-W42-0': '2017-10-15 00:00:00',
      '2020-W53-5': '2021-01-01 00:00:00',
    },
  ],
  [
    'dates with the month in words',
    {
      'October 21st, 2017': '2017-10-21 00:00:00',
      'oct 3rd': '2017-10-03 00:00:00',
      '22nd of': false,
      '1st July': '2017-07-01 00:00:00',
      '14 III 1879': '1879-03-14 00:00:00',
      '22DEC78': '1978-12-22 00:00:00',
      '30-June 2008': '2008-06-30 00:00:00',
      'May-09-78': '1978-05-09 00:00:00',
      '78-Dec-22': '1978-12-22 00:00:00',
      '1814-MAY-17': '1814-05-17 00:00:00',
      '2008-VI': '2008-06-01 00:00:00',
      'Sept. 2008': '2008-09-01 00:00:00',
      may: '2017-05-21 00:00:00',
    },
  ],
  [
    'times',
    {
      '9 a.m.': '2017-10-21 09:00:00',
      '12am': '2017-10-21 00:00:00',
      '12:30 PM': '2017-10-21 12:30:00',
      '9:16:05 pm': '2017-10-21 21:16:05',
      '9:16:05:123pm': '2017-10-21 21:16:05',
      T0916: '2017-10-21 09:16:00',
      '091605': '2017-10-21 09:16:05',
      '21.16': '2017-10-21 21:16:00',
      '21.10.05': '2017-10-21 21:10:05',
      '23:59:60': '2017-10-22 00:00:00',
      '25:00': false,
      '10:00 11:00': false,
    },
  ],
  [
    'dates and times in one piece',
    {
      '2017-10-21T21': '2017-10-21 21:00:00',
      '2017-10-21T21:16': '2017-10-21 21:16:00',
      '2017-10-21t21:16:05z': '2017-10-21 21:16:05',
      '20171021T21:16:05': '2017-10-21 21:16:05',
      '20171021t211605': '2017-10-21 21:16:05',
      '20171021211605': '2017-10-21 21:16:05',
      '2017-10-21T21:16:05.999999+0530': '2017-10-21 15:46:05',
      '2017:10:21 21:16:05': '2017-10-21 21:16:05',
      '10/Oct/2000:13:55:36 -0700': '2000-10-10 20:55:36',
      'Oct 21 21:16': '2017-10-21 21:16:00',
      'Oct 21, 9:16pm': '2017-10-21 21:16:00',
      'Oct 21 21:16:05.5': '2017-10-21 21:16:05',
      'Oct 21 21:16:05 EST': '2017-10-22 02:16:05',
      'Mon, 15 Aug 2005 15:52:01 +0000': '2005-08-15 15:52:01',
    },
  ],
  [
    'four digits are a time, a year where no time fits, and a year after a time',
    {
      '2359': '2017-10-21 23:59:00',
      '1960': '1960-10-21 21:16:00',
      '10:00 2020': '2020-10-21 10:00:00',
      '21 Oct 2018 1530': '2018-10-21 15:30:00',
      '1530 2018': '2018-10-21 15:30:00',
      '1530 2018 2019': false,
    },
  ],
  [
    'weekdays',
    {
      weekday: '2017-10-23 00:00:00',
      saturdays: '2017-10-21 00:00:00',
      'this saturday': '2017-10-21 00:00:00',
      'next saturday': '2017-10-28 00:00:00',
      'last saturday': '2017-10-14 00:00:00',
      'monday 09:00': '2017-10-23 09:00:00',
      '09:00 monday': '2017-10-23 00:00:00',
      'sunday this week': '2017-10-22 00:00:00',
      'next week friday': '2017-10-27 00:00:00',
      '+2 mondays': '2017-10-30 00:00:00',
      '2 mondays ago': '2017-10-09 00:00:00',
      '1 sunday ago': '2017-10-15 00:00:00',
      '1 saturday ago': '2017-10-14 00:00:00',
      'second monday': '2017-10-30 00:00:00',
      'monday, 2024-05-01': '2024-05-06 00:00:00',
    },
  ],
  [
    'weekdays of a month',
    {
      'first sunday of october 2017': '2017-10-01 00:00:00',
      'fifth sunday of october 2017': '2017-10-29 00:00:00',
      'last sunday of february 2024': '2024-02-25 00:00:00',
      'last thursday of february 2024 10:00': '2024-02-29 10:00:00',
      'first monday of': '2017-10-02 00:00:00',
      'last friday of previous month': '2017-09-29 00:00:00',
    },
  ],
  [
    'edges of a month',
    {
      'first day of': '2017-10-01 21:16:00',
      'LAST DAY OF next month': '2017-11-30 21:16:00',
      'last day of february 2024': '2024-02-29 00:00:00',
      'first day of -1 year': '2016-10-01 21:16:00',
      'midnight first day of this month': '2017-10-01 00:00:00',
    },
  ],
  [
    'steps',
    {
      '+1 day -1 hour': '2017-10-22 20:16:00',
      '--1 day': '2017-10-22 21:16:00',
      '+-1 day': '2017-10-20 21:16:00',
      '- 1 day': '2017-10-20 21:16:00',
      '1day': '2017-10-22 21:16:00',
      'third month': '2018-01-21 21:16:00',
      'twelfth hour': '2017-10-22 09:16:00',
      'previous month': '2017-09-21 21:16:00',
      'this day': '2017-10-21 21:16:00',
      '2 forthnights ago': '2017-09-23 21:16:00',
      '+1500 ms': '2017-10-21 21:16:01',
      '-1 usec': '2017-10-21 21:15:59',
      '15:30:45.5 +500 msec': '2017-10-21 15:30:46',
      '+1 month -1 month 2024-01-31': '2024-01-31 00:00:00',
      'today +10 hours': '2017-10-21 10:00:00',
      'yesterday 14:00': '2017-10-20 14:00:00',
      '14:00 yesterday': '2017-10-20 00:00:00',
      'tomorrow noon': '2017-10-22 12:00:00',
      '10:00 noon': '2017-10-21 12:00:00',
      'noon 10:00': false,
      '-1 weekday': '2017-10-20 00:00:00',
      '0 weekdays': '2017-10-23 00:00:00',
      '+11 weekdays': '2017-11-06 00:00:00',
      '+1 lightyear': false,
    },
  ],
  [
    'around the hour',
    {
      'back of 19': '2017-10-21 19:15:00',
      'front of 12am': '2017-10-20 23:45:00',
      'front of 0': '2017-10-20 23:45:00',
      'Back of 7 pm': '2017-10-21 19:15:00',
    },
  ],
  [
    'seconds since 1970',
    {
      '@0 +1 day': '1970-01-02 00:00:00',
      '@1490000000.500000': '2017-03-20 08:53:20',
      '@-1.500000': '1969-12-31 23:59:58',
      '@86400 Europe/Prague': '1970-01-02 00:00:00',
      '@99999999999999999999': false,
    },
  ],
  [
    'time zones',
    {
      '10:00 +2': '2017-10-21 08:00:00',
      '10:00 -0730': '2017-10-21 17:30:00',
      '10:00 +130': '2017-10-21 08:30:00',
      '10:00 +5:30': '2017-10-21 04:30:00',
      '10:00 GMT+2': '2017-10-21 08:00:00',
      '10:00 (PST)': '2017-10-21 18:00:00',
      '10:00 nst': '2017-10-21 13:30:00',
      '10:00 B': '2017-10-21 08:00:00',
      '10:00 Y': '2017-10-21 22:00:00',
      '10:00 America/Argentina/Buenos_Aires': '2017-10-21 13:00:00',
      '10:00 Etc/GMT+5': '2017-10-21 15:00:00',
      '10:00 US/Eastern': '2017-10-21 14:00:00',
      '10:00 Japan': '2017-10-21 01:00:00',
      '1850-01-01 Europe/Prague': '1849-12-31 23:02:16',
      '-0044-03-15 Europe/Prague': '-0044-03-14 23:02:16',
      '10:00 UTC+2': '2017-10-21 10:00:00',
      '10:00 UTC CET EST': false,
      '10:00 Nowhere/Land': false,
      '10:00 J': false,
    },
  ],
  [
    'changes of the clock: a skipped time moves on, of a time that comes twice east takes the second, west the first',
    {
      '2017-03-26 02:30 Europe/Prague': '2017-03-26 01:30:00',
      '2017-03-26 03:00 Europe/Prague': '2017-03-26 01:00:00',
      '2017-10-29 02:30 Europe/Prague': '2017-10-29 01:30:00',
      '2017-10-29 01:59 Europe/Prague': '2017-10-28 23:59:00',
      '2017-03-12 02:30 America/New_York': '2017-03-12 07:30:00',
      '2017-11-05 01:30 America/New_York': '2017-11-05 05:30:00',
      '2017-11-05 02:30 America/New_York': '2017-11-05 07:30:00',
    },
  ],
  [
    'the end of a text',
    {
      '  2017-10-21  ': '2017-10-21 00:00:00',
      '2017-10-21\n10:00': '2017-10-21 00:00:00',
      '2017-10-21, 10:00.': '2017-10-21 10:00:00',
      '2017-10-21; 10:00': false,
      '2017-10-21 2017-10-22': false,
    },
  ],
] as const)('%s', (_, texts) => {
  test.each(Object.entries(texts))('“%s”', (text, wanted) => {
    expect(read(text)).toBe(wanted);
  });
});

test('long texts are read in time that grows with their length', () => {
  const long = 100_000;
  const texts = [
    `jan${' '.repeat(long)}x`,
    `1 jan${'-'.repeat(long)}`,
    '-'.repeat(long),
    `A/${'b-'.repeat(long)}`,
  ];
  const ms = workMs(() => {
    for (const text of texts) strtotime(text, SATURDAY);
  });
  expect(ms).toBeLessThan(1000);
});

test('a week starts on Monday, so that Sunday is its end', () => {
  expect(read('monday this week', SUNDAY)).toBe('2017-10-16 00:00:00');
  expect(read('sunday this week', SUNDAY)).toBe('2017-10-22 00:00:00');
  expect(read('next week', SUNDAY)).toBe('2017-10-23 08:00:00');
});

test('days from Monday to Friday are counted as on a calendar', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 40 }), (day, amount) => {
      for (const direction of [1, -1]) {
        let wanted = day * 86_400;
        for (let left = amount; left > 0;) {
          wanted += direction * 86_400;
          if (isWorkday(wanted)) left--;
        }
        expect(strtotime(`${direction * amount} weekdays`, day * 86_400)).toBe(wanted);
      }
    }),
  );
});

function isWorkday(seconds: number): boolean {
  return !['6', '0'].includes(formatDate('w', seconds));
}
