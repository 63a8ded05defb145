import { client, type Run, type RunRequest } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { Select } from '../../ui/field.tsx';
import { EmptyState, ErrorBanner, Loaded } from '../../ui/states.tsx';
import { countText, plural, timeOf } from '../../ui/values.tsx';
import { ExplainedRequests } from './explained-requests.tsx';
import { LimitTrace } from './limit-trace.tsx';
import { LinkedRequest } from './linked-request.tsx';
import { SeekRequest } from './seek-request.tsx';
import { nameOf, SentRequests, useSentRequests } from './sent-requests.tsx';
import { StatusChart } from './status-chart.tsx';
import { SpanKey } from './spans.tsx';
import { isOver } from './words.tsx';

/** Shows the requests of a run: those that failed, then every answered one with its origin, or all while it goes on. */
export function TimeLine({ run }: { readonly run: Run }) {
  const linked = usePlace().query.get('sent');
  const { query: bad, showMore } = useSentRequests(run, { isBad: isOver(run) });
  if (!isOver(run)) return <Sent query={bad} run={run} onMore={showMore} />;
  const { requests, bad: count = 0 } = bad.data ?? {};
  return (
    <>
      <Ended {...{ run, requests, count, showMore }} error={bad.error} />
      {linked !== null && requests?.every((sent) => nameOf(sent) !== linked) === true && (
        <LinkedRequest key={linked} run={run} name={linked} />
      )}
    </>
  );
}

function Ended({
  run,
  requests = [],
  count,
  error,
  showMore,
}: {
  readonly run: Run;
  /** Those that failed; undefined until they are known. */
  readonly requests: readonly RunRequest[] | undefined;
  readonly count: number;
  readonly error: unknown;
  readonly showMore: (() => void) | undefined;
}) {
  // An answer after failures is told of with its attempts, and all of them are counted by their status.
  const { query: sent } = useSentRequests(run, { isBad: false, isWhole: true });
  const known = new Map([...(sent.data?.requests ?? []), ...requests].map((each) => [nameOf(each), each]));
  return (
    <div class="stack">
      {error !== null && <ErrorBanner error={error} />}
      {sent.data !== undefined && (
        <StatusChart run={run} requests={sent.data.requests} total={sent.data.total} />
      )}
      {count > 0 && (
        <section class="stack" aria-label="Requests that failed">
          <div class="spread">
            <h2>{plural(count, 'request')} failed</h2>
            <SpanKey />
          </div>
          <SentRequests {...{ run, requests, count }} onMore={showMore} />
          <h2>Requests with an answer that could be used</h2>
        </section>
      )}
      <Explained run={run} hasBad={count > 0} sent={[...known.values()]} />
    </div>
  );
}

/** Shows all requests as they were sent. */
function Sent({
  run,
  query,
  onMore,
}: {
  readonly run: Run;
  readonly query: ReturnType<typeof useSentRequests>['query'];
  readonly onMore: (() => void) | undefined;
}) {
  return (
    <Loaded query={query}>
      {({ requests, total, bad }) =>
        total === 0 ? (
          <div class="card">
            <EmptyState icon="clock" title={isOver(run) ? 'Nothing was asked' : 'Nothing is answered yet'}>
              {isOver(run)
                ? 'The run ended before its first request.'
                : 'Each request appears here when it is answered or has failed.'}
            </EmptyState>
          </div>
        ) : (
          <div class="stack">
            <div class="spread">
              <p class="muted" role="status">
                {plural(total, 'request')},{' '}
                {bad === 0 ? 'none of which failed' : `${countText(bad)} of which failed`}
                {isOver(run) ? '.' : '. What led to each is shown when the run has ended.'}
              </p>
              <SpanKey />
            </div>
            <SentRequests {...{ run, requests, onMore }} count={total} />
          </div>
        )
      }
    </Loaded>
  );
}

/** Shows all requests of a run that has left no explanation. */
function Unexplained({ run }: { readonly run: Run }) {
  const { query, showMore } = useSentRequests(run, { isBad: false });
  if (query.data?.total === 0)
    return (
      <div class="card">
        <EmptyState icon="clock" title="There is no time line of this run">
          It could not begin, its process was ended by force, or what it got was too large to be kept. The log
          says how far it was.
        </EmptyState>
      </div>
    );
  return <Sent {...{ run, query }} onMore={showMore} />;
}

/** Shows every answered request in its order, with its origin; only the visible part is loaded. */
function Explained({
  run,
  hasBad,
  sent,
}: {
  readonly run: Run;
  readonly hasBad: boolean;
  readonly sent: readonly RunRequest[];
}) {
  const { query } = usePlace();
  const job = query.get('job') ?? '';
  const head = useQuery({
    key: ['runs', run.id, 'explanation'],
    load: async (signal) => await client().runs.explanation(run.id, { limit: 0 }, { signal }),
  });
  if (isNone(head.error)) return <Unexplained run={run} />;
  return (
    <Loaded query={head}>
      {({ recordings }) => {
        const jobs = recordings.flatMap((recording) => recording.jobs);
        const names = [...new Set(jobs.map((each) => each.job))];
        const total = jobs
          .filter((each) => job === '' || each.job === job)
          .reduce((sum, { requests }) => sum + requests, 0);
        const leftOut = recordings.reduce((sum, recording) => sum + (recording.leftOut ?? 0), 0);
        // As the requests above, which are counted from the start of the run.
        const startMs = Math.min(
          timeOf(run.startTime ?? run.createdTime),
          ...recordings.map(({ startedAt }) => Date.parse(startedAt)),
        );
        return (
          <div class="stack">
            <LimitTrace recordings={recordings} startMs={startMs} endMs={timeOf(run.endTime ?? '')} />
            <div class="filters">
              {(names.length > 1 || job !== '') && (
                <Select
                  label="Job"
                  isLabelHidden
                  value={job}
                  options={[
                    { value: '', text: 'All jobs' },
                    ...names.map((name) => ({ value: name, text: name })),
                  ]}
                  onChange={(value) => setQuery({ job: value, request: undefined })}
                />
              )}
              <span class="muted" role="status">
                {plural(total, 'request')}
                {leftOut > 0 && `, and ${plural(leftOut, 'request')} in the middle that are not kept`}
              </span>
            </div>
            {total === 0 ? (
              <div class="card">
                <EmptyState icon="clock" title={hasBad ? 'Nothing else was answered' : 'Nothing was asked'}>
                  {hasBad
                    ? 'All that was asked failed: it is above.'
                    : 'The run has sent no request of this job.'}
                </EmptyState>
              </div>
            ) : query.has('answered') ? (
              <SeekRequest {...{ run, job, total }} />
            ) : (
              <ExplainedRequests key={job} {...{ run, job, total, startMs, sent }} />
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

function isNone(error: unknown): boolean {
  return error instanceof Error && /has no explanation/.test(error.message);
}
