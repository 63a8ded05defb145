import type { ViewProps } from '../../app/views.ts';
import { client, type Run } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate } from '../../route/router.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge, EmptyState, Loaded, type Tone } from '../../ui/states.tsx';
import { durationText, KeyValue, RelativeTime, Text, timeOf } from '../../ui/values.tsx';

const isOver = ({ endTime }: Run): boolean => endTime !== null;

function toneOf(status: string): Tone {
  if (status === 'success') return 'good';
  if (status === 'error') return 'bad';
  return status === 'processing' ? 'active' : 'neutral';
}

function tookMs({ startTime, endTime }: Run): number | undefined {
  if (startTime === null) return undefined;
  return (endTime === null ? Date.now() : timeOf(endTime)) - timeOf(startTime);
}

const COLUMNS: readonly Column<Run>[] = [
  {
    id: 'run',
    title: 'Run',
    width: 110,
    show: ({ id }) => <Link to={at`/runs/${id}`}>{id}</Link>,
  },
  {
    id: 'status',
    title: 'Status',
    width: 130,
    show: ({ status }) => <Badge tone={toneOf(status)}>{status}</Badge>,
  },
  {
    id: 'source',
    title: 'Source',
    width: 260,
    show: ({ component, configuration }) => (
      <Link to={at`/sources/${component}/${configuration}`}>
        <Text>{configuration}</Text>
      </Link>
    ),
  },
  { id: 'verdict', title: 'Verdict', width: 120, show: ({ verdict }) => verdict ?? '–' },
  {
    id: 'started',
    title: 'Started',
    width: 140,
    show: ({ startTime }) => <RelativeTime value={startTime} />,
  },
  {
    id: 'took',
    title: 'Took',
    width: 110,
    align: 'right',
    show: (run) => {
      const took = tookMs(run);
      return took === undefined ? '–' : durationText(took);
    },
  },
];

export default function Runs({ parts: [id] }: ViewProps) {
  return id === undefined ? <RunList /> : <RunDetail id={id} />;
}

function RunList() {
  const runs = useQuery({
    key: ['runs'],
    load: async () => await client().runs.list({ limit: 200 }),
    everyMs: (all) => (all?.every(isOver) === true ? 10_000 : 2000),
  });
  return (
    <Page title="Runs" about="What the service has done with the sources, newest first.">
      <Loaded query={runs}>
        {(all) =>
          all.length === 0 ? (
            <div class="card">
              <EmptyState icon="run" title="Nothing has run yet">
                A run asks the API of a source, and loads what it answers into tables. Start one from a
                source.
              </EmptyState>
            </div>
          ) : (
            <DataTable
              label="Runs"
              columns={COLUMNS}
              rows={all}
              rowKey={({ id }) => id}
              onOpen={({ id }) => navigate(at`/runs/${id}`)}
            />
          )
        }
      </Loaded>
    </Page>
  );
}

function RunDetail({ id }: { readonly id: string }) {
  const run = useQuery({
    key: ['runs', id],
    load: async (signal) => await client().runs.detail(id, { signal }),
    everyMs: (found) => (found !== undefined && isOver(found) ? false : 1000),
  });
  return (
    <Page title={`Run ${id}`} crumbs={[{ to: '/runs', text: 'Runs' }]}>
      <Loaded query={run}>
        {({ status, verdict, createdTime, error }) => (
          <KeyValue
            items={[
              ['Status', <Badge tone={toneOf(status)}>{status}</Badge>],
              ['Verdict', verdict ?? '–'],
              ['Asked for', <RelativeTime value={createdTime} />],
              ['Error', <Text>{error?.message ?? '–'}</Text>],
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
