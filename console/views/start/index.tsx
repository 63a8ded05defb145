import type { ComponentChildren } from 'preact';
import { client, type Bucket, type Job, type Run, type Table } from '../../data/client.ts';
import { failureOfJob, operationText } from '../../data/job-words.ts';
import { useQuery, wordsOf } from '../../data/query.ts';
import { FAILING, keyOf, nameOf, useSources } from '../../data/sources.ts';
import { currentSession, maySee, mayWrite } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at } from '../../route/router.ts';
import { Page } from '../../ui/page.tsx';
import { StatusBadge, VerdictBadge } from '../../ui/run-badges.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { bytesText, countText, plural, RelativeTime, Text, timeOf } from '../../ui/values.tsx';
import { FileZone } from './file-zone.tsx';
import { FirstSteps } from './first-steps.tsx';
import './start.css';

const MOST = 6;
const EVERY_MS = 10_000;
/** More sources that fail are not counted one by one. */
const COUNTED = 500;

/** Shows the state of the service at a glance, failures first. */
export default function Start() {
  const { runs: doesRuns } = currentSession();
  const hasRuns = doesRuns && maySee();
  const runs = useQuery({
    key: ['runs', 'start'],
    load: lookAtRuns,
    everyMs: EVERY_MS,
    topic: 'runs',
    isEnabled: hasRuns,
  });
  const sources = useSources();
  const jobs = useQuery({
    key: ['jobs', 'start'],
    load: async () => await client().jobs.list({ limit: MOST, storage_job_status: ['error'] }),
    everyMs: EVERY_MS,
    topic: 'jobs',
  });
  const storage = useQuery({
    key: ['tables', 'start'],
    load: lookAtStorage,
    everyMs: 30_000,
    topic: 'tables',
  });
  const isLoading = (hasRuns && runs.isPending) || jobs.isPending || storage.isPending;
  const isEmpty =
    storage.data?.buckets.length === 0 && jobs.data?.length === 0 && (runs.data?.last ?? []).length === 0;
  if (isLoading)
    return (
      <Page title="Start">
        <Skeleton />
      </Page>
    );
  if (isEmpty)
    return (
      <Page title="Start">
        <FirstSteps />
      </Page>
    );
  const { buckets = [], tables = [] } = storage.data ?? {};
  return (
    <Page title="Start" about={storage.data && <Sizes buckets={buckets} />}>
      <div class="start">
        <Section title="Last runs" to="/runs" error={runs.error}>
          {hasRuns ? (
            <>
              <Failing runs={runs.data?.failing ?? []} />
              <List
                rows={[...(runs.data?.failing ?? []), ...(runs.data?.last ?? [])].slice(0, MOST)}
                empty="Nothing has run yet."
                show={(run) => (
                  <RunLine
                    key={run.id}
                    run={run}
                    name={nameOf(sources.data, run.component, run.configuration)}
                  />
                )}
              />
              <p>
                <Link to="/runs/problems">What went wrong, by causes</Link>
              </p>
            </>
          ) : (
            <p class="muted">{doesRuns ? 'Your token may see no runs.' : 'This service does no runs.'}</p>
          )}
        </Section>
        <Section title="Jobs that failed" to="/jobs?status=error" error={jobs.error}>
          <List
            rows={jobs.data ?? []}
            empty="No job has failed."
            show={(job) => <JobLine key={job.id} job={job} />}
          />
        </Section>
        <Section title="Tables changed lately" to="/tables" error={storage.error}>
          <List
            rows={tables}
            empty="There are no tables yet."
            show={(table) => <TableLine key={table.id} table={table} />}
          />
        </Section>
      </div>
      {mayWrite() && <FileZone about="Drop a CSV file here to make a table of it." />}
    </Page>
  );
}

interface Storage {
  readonly buckets: readonly Bucket[];
  readonly tables: readonly Table[];
}

async function lookAtStorage(): Promise<Storage> {
  const [buckets, tables] = await Promise.all([
    client().buckets.list(),
    client().tables.list({ include: [], changedLast: MOST }),
  ]);
  return { buckets, tables: newestFirst(tables) };
}

