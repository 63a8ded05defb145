import { client } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { Link } from '../../route/link.tsx';
import { at } from '../../route/router.ts';
import { BarChart } from '../../ui/chart.tsx';
import { Loaded } from '../../ui/states.tsx';
import { countText, Text, timeOf } from '../../ui/values.tsx';

/** Shows the next day hour by hour, in the time of the browser: how many runs begin, and of which sources. */
export function Calendar() {
  const calendar = useQuery({
    key: ['schedules', 'calendar'],
    load: async () => await client().schedules.calendar(),
    everyMs: 60_000,
    topic: 'schedules',
  });
  return (
    <Loaded query={calendar}>
      {({ hours }) =>
        hours.every(({ runs }) => runs === 0) ? (
          <p class="muted">Nothing runs by itself within the next day.</p>
        ) : (
          <BarChart
            title="Runs that begin in the next 24 hours"
            of="Hour"
            series={[{ name: 'Runs', tone: 'accent' }]}
            bars={hours.map(({ time, runs, schedules, first }) => ({
              key: time,
              name: hourText(time),
              shown: (
                <>
                  {hourText(time)}{' '}
                  <span class="muted">
                    {first.map(({ component, configuration, name }, i) => (
                      <span key={at`${component}/${configuration}`}>
                        {i > 0 && ', '}
                        <Link to={at`/runs/schedules/${component}/${configuration}`}>
                          <Text>{name}</Text>
                        </Link>
                      </span>
                    ))}
                    {schedules > first.length && `, and ${countText(schedules - first.length)} more`}
                  </span>
                </>
              ),
              values: [runs],
            }))}
            format={countText}
          />
        )
      }
    </Loaded>
  );
}

const HOUR = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });
const hourText = (time: string): string => HOUR.format(timeOf(time));
