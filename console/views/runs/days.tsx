import { client } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { fromKey, useSources } from '../../data/sources.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { BarChart, type Series } from '../../ui/chart.tsx';
import { Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { RunCharts, RunStrip } from '../../ui/run-strip.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { countText, plural } from '../../ui/values.tsx';

const DAYS = ['7', '30', '90'] as const;
const RUNS = 100;

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
  const days = DAYS.find((value) => value === query.get('days')) ?? '30';
  const sources = useSources();
  const counted = useQuery({
    key: ['runs', 'days', chosen, days],
    load: async () => await client().runs.days({ ...chosen, days: Number(days) }),
    everyMs: 60_000,
    topic: 'runs',
    keepsPrevious: true,
  });
  return (
    <Page title="Charts" crumbs={[{ to: '/runs', text: 'Runs' }]} about="How runs ended, day by day, in UTC.">
      <div class="runs-filter">
        <Select
          label="Source"
          isLabelHidden
          value={chosen === undefined ? '' : key}
          options={[
            { value: '', text: 'All sources' },
            ...(sources.data ?? []).map((source) => ({ value: source.key, text: source.name })),
          ]}
          onChange={(value) => setQuery({ source: value })}
        />
        <Select
          label="Range of time"
          isLabelHidden
          value={days}
          options={DAYS.map((value) => ({ value, text: `The last ${value} days` }))}
          onChange={(value) => setQuery({ days: value === '30' ? undefined : value })}
        />
      </div>
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
      {(all) => (
        <>
          <h2>Its last {RUNS} runs</h2>
          <RunStrip runs={all} />
          <RunCharts runs={all} />
        </>
      )}
    </Loaded>
  );
}