/** Looks at the sources that failed when they ended last, and at the last run of some others. */
async function lookAtRuns(): Promise<{ readonly failing: readonly Run[]; readonly last: readonly Run[] }> {
  const [failing, last] = await Promise.all([
    client().runs.list({ ...FAILING, limit: COUNTED }),
    client().runs.list({ isLast: true, limit: 2 * MOST }),
  ]);
  const told = new Set(failing.map(sourceOf));
  return { failing, last: last.filter((run) => !told.has(sourceOf(run))) };
}

const sourceOf = ({ component, configuration }: Run): string => keyOf(component, configuration);

function newestFirst<T extends { readonly lastChangeDate: string | null }>(all: readonly T[]): T[] {
  const time = ({ lastChangeDate }: T): number => (lastChangeDate === null ? 0 : timeOf(lastChangeDate));
  return all.toSorted((a, b) => time(b) - time(a));
}

const BAD = new Set(['error', 'cut', 'doubtful']);

/** Says how many sources fail, however few of them are listed. */
function Failing({ runs }: { readonly runs: readonly Run[] }) {
  if (runs.length === 0) return null;
  const count = runs.length < COUNTED ? countText(runs.length) : `${countText(COUNTED)} or more`;
  return (
    <p>
      <Link to="/runs?status=failing">
        {runs.length === 1 ? '1 source' : `${count} sources`} failed or may not have everything
      </Link>
      {runs.length > MOST && <span class="muted small">, the newest {MOST} of them:</span>}
    </p>
  );
}

function Sizes({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const rows = buckets.reduce((sum, { rowsCount }) => sum + rowsCount, 0);
  const bytes = buckets.reduce((sum, { dataSizeBytes }) => sum + dataSizeBytes, 0);
  return (
    <>
      {plural(buckets.length, 'bucket')}, {plural(rows, 'row')}, {bytesText(bytes)}
    </>
  );
}

function Section({
  title,
  to,
  error,
  children,
}: {
  readonly title: string;
  readonly to: string;
  readonly error: unknown;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="card start-card">
      <div class="spread">
        <h2>{title}</h2>
        <Link to={to}>
          All<span class="visually-hidden"> of: {title}</span>
        </Link>
      </div>
      {error === null || error === undefined ? children : <p class="muted">{wordsOf(error).message}</p>}
    </section>
  );
}

function List<Row>({
  rows,
  empty,
  show,
}: {
  readonly rows: readonly Row[];
  readonly empty: string;
  readonly show: (row: Row) => ComponentChildren;
}) {
  if (rows.length === 0) return <p class="muted">{empty}</p>;
  return <ul class="start-list">{rows.map(show)}</ul>;
}

function RunLine({ run, name }: { readonly run: Run; readonly name: string }) {
  const { id, verdict, createdTime, error } = run;
  return (
    <li>
      <div class="start-line">
        <Link to={at`/runs/${id}`}>
          <Text>{name}</Text>
        </Link>
        {verdict !== null && BAD.has(verdict) ? (
          <VerdictBadge verdict={verdict} />
        ) : (
          <StatusBadge run={run} />
        )}
        <span class="muted small">
          <RelativeTime value={createdTime} />
        </span>
      </div>
      {error !== null && (
        <p class="start-why">
          <Text>{error.message}</Text>
        </p>
      )}
    </li>
  );
}

function JobLine({ job }: { readonly job: Job }) {
  return (
    <li>
      <div class="start-line">
        <Link to={at`/jobs/${job.id}`}>
          <Text>{operationText(job)}</Text>
        </Link>
        <span class="muted small">
          <RelativeTime value={job.createdTime} />
        </span>
      </div>
      <p class="start-why">
        <Text>{failureOfJob(job)?.message ?? ''}</Text>
      </p>
    </li>
  );
}

function TableLine({ table: { id, rowsCount, lastChangeDate } }: { readonly table: Table }) {
  return (
    <li>
      <div class="start-line start-table">
        <Link to={at`/tables/${id}`}>
          <Text>{id}</Text>
        </Link>
        {rowsCount !== null && <span class="muted small">{plural(rowsCount, 'row')}</span>}
        <span class="muted small">
          <RelativeTime value={lastChangeDate} />
        </span>
      </div>
    </li>
  );
}
