import type { ListedSchedule } from '../../data/client.ts';
import { BarChart } from '../../ui/chart.tsx';
import { Link } from '../../route/link.tsx';
import { at } from '../../route/router.ts';
import { countText, plural, Text, timeOf } from '../../ui/values.tsx';

const HOUR_MS = 60 * 60 * 1000;
const HOURS = 24;
/** Sources that an hour names. */
const NAMED = 4;

interface Hour {
  readonly startMs: number;
  readonly runs: number;
  readonly schedules: readonly ListedSchedule[];
}

/** Shows the next day hour by hour, in the time of the browser: how many runs begin, and of which sources. */
export function Calendar({ schedules }: { readonly schedules: readonly ListedSchedule[] }) {
  const hours = hoursOf(schedules, Date.now());
  if (hours.every(({ runs }) => runs === 0))
    return <p class="muted">Nothing runs by itself within the next day.</p>;
  const often = schedules.filter(({ hasMoreTimes }) => hasMoreTimes).length;
  return (
    <div class="stack">
      <BarChart
        title="Runs that begin in the next 24 hours"
        of="Hour"
        series={[{ name: 'Runs', tone: 'accent' }]}
        bars={hours.map(({ startMs, runs, schedules: some }) => ({
          key: String(startMs),
          name: hourText(startMs),
          shown: (
            <>
              {hourText(startMs)}{' '}
              <span class="muted">
                {some.slice(0, NAMED).map(({ id, component, configuration, name }, i) => (
                  <span key={id}>
                    {i > 0 && ', '}
                    <Link to={at`/runs/schedules/${component}/${configuration}`}>
                      <Text>{name}</Text>
                    </Link>
                  </span>
                ))}
                {some.length > NAMED && `, and ${some.length - NAMED} more`}
              </span>
            </>
          ),
          values: [runs],
        }))}
        format={countText}
      />
      {often > 0 && (
        <p class="muted small">
          {plural(often, 'schedule')} of more than 48 times a day {often === 1 ? 'is' : 'are'} counted evenly.
        </p>
      )}
    </div>
  );
}

/** Counts the times of schedules by the hours from now on; of those with more times than are told, by their rhythm. */
export function hoursOf(schedules: readonly ListedSchedule[], now: number): readonly Hour[] {
  const first = Math.floor(now / HOUR_MS) * HOUR_MS;
  return Array.from({ length: HOURS + 1 }, (_, i) => {
    const startMs = first + i * HOUR_MS;
    const counts = schedules.map((schedule) => ({ schedule, count: timesIn(schedule, startMs) }));
    const some = counts.filter(({ count }) => count > 0);
    return {
      startMs,
      runs: Math.round(some.reduce((sum, { count }) => sum + count, 0)),
      schedules: some.map(({ schedule }) => schedule),
    };
  });
}

function timesIn({ times, hasMoreTimes }: ListedSchedule, startMs: number): number {
  const all = times.map(timeOf);
  const endMs = startMs + HOUR_MS;
  const last = all.at(-1) ?? 0;
  const told = all.filter((time) => time >= startMs && time < endMs).length;
  if (!hasMoreTimes || last >= endMs) return told;
  const stepMs = (last - (all[0] ?? 0)) / (all.length - 1);
  return told + (endMs - Math.max(startMs, last)) / stepMs;
}

const HOUR = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });
const hourText = (time: number): string => HOUR.format(time);
