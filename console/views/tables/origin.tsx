import { client, type Table, type TableLoad, type TableSource } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { maySee } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at } from '../../route/router.ts';
import { BarChart } from '../../ui/chart.tsx';
import { SourceLink } from '../../ui/source-link.tsx';
import { RUN_STATUS, VerdictBadge } from '../../ui/run-badges.tsx';
import { Badge, EmptyState, Loaded } from '../../ui/states.tsx';
import {
  bytesText,
  By,
  countText,
  plural,
  RelativeTime,
  relativeText,
  Text,
  timeOf,
} from '../../ui/values.tsx';

const LOADS = 100;

/** Shows where the rows of a table come from: its sources with their last runs, and its loads. */
export function Origin({ table }: { readonly table: Table }) {
  const { id } = table;
  const sources = useQuery({
    key: ['tables', id, 'sources'],
    load: async () => await client().tables.sources(id),
    everyMs: 30_000,
    topic: 'runs',
  });
  const loads = useQuery({
    key: ['tables', id, 'loads'],
    load: async () => await client().tables.loads(id, { limit: LOADS }),
    everyMs: 30_000,
    topic: 'tables',
  });
  return (
    <div class="stack">
      <Loaded query={sources}>
        {({ table: rowsIn, sources: all, hidden, lastImportDate }) => (
          <>
            {rowsIn !== id && (
              <p>
                It shows rows of{' '}
                <Link to={at`/tables/${rowsIn}?tab=origin`}>
                  <Text>{rowsIn}</Text>
                </Link>
                , which come from:
              </p>
            )}
            {all.length === 0 && hidden === 0 && (
              <div class="card">
                <EmptyState icon="source" title="No run of a source has loaded it">
                  {lastImportDate === null
                    ? 'Nothing was loaded into it yet.'
                    : 'What was loaded into it came by a file or another program: its loads are below.'}
                </EmptyState>
              </div>
            )}
            {all.map((source) => (
              <Source
                key={JSON.stringify([source.component, source.configuration, source.row, source.output])}
                source={source}
              />
            ))}
            {hidden > 0 && (
              <p class="muted">
                {plural(hidden, 'source')} of components that your token may not use
                {all.length === 0 ? ' fills it.' : ' fill it, too.'}
              </p>
            )}
          </>
        )}
      </Loaded>
      <Loaded query={loads}>{(all) => <Loads loads={all} />}</Loaded>
    </div>
  );
}

function Source({ source }: { readonly source: TableSource }) {
  const { component, configuration, name, row, output, lastRun, lastStatus } = source;
  const [tone, text] =
    lastStatus === null ? (['neutral', 'no longer kept'] as const) : RUN_STATUS[lastStatus];
  return (
    <section class="card tables-source" aria-label={`From ${name}`}>
      <div class="spread">
        <h2>
          <SourceLink {...{ component, configuration, name }} />
        </h2>
        <span class="row">
          {source.isDeleted ? (
            <Badge tone="bad">in the trash</Badge>
          ) : (
            source.isDisabled && <Badge tone="warn">disabled</Badge>
          )}
          <span class="muted small">
            <Text>{component}</Text>
          </span>
        </span>
      </div>
      <p>
        Last loaded <RelativeTime value={source.lastTime} /> by run{' '}
        {lastStatus === null ? lastRun : <Link to={at`/runs/${lastRun}`}>{lastRun}</Link>}{' '}
        <Badge tone={tone}>{text}</Badge> <VerdictBadge verdict={source.lastVerdict} />
        <span class="muted">
          {' '}
          {plural(source.lastRows, 'row')}
          {source.lastVersion !== null && `, by version ${source.lastVersion}`}, of{' '}
          {plural(source.runs, 'run')} that loaded it
        </span>
      </p>
      <p class="muted">
        By its output <Text>{output}</Text>
        {row !== undefined && (
          <>
            {' '}
            of the row{' '}
            <Link to={at`/sources/${component}/${configuration}/rows/${row}`}>
              <Text>{row}</Text>
            </Link>
          </>
        )}
        {'. '}
        {source.nextTime !== null ? (
          <>
            <Link to={at`/runs/schedules/${component}/${configuration}`}>Runs next</Link>{' '}
            <RelativeTime value={source.nextTime} />.
          </>
        ) : source.schedules > 0 ? (
          'Its schedules are paused.'
        ) : (
          'It has no schedule: it runs when somebody starts it.'
        )}
      </p>
      {lastStatus !== null && (
        <p>
          <Link to={at`/runs/${lastRun}?tab=requests`}>The requests that brought its rows</Link>
        </p>
      )}
    </section>
  );
}

const when = ({ time }: TableLoad): string => relativeText(timeOf(time) - Date.now());

/** Shows how the table has grown, and each load. */
function Loads({ loads }: { readonly loads: readonly TableLoad[] }) {
  if (loads.length === 0) return null;
  const shown = loads.toReversed();
  const bars = (value: (load: TableLoad) => number) =>
    shown.map((load) => ({
      key: load.job,
      name: when(load),
      shown: <LoadedBy load={load} />,
      values: [value(load)],
    }));
  return (
    <section class="stack" aria-label="Its loads">
      <h2>{loads.length === LOADS ? `Its last ${LOADS} loads` : plural(loads.length, 'load')}</h2>
      <div class="chart-pair">
        <BarChart
          title="Rows in the table after each load"
          of="Load"
          series={[{ name: 'Rows', tone: 'accent' }]}
          bars={bars(({ totalRows }) => totalRows)}
          format={countText}
        />
        <BarChart
          title="Size of the table after each load"
          of="Load"
          series={[{ name: 'Size', tone: 'accent' }]}
          bars={bars(({ totalBytes }) => totalBytes)}
          format={bytesText}
        />
      </div>
    </section>
  );
}

/** Names who loaded, and when. */
function LoadedBy({ load }: { readonly load: TableLoad }) {
  return (
    <>
      {load.run === null ? (
        <Link to={at`/jobs/${load.job}`}>Job {load.job}</Link>
      ) : maySee() ? (
        <Link to={at`/runs/${load.run}`}>Run {load.run}</Link>
      ) : (
        `Run ${load.run}`
      )}{' '}
      <span class="muted">
        <RelativeTime value={load.time} />, {plural(load.rows, 'row')}
        {load.run === null && (
          <>
            , by <By token={load.creatorToken} />
          </>
        )}
      </span>
    </>
  );
}
