import { client, type FilledTable, type ListedSchedule, type Run } from '../../data/client.ts';
import { cronText } from '../../ui/cron-words.ts';
import { useQuery } from '../../data/query.ts';
import { runsOf } from '../../data/sources.ts';
import { zoned } from '../../ui/zoned.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate } from '../../route/router.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { StatusBadge, VerdictBadge } from '../../ui/run-badges.tsx';
import { RunCharts, RunStrip } from '../../ui/run-strip.tsx';
import { Badge, Banner, EmptyState, Loaded } from '../../ui/states.tsx';
import { Count, countText, durationText, plural, RelativeTime, Text, timeOf } from '../../ui/values.tsx';

/** Runs of the strip and of the charts. */
const RUNS = 60;

interface Of {
  readonly component: string;
  readonly id: string;
}

/** Shows how a source is: its last runs, its last problem, when it runs next, and the tables that it fills. */
export function Overview({ component, id }: Of) {
  const runs = useQuery({
    key: ['runs', 'list', 'of-source', component, id],
    load: async () => await client().runs.list({ component, configuration: id, limit: RUNS }),
    everyMs: 5000,
    topic: 'runs',
  });
  return (
    <Loaded query={runs}>
      {(all) => (
        <div class="stack">
          <LastProblem runs={all} />
          <div class="source-cards">
            <LastRuns component={component} id={id} runs={all} />
            <NextTimes component={component} id={id} />
          </div>
          <RunCharts runs={all} />
          <Tables component={component} id={id} runs={all} />
        </div>
      )}
    </Loaded>
  );
}

const isOver = ({ status }: Run): boolean => status === 'error' || status === 'success';

/** Shows why the last run that came to an end was bad. */
function LastProblem({ runs }: { readonly runs: readonly Run[] }) {
  const last = runs.find(isOver);
  if (last === undefined) return null;
  const { error, verdict, id } = last;
  const isDoubtful = error === null && verdict === 'doubtful';
  if (error === null && !isDoubtful) return null;
  const since = runs.filter(isOver).findIndex((run) => run.error === null && run.verdict !== 'doubtful');
  return (
    <Banner kind={error === null ? 'warn' : 'bad'}>
      <p>
        <Link to={at`/runs/${id}`}>{`Run ${id}`}</Link> {error === null ? 'is in doubt' : 'failed'}{' '}
        <RelativeTime value={last.endTime} />
        {since > 1 && `, as did the ${plural(since - 1, 'run')} before it`}.{' '}
        <Text>{error?.message ?? 'Its tables may not have everything.'}</Text>
      </p>
      <p class="small">
        <strong>To do:</strong>{' '}
        <Text>
          {error?.hint ??
            'Look at its requests and its log: they tell what was answered, and what led to it.'}
        </Text>{' '}
        <Link to={at`/runs/${id}?tab=requests`}>Its requests</Link> ·{' '}
        <Link to={at`/runs/${id}?tab=log`}>its log</Link>
      </p>
    </Banner>
  );
}

function LastRuns({ component, id, runs }: Of & { readonly runs: readonly Run[] }) {
  const [last] = runs;
  return (
    <section class="card source-card" aria-label="Last runs">
      <h2>Last runs</h2>
      {last === undefined ? (
        <p class="muted">It has not run yet. Run now asks its API, and loads what it answers into tables.</p>
      ) : (
        <>
          <RunStrip runs={runs} />
          <p>
            <Link to={at`/runs/${last.id}`}>Run {last.id}</Link> <StatusBadge run={last} />{' '}
            {last.verdict !== null && <VerdictBadge verdict={last.verdict} />}{' '}
            <span class="muted">
              <RelativeTime value={last.endTime ?? last.createdTime} />
              {last.rowCount !== undefined && (
                <>
                  , <span class="source-number">{plural(last.rowCount, 'row')}</span>
                </>
              )}
              {last.startTime !== null && last.endTime !== null && (
                <>
                  ,{' '}
                  <span class="source-number">
                    in {durationText(Math.max(0, timeOf(last.endTime) - timeOf(last.startTime)))}
                  </span>
                </>
              )}
            </span>
          </p>
          <p>
            <Link to={runsOf(component, id)}>All its runs</Link>
          </p>
        </>
      )}
    </section>
  );
}

const HELD: Readonly<Record<ListedSchedule['waitsFor'], string>> = {
  time: '',
  run: 'The run that it asked for has not ended.',
  resume: 'It is paused.',
  enabling: 'It is disabled.',
  configuration: 'The source is disabled.',
  approval: 'Its last run was refused: somebody has to approve the version.',
  nothing: 'Its expression has no more times.',
};

