import { useState } from 'preact/hooks';
import { client, type Run, type RunsQuery } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { mayUse } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager, useOffset } from '../../ui/pager.tsx';
import { StatusBadge, VerdictBadge } from '../../ui/run-badges.tsx';
import { SourceLink } from '../../ui/source-link.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { By, Count, durationText, plural, RelativeTime } from '../../ui/values.tsx';
import { FAILING, fromKey, nameOf, useSources, type SourceRef } from '../../data/sources.ts';
import { NotDone, useMany } from './many.tsx';
import { DAY_MS, dayOf } from './source-grid.tsx';
import { StartRun } from './start-run.tsx';
import { isOver, loadedRowsOf, rowsOf, tookMs } from './words.tsx';

const PART = 100;

function columnsOf(sources: readonly SourceRef[] | undefined): readonly Column<Run>[] {
  return [
    { id: 'run', title: 'Run', width: 90, show: ({ id }) => <Link to={at`/runs/${id}`}>{id}</Link> },
    { id: 'status', title: 'Status', width: 115, show: (run) => <StatusBadge run={run} /> },
    {
      id: 'source',
      title: 'Source',
      width: 220,
      show: ({ component, configuration }) => (
        <SourceLink {...{ component, configuration }} name={nameOf(sources, component, configuration)} />
      ),
    },
    {
      id: 'verdict',
      title: 'Verdict',
      width: 110,
      show: ({ verdict, accepted }) => <VerdictBadge verdict={verdict} isAccepted={accepted !== undefined} />,
    },
    {
      id: 'rows',
      title: 'Rows',
      width: 100,
      align: 'right',
      show: (run) => {
        const rows = run.rowCount ?? (isOver(run) ? loadedRowsOf(run) : rowsOf(run));
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
        schedule === null ? <By token={creatorToken} /> : `schedule ${schedule}`,
    },
    { id: 'attempt', title: 'Attempts', width: 90, align: 'right', show: ({ attempt }) => attempt },
  ];
}

interface StatusChoice {
  readonly value: string;
  readonly text: string;
  readonly query: RunsQuery;
}

const STATUSES: readonly StatusChoice[] = [
  { value: '', text: 'Any status', query: {} },
  { value: 'waiting', text: 'Waiting', query: { status: ['waiting'] } },
  { value: 'processing', text: 'Running', query: { status: ['processing'] } },
  { value: 'success', text: 'Done', query: { status: ['success'] } },
  { value: 'error', text: 'Failed', query: { status: ['error'] } },
  { value: 'bad', text: 'Failed or doubtful', query: { isBad: true } },
  { value: 'failing', text: 'Failed or doubtful when it ended last', query: FAILING },
  { value: 'cancelled', text: 'Cancelled', query: { status: ['cancelled'] } },
];

/** Returns the ends of a day in an address, in UTC; undefined for a text that is no day. */
function dayFrom(text: string | null): { readonly since: string; readonly until: string } | undefined {
  const time = /^\d{4}-\d\d-\d\d$/.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN;
  return Number.isNaN(time) ? undefined : { since: dayOf(time), until: dayOf(time + DAY_MS) };
}

export function RunList() {
  const { query } = usePlace();
  const source = query.get('source') ?? '';
  const chosen = fromKey(source);
  const status = STATUSES.find(({ value }) => value === query.get('status'));
  const offset = useOffset();
  const day = dayFrom(query.get('day'));
  const [isStarting, setStarting] = useState(false);
  const sources = useSources();
  const runs = useQuery({
    key: ['runs', 'list', chosen, status?.value, day, offset],
    load: async () => await client().runs.list({ ...chosen, ...status?.query, ...day, limit: PART, offset }),
    everyMs: (all) => (all?.every(isOver) === true ? 5000 : 1500),
    topic: 'runs',
    keepsPrevious: true,
  });
  const start = mayUse(chosen?.component) && (
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
            to={chosen === undefined ? '/runs/charts' : at`/runs/charts?source=${source}`}
            icon="chart"
          >
            Charts
          </ButtonLink>
          <ButtonLink
            to={
              chosen === undefined
                ? '/runs/schedules'
                : at`/runs/schedules/${chosen.component}/${chosen.configuration}`
            }
            icon="clock"
          >
            Schedules
          </ButtonLink>
          {start}
        </>
      }
    >
      <div class="filters">
        <Select
          label="Source"
          isLabelHidden
          value={chosen === undefined ? '' : source}
          options={[
            { value: '', text: 'All sources' },
            ...(sources.data ?? []).map((source) => ({ value: source.key, text: source.name })),
          ]}
          onChange={(value) => setQuery({ source: value, offset: undefined })}
        />
        <Select
          label="Status"
          isLabelHidden
          value={status?.value ?? ''}
          options={STATUSES}
          onChange={(value) => setQuery({ status: value, offset: undefined })}
        />
        {day !== undefined && (
          <Button icon="close" onPress={() => setQuery({ day: undefined, offset: undefined })}>
            Not only those that ended on {day.since}, in UTC
          </Button>
        )}
      </div>
      <Loaded query={runs}>
        {(all) =>
          all.length === 0 && offset === 0 ? (
            <div class="card">
              {chosen !== undefined || status !== undefined || day !== undefined ? (
                <EmptyState
                  icon="run"
                  title="No run is like that"
                  action={
                    <Button
                      onPress={() => setQuery({ source: undefined, status: undefined, day: undefined })}
                    >
                      Show all runs
                    </Button>
                  }
                >
                  Choose another source, another status or another day.
                </EmptyState>
              ) : (
                <EmptyState icon="run" title="Nothing has run yet" action={start}>
                  A run asks the API of a source, and loads what it answers into tables.
                </EmptyState>
              )}
            </div>
          ) : (
            <>
              {(status?.value === 'waiting' || status?.value === 'processing') && <CancelAll runs={all} />}
              <DataTable
                label="Runs"
                columns={columnsOf(sources.data)}
                rows={all}
                rowKey={({ id }) => id}
                onOpen={({ id }) => navigate(at`/runs/${id}`)}
              />
              <Pager noun="runs" size={PART} shown={all.length} />
            </>
          )
        }
      </Loaded>
      {isStarting && (
        <StartRun
          component={chosen?.component}
          configuration={chosen?.configuration}
          onClose={() => setStarting(false)}
        />
      )}
    </Page>
  );
}

/** Cancels the runs of a list that have not ended. */
function CancelAll({ runs }: { readonly runs: readonly Run[] }) {
  const [isAsking, setAsking] = useState(false);
  const cancel = useMany(async (run) => await client().runs.cancel(run), 'asked to end');
  const open = runs.filter((run) => mayUse(run.component) && !isOver(run) && run.cancelTime === null);
  return (
    <>
      {open.length > 0 && (
        <div>
          <Button kind="danger" icon="close" onPress={() => setAsking(true)}>
            {open.length === 1 ? 'Cancel this run' : `Cancel these ${open.length} runs`}
          </Button>
        </div>
      )}
      <NotDone runs={cancel.failed} title="These were not cancelled:" />
      {isAsking && (
        <Confirm
          title="Cancel these runs?"
          action="Cancel the runs"
          onConfirm={() => void cancel.to(open.map(({ id }) => id)).then(() => setAsking(false))}
          onClose={() => setAsking(false)}
          isBusy={cancel.isRunning}
          error={undefined}
        >
          {`${plural(open.length, 'run')} of this list: what waits does not begin, and what is at work ends where it is and loads nothing more.`}
        </Confirm>
      )}
    </>
  );
}
