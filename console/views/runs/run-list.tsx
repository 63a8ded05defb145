import { useState } from 'preact/hooks';
import { client, type Run, type RunStatus } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { StatusBadge, VerdictBadge } from '../../ui/run-badges.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { Count, durationText, RelativeTime, Text } from '../../ui/values.tsx';
import { nameOf, useSources, type SourceRef } from '../../data/sources.ts';
import { StartRun } from './start-run.tsx';
import { isOver, rowsOf, tookMs } from './words.tsx';

const STEP = 200;
const MOST = 1000;

function columnsOf(sources: readonly SourceRef[] | undefined): readonly Column<Run>[] {
  return [
    { id: 'run', title: 'Run', width: 90, show: ({ id }) => <Link to={at`/runs/${id}`}>{id}</Link> },
    { id: 'status', title: 'Status', width: 115, show: (run) => <StatusBadge run={run} /> },
    {
      id: 'source',
      title: 'Source',
      width: 220,
      show: ({ component, configuration }) => (
        <Link to={at`/sources/${component}/${configuration}`}>
          <Text>{nameOf(sources, component, configuration)}</Text>
        </Link>
      ),
    },
    {
      id: 'verdict',
      title: 'Verdict',
      width: 110,
      show: ({ verdict }) => <VerdictBadge verdict={verdict} />,
    },
    {
      id: 'rows',
      title: 'Rows',
      width: 100,
      align: 'right',
      show: (run) => {
        const rows = run.rowCount ?? rowsOf(run);
        return rows === undefined ? <span class="muted">–</span> : <Count value={rows} />;
      },
    },
    {
      id: 'began',
      title: 'Asked for',
      width: 130,
      show: ({ createdTime }) => <RelativeTime value={createdTime} />,
    },
    {
      id: 'took',
      title: 'Took',
      width: 100,
      align: 'right',
      show: (run) => {
        const took = tookMs(run);
        return took === undefined ? <span class="muted">–</span> : durationText(took);
      },
    },
    {
      id: 'who',
      title: 'Started by',
      width: 170,
      show: ({ schedule, creatorToken }) =>
        schedule === null ? <Text>{creatorToken.description}</Text> : `schedule ${schedule}`,
    },
    { id: 'attempt', title: 'Attempts', width: 90, align: 'right', show: ({ attempt }) => attempt },
  ];
}

const STATUSES: readonly { readonly value: RunStatus | ''; readonly text: string }[] = [
  { value: '', text: 'Any status' },
  { value: 'waiting', text: 'Waiting' },
  { value: 'processing', text: 'Running' },
  { value: 'success', text: 'Done' },
  { value: 'error', text: 'Failed' },
  { value: 'cancelled', text: 'Cancelled' },
];

export function RunList() {
  const { query } = usePlace();
  const [component, configuration] = (query.get('source') ?? '').split('/').map(decodeURIComponent);
  const status = STATUSES.find(({ value }) => value === query.get('status'))?.value ?? '';
  const [limit, setLimit] = useState(STEP);
  const [isStarting, setStarting] = useState(false);
  const sources = useSources();
  const isChosen = configuration !== undefined;
  const runs = useQuery({
    key: ['runs', 'list', query.get('source') ?? '', status, limit],
    load: async () =>
      await client().runs.list({
        ...(isChosen ? { component, configuration } : {}),
        ...(status === '' ? {} : { status: [status] }),
        limit,
      }),
    everyMs: (all) => (all?.every(isOver) === true ? 5000 : 1500),
    keepsPrevious: true,
  });
  const start = (
    <Button kind="primary" icon="run" onPress={() => setStarting(true)}>
      Start a run
    </Button>
  );
  return (
    <Page
      title="Runs"
      about="What the service has done with the sources, newest first."
      actions={
        <>
          <ButtonLink to="/runs/problems" icon="alert">
            What went wrong
          </ButtonLink>
          <ButtonLink
            to={isChosen ? at`/runs/schedules/${component ?? ''}/${configuration}` : '/runs/schedules'}
            icon="clock"
          >
            Schedules
          </ButtonLink>
          {start}
        </>
      }
    >
      <div class="runs-filter">
        <Select
          label="Source"
          isLabelHidden
          value={query.get('source') ?? ''}
          options={[
            { value: '', text: 'All sources' },
            ...(sources.data ?? []).map((source) => ({ value: source.key, text: source.name })),
          ]}
          onChange={(value) => setQuery({ source: value })}
        />
        <Select
          label="Status"
          isLabelHidden
          value={status}
          options={STATUSES}
          onChange={(value) => setQuery({ status: value })}
        />
      </div>
      <Loaded query={runs}>
        {(all) =>
          all.length === 0 ? (
            <div class="card">
              {isChosen || status !== '' ? (
                <EmptyState
                  icon="run"
                  title="No run is like that"
                  action={
                    <Button onPress={() => setQuery({ source: undefined, status: undefined })}>
                      Show all runs
                    </Button>
                  }
                >
                  Choose another source or another status.
                </EmptyState>
              ) : (
                <EmptyState icon="run" title="Nothing has run yet" action={start}>
                  A run asks the API of a source, and loads what it answers into tables.
                </EmptyState>
              )}
            </div>
          ) : (
            <>
              <DataTable
                label="Runs"
                columns={columnsOf(sources.data)}
                rows={all}
                rowKey={({ id }) => id}
                onOpen={({ id }) => navigate(at`/runs/${id}`)}
              />
              {all.length >= limit && limit < MOST && (
                <div>
                  <Button isBusy={runs.isFetching} onPress={() => setLimit(MOST)}>
                    Show older runs
                  </Button>
                </div>
              )}
            </>
          )
        }
      </Loaded>
      {isStarting && (
        <StartRun
          component={isChosen ? component : undefined}
          configuration={isChosen ? configuration : undefined}
          onClose={() => setStarting(false)}
        />
      )}
    </Page>
  );
}
