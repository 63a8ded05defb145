import { client } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { fromKey, useSources } from '../../data/sources.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { BarChart, type Series } from '../../ui/chart.tsx';
import { Input, Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { RunCharts, RunStrip } from '../../ui/run-strip.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { countText, plural } from '../../ui/values.tsx';
import { dayOf, DAY_MS, SourceGrid, type DayRange } from './source-grid.tsx';

const DAYS = ['7', '30', '90'] as const;
const USUAL = '30';
/** Range whose ends are in the address. */
const OWN = 'own';
/** Most days that the service counts at once. */
const MOST = 366;
const RUNS = 100;

/** Returns the range between two days, or what is wrong with them. */
function rangeBetween(since: string, until: string): DayRange | string {
  const [from, to] = [Date.parse(since), Date.parse(until)];
  if (Number.isNaN(from) || Number.isNaN(to)) return 'Choose both days.';
  if (from > to) return 'The range ends before it begins.';
  const days = Math.round((to - from) / DAY_MS) + 1;
  return days > MOST ? `At most ${MOST} days are shown at once.` : { days, until };
}

const SERIES: readonly Series[] = [
  { name: 'Done', tone: 'good' },
  { name: 'In doubt', tone: 'warn' },
  { name: 'Failed', tone: 'bad' },
  { name: 'Cancelled', tone: 'muted' },
];

/** Shows how runs ended day by day, of all sources or of one, and rows and durations of that one. */
export function Days() {
  const { query } = usePlace();
  const key = query.get('source') ?? '';
  const chosen = fromKey(key);
  const asked = query.get('days');
  const [since, until] = [query.get('since') ?? '', query.get('until') ?? ''];
  const days = DAYS.find((value) => value === asked) ?? USUAL;
  const range = asked === OWN ? rangeBetween(since, until) : { days: Number(days), until: undefined };
  const sources = useSources();
  const counted = useQuery({
    key: ['runs', 'days', chosen, range],
    load: async () => await client().runs.days({ ...chosen, ...(typeof range === 'string' ? {} : range) }),
    isEnabled: typeof range !== 'string',
    everyMs: 60_000,
    topic: 'runs',
    keepsPrevious: true,
  });
  return (
    <Page title="Charts" crumbs={[{ to: '/runs', text: 'Runs' }]} about="How runs ended, day by day, in UTC.">
      <div class="filters">
        <Select
          label="Source"
          isLabelHidden
          value={chosen === undefined ? '' : key}
          options={[
            { value: '', text: 'All sources' },
            ...(sources.data ?? []).map((source) => ({ value: source.key, text: source.name })),
          ]}
          onChange={(value) => setQuery({ source: value, offset: undefined })}
        />
        <Select
          label="Range of time"
          isLabelHidden
          value={asked === OWN ? OWN : days}
          options={[
            ...DAYS.map((value) => ({ value, text: `The last ${value} days` })),
            { value: OWN, text: 'From … to …' },
          ]}
          onChange={(value) =>
            setQuery({
              days: value === USUAL ? undefined : value,
              offset: undefined,
              // From what was shown, so that something is there to begin with.
              since: value === OWN ? dayOf(Date.now() - (Number(days) - 1) * DAY_MS) : undefined,
              until: value === OWN ? dayOf(Date.now()) : undefined,
            })
          }
        />
      </div>
      {asked === OWN && (
        <div class="filters runs-range">
          <Input label="From" type="date" value={since} onInput={(value) => setQuery({ since: value })} />
          <Input
            label="To"
            type="date"
            value={until}
            problem={typeof range === 'string' ? range : undefined}
            onInput={(value) => setQuery({ until: value })}
          />
        </div>
      )}
      {typeof range !== 'string' && (
        <Loaded query={counted}>
          {(all) => {
            const total = all.reduce(
              (sum, { success, doubtful, error, cancelled }) => sum + success + doubtful + error + cancelled,
              0,
            );
            if (total === 0)
              return (
                <div class="card">
                  <EmptyState icon="run" title="No run ended in these days">
                    Choose another source, or a longer range of time.
                  </EmptyState>
                </div>
              );
            return (
              <>
                <p role="status">{plural(total, 'run')} ended.</p>
                <BarChart
                  title="How runs ended"
                  of="Day"
                  series={SERIES}
                  bars={all.map(({ day, success, doubtful, error, cancelled }) => ({
                    key: day,
                    name: day,
                    values: [success, doubtful, error, cancelled],
                  }))}
                  format={countText}
                />
              </>
            );
          }}
        </Loaded>
      )}
      {chosen === undefined && typeof range !== 'string' && <SourceGrid range={range} />}
      {chosen !== undefined && <OfSource {...chosen} />}
    </Page>
  );
}

function OfSource({
  component,
  configuration,
}: {
  readonly component: string;
  readonly configuration: string;
}) {
  const runs = useQuery({
    key: ['runs', 'list', 'of-charts', component, configuration],
    load: async () => await client().runs.list({ component, configuration, limit: RUNS }),
    topic: 'runs',
  });
  return (
    <Loaded query={runs}>
      {(all) =>
        all.length > 0 && (
          <>
            <h2>Its last {all.length === 1 ? 'run' : plural(all.length, 'run')}</h2>
            <RunStrip runs={all} />
            <RunCharts runs={all} />
          </>
        )
      }
    </Loaded>
  );
}
