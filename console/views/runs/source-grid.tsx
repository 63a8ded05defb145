import { client, type RunDay, type SourceDays } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { keyOf } from '../../data/sources.ts';
import { Link } from '../../route/link.tsx';
import { at } from '../../route/router.ts';
import { SearchField } from '../../ui/field.tsx';
import { Pager } from '../../ui/pager.tsx';
import { useServiceList } from '../../ui/service-list.ts';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { countText, Text } from '../../ui/values.tsx';

export const DAY_MS = 86_400_000;
/** Sources of a page. */
const PART = 30;
/** Days that have room beside each other. */
const MOST = 14;

/** Days in UTC, up to one of them or today. */
export interface DayRange {
  readonly days: number;
  readonly until: string | undefined;
}

/** Returns the day of a time, in UTC. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Shows how the runs of each source ended, day by day, as a table whose cells lead to the runs. */
export function SourceGrid({ range }: { readonly range: DayRange }) {
  const { search, typed, onType, asked } = useServiceList(PART, {});
  const days = Math.min(range.days, MOST);
  const grid = useQuery({
    key: ['runs', 'source-days', days, range.until, asked],
    load: async () => await client().runs.sourceDays({ days, until: range.until, ...asked }),
    everyMs: 60_000,
    topic: 'runs',
    keepsPrevious: true,
  });
  return (
    <section class="stack" aria-label="By source and day">
      <h2>By source and day</h2>
      <p class="muted">
        Those of which most runs failed come first.
        {range.days > MOST && ` These are the last ${MOST} days of the range.`}
      </p>
      <SearchField label="Search sources" value={typed} onInput={onType} />
      <Loaded query={grid}>
        {({ days: names, sources, total }) =>
          total === 0 ? (
            <div class="card">
              <EmptyState
                icon="source"
                title={search === '' ? 'There are no sources yet' : 'No source is like that'}
              >
                {search === '' ? 'How their runs ended is seen here.' : 'Search for something else.'}
              </EmptyState>
            </div>
          ) : (
            <>
              <Pager noun="sources" size={PART} shown={sources.length} total={total} />
              <div
                ref={toNewest}
                class="runs-grid card"
                tabIndex={0}
                role="region"
                aria-label="Days of the sources"
              >
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Source</th>
                      {names.map((day, i) => (
                        <th key={day} scope="col" title={day}>
                          <span aria-hidden="true">{shortDay(day, i)}</span>
                          <span class="visually-hidden">{day}</span>
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {sources.map((source) => (
                      <SourceRow
                        key={keyOf(source.component, source.configuration)}
                        source={source}
                        days={names}
                      />
                    ))}
                  </tbody>
                </table>
              </div>
            </>
          )
        }
      </Loaded>
    </section>
  );
}

/** Begins with the newest days where not all have room, also when it becomes narrower. */
function toNewest(region: HTMLElement | null): (() => void) | undefined {
  if (region === null) return undefined;
  const observer = new ResizeObserver(() => {
    region.scrollLeft = region.scrollWidth;
  });
  observer.observe(region);
  return () => observer.disconnect();
}

const MONTH = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' });

/** Returns the number of a day, with its month where that begins. */
function shortDay(day: string, index: number): string {
  const number = String(Number(day.slice(8)));
  return index === 0 || number === '1' ? `${MONTH.format(new Date(day))} ${number}` : number;
}

function SourceRow({
  source: { component, configuration, name, days: ended },
  days,
}: {
  readonly source: SourceDays;
  readonly days: readonly string[];
}) {
  const key = keyOf(component, configuration);
  return (
    <tr>
      <th scope="row">
        <Link to={at`/sources/${component}/${configuration}`}>
          <Text>{name === '' ? configuration : name}</Text>
        </Link>
      </th>
      {days.map((day) => {
        const runs = ended.find((each) => each.day === day);
        if (runs === undefined)
          return (
            <td key={day} title={`${day}: no run ended`}>
              <span class="visually-hidden">none</span>
            </td>
          );
        const words = wordsOf(runs);
        return (
          <td key={day} title={`${day}: ${words}`}>
            <Link to={at`/runs?source=${key}&day=${day}`} class={`run-state run-state-${kindOf(runs)}`}>
              <span class="visually-hidden">{words}</span>
            </Link>
          </td>
        );
      })}
    </tr>
  );
}

/** Returns the worst way in which runs of a day ended, as strips of runs show it. */
function kindOf({ error, doubtful, success }: RunDay): string {
  if (error > 0) return 'error';
  if (doubtful > 0) return 'doubtful';
  return success > 0 ? 'success' : 'cancelled';
}

const wordsOf = ({ error, doubtful, success, cancelled }: RunDay): string =>
  [
    [error, 'failed'],
    [doubtful, 'in doubt'],
    [success, 'done'],
    [cancelled, 'cancelled'],
  ]
    .flatMap(([count, word]) => (typeof count === 'number' && count > 0 ? `${countText(count)} ${word}` : []))
    .join(', ');