function NextTimes({ component, id }: Of) {
  const schedules = useQuery({
    key: ['schedules', 'of-source', component, id],
    load: async () => await client().schedules.list({ component, configuration: id }),
    everyMs: 30_000,
    topic: ['schedules', 'runs'],
  });
  return (
    <section class="card source-card" aria-label="Next runs">
      <h2>Next runs</h2>
      <Loaded query={schedules}>
        {(all) =>
          all.length === 0 ? (
            <p class="muted">It runs only when somebody starts it.</p>
          ) : (
            <ul class="source-lines">
              {all.map(({ id: schedule, cron, timeZone, nextTime, waitsFor }) => (
                <li key={schedule}>
                  <Text>{cronText(cron)}</Text> <span class="muted small">{timeZone}</span>
                  <br />
                  <span class="muted">
                    {nextTime !== null && (
                      <>
                        Next: {zoned(nextTime, timeZone)} (<RelativeTime value={nextTime} />
                        ).{' '}
                      </>
                    )}
                    {HELD[waitsFor]}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <p>
        <Link to={at`/runs/schedules/${component}/${id}`}>Its schedules</Link>
      </p>
    </section>
  );
}

function columnsOf(lastGood: string | undefined): readonly Column<FilledTable>[] {
  const isOld = ({ lastRun }: FilledTable): boolean =>
    lastGood !== undefined && Number(lastRun) < Number(lastGood);
  return [
    {
      id: 'table',
      title: 'Table',
      width: 320,
      show: ({ table, isThere }) =>
        isThere ? (
          <Link to={at`/tables/${table}`}>
            <Text>{table}</Text>
          </Link>
        ) : (
          <Text>{table}</Text>
        ),
    },
    {
      id: 'state',
      title: 'Freshness',
      width: 210,
      show: (filled) => {
        if (!filled.isThere) return <Badge tone="bad">deleted</Badge>;
        return (
          <>
            <RelativeTime value={filled.lastTime} />{' '}
            {isOld(filled) && (
              <Badge tone="warn" isPlain>
                not by the last run
              </Badge>
            )}
          </>
        );
      },
    },
    {
      id: 'now',
      title: 'Rows now',
      width: 110,
      align: 'right',
      show: ({ rowsCount }) =>
        rowsCount === null ? <span class="muted">–</span> : <Count value={rowsCount} />,
    },
    {
      id: 'given',
      title: 'Last given',
      width: 110,
      align: 'right',
      show: ({ lastRows }) => <Count value={lastRows} />,
    },
    {
      id: 'run',
      title: 'By run',
      width: 110,
      show: ({ lastRun, lastStatus }) =>
        lastStatus === null ? (
          <span class="muted">{lastRun}</span>
        ) : (
          <Link to={at`/runs/${lastRun}`}>{lastRun}</Link>
        ),
    },
    {
      id: 'output',
      title: 'Output',
      width: 220,
      text: ({ row, output }) => (row === undefined ? output : `${row} / ${output}`),
    },
  ];
}

function Tables({ component, id, runs }: Of & { readonly runs: readonly Run[] }) {
  const tables = useQuery({
    key: ['sources', component, id, 'tables'],
    load: async () => await client().configurations(component).tables(id),
    everyMs: 30_000,
    topic: 'runs',
  });
  const lastGood = runs.find(({ status, asked }) => status === 'success' && asked.rows === undefined)?.id;
  return (
    <section class="stack" aria-label="Tables that it fills">
      <h2>Tables that it fills</h2>
      <Loaded query={tables}>
        {(all) =>
          all.length === 0 ? (
            <div class="card">
              <EmptyState icon="table" title="It has filled no table yet">
                The tables of each run that ends well are listed here, with how fresh they are.
              </EmptyState>
            </div>
          ) : (
            <>
              <p class="muted small">
                {plural(new Set(all.map(({ table }) => table)).size, 'table')},{' '}
                {countText(all.reduce((sum, { rowsCount }) => sum + (rowsCount ?? 0), 0))} rows now.
              </p>
              <DataTable
                label="Tables that it fills"
                columns={columnsOf(lastGood)}
                rows={all}
                rowKey={({ table, row, output }) => JSON.stringify([table, row, output])}
                onOpen={({ table }) => navigate(at`/tables/${table}`)}
              />
            </>
          )
        }
      </Loaded>
    </section>
  );
}
