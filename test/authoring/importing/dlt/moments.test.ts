import { describe, expect, test } from 'vitest';
import { momentOf } from '../../../../src/authoring/importing/dlt/moments.ts';
import { createEvaluator } from '../../../../src/engine/jobs/functions/index.ts';
import { fakeEnv } from '../../../engine/http/auth/support.ts';

/** The moment as it is on Friday, 14 July 2017, 02:40 UTC. */
function at(code: string): unknown {
  const moment = momentOf(code);
  return moment === undefined ? undefined : createEvaluator(fakeEnv())(moment, {}, 'x');
}

describe('moments that code reckons', () => {
  test.each([
    ['pendulum.now().to_iso8601_string()', '2017-07-14T02:40:00Z'],
    ['pendulum.today().subtract(days=30).to_iso8601_string()', '2017-06-14T00:00:00Z'],
    ['pendulum.now("UTC").add(hours=1).isoformat()', '2017-07-14T03:40:00+00:00'],
    ['pendulum.yesterday().to_date_string()', '2017-07-13'],
    ['pendulum.datetime(2024, 1, 5).to_iso8601_string()', '2024-01-05T00:00:00Z'],
    ['(datetime.now(timezone.utc) - timedelta(days=7)).isoformat()', '2017-07-07T02:40:00+00:00'],
    ['(datetime.utcnow() - timedelta(days=7)).strftime("%Y-%m-%d")', '2017-07-07'],
    ['date.today().isoformat()', '2017-07-14'],
    ['datetime.now().isoformat()', '2017-07-14T02:40:00'],
    ['pendulum.now().subtract(weeks=1, days=1).int_timestamp', '1499308800'],
  ])('%s', (code, expected) => {
    expect(String(at(code))).toBe(expected);
  });

  test.each([
    'pendulum.now("Europe/Prague").isoformat()',
    'pendulum.now().subtract(days=n).isoformat()',
    'pendulum.now()',
    'pendulum.now().start_of("week").isoformat()',
    'now().isoformat()',
    'datetime.now().strftime("%d")',
  ])('%s is none that is known', (code) => {
    expect(at(code)).toBeUndefined();
  });
});
