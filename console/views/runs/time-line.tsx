import { useEffect, useRef, useState } from 'preact/hooks';
import { leadText, startText } from '../../../src/engine/explain/value-origin-text.ts';
import type { Lead } from '../../../src/engine/explain/value-origin.ts';
import { client, type Run, type RunExplanation } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { Badge, EmptyState, ErrorBanner, Loaded } from '../../ui/states.tsx';
import {
  Bytes,
  CopyButton,
  Count,
  countText,
  durationText,
  KeyValue,
  plural,
  Text,
  timeOf,
} from '../../ui/values.tsx';
import { useVirtual } from '../../ui/virtual.ts';
import { LimitTrace } from './limit-trace.tsx';
import { SentRequests, useSentRequests } from './sent-requests.tsx';
import { isOver, Words } from './words.tsx';

type Asked = RunExplanation['requests'][number];

const PART = 200;
/** Parts that are in the page at once. */
const PARTS = 10;
const HEIGHT = 60;

/** Shows the requests of a run: those that failed, then every answered one with its origin, or all while it goes on. */
export function TimeLine({ run }: { readonly run: Run }) {
  const { query: bad, showMore } = useSentRequests(run, isOver(run));
  if (!isOver(run)) return <Sent query={bad} run={run} onMore={showMore} />;
  const { requests = [], bad: count = 0 } = bad.data ?? {};
  return (
    <div class="stack">
      {bad.error !== null && <ErrorBanner error={bad.error} />}
      {count > 0 && (
        <section class="stack" aria-label="Requests that failed">
          <h2>{plural(count, 'request')} failed</h2>
          <SentRequests {...{ run, requests, count }} onMore={showMore} />
          <h2>Requests with an answer that could be used</h2>
        </section>
      )}
      <Explained run={run} hasBad={count > 0} />
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
            <p class="muted" role="status">
              {plural(total, 'request')},{' '}
              {bad === 0 ? 'none of which failed' : `${countText(bad)} of which failed`}
              {isOver(run) ? '.' : '. What led to each is shown when the run has ended.'}
            </p>
            <SentRequests {...{ run, requests, onMore }} count={total} />
          </div>
        )
      }
    </Loaded>
  );
}

/** Shows all requests of a run that has left no explanation. */
function Unexplained({ run }: { readonly run: Run }) {
  const { query, showMore } = useSentRequests(run, false);
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
function Explained({ run, hasBad }: { readonly run: Run; readonly hasBad: boolean }) {
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
            <div class="runs-filter">
              {(names.length > 1 || job !== '') && (
                <Select
                  label="Job"
                  isLabelHidden
                  value={job}
                  options={[
                    { value: '', text: 'All jobs' },
                    ...names.map((name) => ({ value: name, text: name })),
                  ]}
                  onChange={(value) => setQuery({ job: value })}
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
            ) : (
              <Requests key={job} run={run} job={job} total={total} startMs={startMs} />
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

interface Parts {
  readonly at: (index: number) => Asked | undefined;
  readonly error: unknown;
}

/** Loads the visible parts of a long list, and a few of those before. */
function useParts(run: string, job: string, seen: readonly number[]): Parts {
  const parts = useRef(new Map<number, readonly Asked[] | 'asked'>());
  const [, setCount] = useState(0);
  const [error, setError] = useState<unknown>();
  const wanted = [...new Set(seen.map((index) => Math.floor(index / PART)))];
  const key = wanted.join();
  useEffect(() => {
    const gone = new AbortController();
    for (const part of wanted) {
      if (parts.current.has(part)) continue;
      parts.current.set(part, 'asked');
      client()
        .runs.explanation(
          run,
          { offset: part * PART, limit: PART, ...(job === '' ? {} : { job }) },
          { signal: gone.signal },
        )
        .then(
          ({ requests }) => {
            parts.current.set(part, requests);
            for (const old of parts.current.keys())
              if (parts.current.size > PARTS && !wanted.includes(old)) parts.current.delete(old);
            setError(undefined);
            setCount((count) => count + 1);
          },
          (reason: unknown) => {
            parts.current.delete(part);
            if (!gone.signal.aborted) setError(reason);
          },
        );
    }
    return () => gone.abort();
  }, [run, job, key]);
  return {
    at(index) {
      const part = parts.current.get(Math.floor(index / PART));
      return part === undefined || part === 'asked' ? undefined : part[index % PART];
    },
    error,
  };
}

function Requests({
  run,
  job,
  total,
  startMs,
}: {
  readonly run: Run;
  readonly job: string;
  readonly total: number;
  readonly startMs: number;
}) {
  const scroll = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<Asked | undefined>();
  const virtual = useVirtual({
    count: total,
    getScrollElement: () => scroll.current,
    estimateSize: () => HEIGHT,
    overscan: 6,
  });
  const items = virtual.getVirtualItems();
  const parts = useParts(
    run.id,
    job,
    items.map(({ index }) => index),
  );
  const spanMs = Math.max(1, timeOf(run.endTime ?? '') + 1000 - startMs);
  return (
    <>
      {parts.error !== undefined && <ErrorBanner error={parts.error} />}
      <div ref={scroll} class="runs-requests card" role="list" aria-label="Requests" tabIndex={0}>
        <div style={{ height: `${virtual.getTotalSize()}px` }}>
          {items.map(({ index, start }) => {
            const asked = parts.at(index);
            const before = index === 0 ? undefined : parts.at(index - 1);
            return (
              <div
                key={index}
                role="listitem"
                aria-setsize={total}
                aria-posinset={index + 1}
                class="runs-request"
                style={{ top: `${start}px`, height: `${HEIGHT}px` }}
              >
                {asked === undefined ? (
                  <span class="runs-wait" />
                ) : (
                  <Request
                    asked={asked}
                    before={before?.job === asked.job ? before : undefined}
                    startMs={startMs}
                    spanMs={spanMs}
                    onOpen={() => setOpen(asked)}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {open !== undefined && <Details asked={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function Request({
  asked,
  before,
  startMs,
  spanMs,
  onOpen,
}: {
  readonly asked: Asked;
  readonly before: Asked | undefined;
  readonly startMs: number;
  readonly spanMs: number;
  readonly onOpen: () => void;
}) {
  const { request, status, ms, retries, rows, fate, page, at } = asked;
  const offsetMs = Math.max(0, Date.parse(at) - ms - startMs);
  const left = Math.min(99, (offsetMs / spanMs) * 100);
  const width = Math.min(100 - left, Math.max(1, (ms / spanMs) * 100));
  return (
    <button type="button" class="runs-request-button" onClick={onOpen}>
      <span class="runs-request-page">
        <span class="number">{asked.step === undefined ? `page ${page}` : asked.step}</span>
        <span class="muted small number">+{durationText(offsetMs)}</span>
      </span>
      <span class="runs-request-what">
        <span class="runs-address">
          <b>{request.method}</b> <Address url={request.url} before={before?.request.url} />
        </span>
        <span class="muted small runs-why">
          <Words text={whyText(asked)} />
        </span>
      </span>
      <span class="runs-request-facts">
        <span>
          {fate !== 'used' && (
            <Badge tone={fate === 'bad' ? 'bad' : 'neutral'} isPlain>
              {FATES[fate]}
            </Badge>
          )}{' '}
          {retries > 0 && (
            <Badge tone="warn" isPlain>
              {plural(retries, 'retry').replace('retrys', 'retries')}
            </Badge>
          )}{' '}
          <Badge tone={status < 400 ? 'good' : 'bad'} isPlain>
            {status}
          </Badge>{' '}
          {rows !== undefined && (
            <span>
              <Count value={rows} /> {rows === 1 ? 'row' : 'rows'}
            </span>
          )}
        </span>
        <span class="runs-bar" title={`${durationText(ms)}, after ${durationText(offsetMs)}`}>
          <span style={{ left: `${left}%`, width: `${width}%` }} />
        </span>
      </span>
    </button>
  );
}

const FATES = { used: '', ahead: 'not needed', bad: 'not usable', open: 'the last one' } as const;

/** Shows an address without its host, with the differences from the request before marked. */
function Address({ url, before }: { readonly url: string; readonly before: string | undefined }) {
  const [path, parameters] = split(url);
  const known = before === undefined ? undefined : split(before);
  const old = new Set(known?.[1]);
  return (
    <bdi>
      {known !== undefined && known[0] !== path ? <mark>{path}</mark> : path}
      {parameters.map((text, i) => (
        <span key={i}>
          {i === 0 ? '?' : '&'}
          {known !== undefined && !old.has(text) ? <mark>{text}</mark> : text}
        </span>
      ))}
    </bdi>
  );
}

function split(url: string): readonly [path: string, parameters: readonly string[]] {
  const found = URL.parse(url);
  if (found === null) return [url, []];
  return [found.pathname, found.search === '' ? [] : found.search.slice(1).split('&')];
}

function leadsOf({ from }: Asked): readonly Lead[] {
  // Written by the command, of this version or an older one.
  return from as readonly Lead[];
}

/** Describes the origin of a request, and the end that its answer caused. */
function whyText(asked: Asked): string {
  const leads = leadsOf(asked).map(leadText);
  const end = endText(asked);
  const parts = leads.length > 0 ? leads : [startText(asked.page, asked.step, false)];
  return [...parts, ...(end === undefined ? [] : [`the last page: ${end}`])]
    .filter((part) => part !== '')
    .join('; ');
}

function endText({ end }: Asked): string | undefined {
  return typeof end === 'object' && end !== null && 'text' in end && typeof end.text === 'string'
    ? end.text
    : undefined;
}

function Details({ asked, onClose }: { readonly asked: Asked; readonly onClose: () => void }) {
  const { request, looked, retries } = asked;
  const leads = leadsOf(asked);
  const end = endText(asked);
  return (
    <Dialog title={`${asked.job}, ${asked.step ?? `page ${asked.page}`}`} onClose={onClose} form="side">
      <div class="stack">
        <div class="spread">
          <code class="runs-whole">
            <Text>{`${request.method} ${request.url}`}</Text>
          </code>
          <CopyButton text={request.url} label="Copy the address" />
        </div>
        {request.body !== undefined && (
          <pre class="runs-whole">
            <Text>{request.body}</Text>
          </pre>
        )}
        <KeyValue
          items={[
            ['Status', asked.status],
            ['Answered', new Date(asked.at).toLocaleString('en')],
            ['Took', `${durationText(asked.ms)}${retries > 0 ? `, with ${retries} further attempts` : ''}`],
            ['Size', <Bytes value={asked.bytes} />],
            ...(asked.rows === undefined ? [] : [['Rows', <Count value={asked.rows} />] as const]),
            ...(asked.answeredBy === undefined
              ? []
              : [['Answered by', <Text>{asked.answeredBy}</Text>] as const]),
            ...(asked.run.window === undefined ? [] : [['Window', <Text>{asked.run.window}</Text>] as const]),
          ]}
        />
        <h3>What led to it</h3>
        <ul class="runs-reasons">
          {leads.length === 0 && <li>{startText(asked.page, asked.step, false) || 'It is not known.'}</li>}
          {leads.map((lead, i) => (
            <li key={i}>
              <Words text={leadText(lead)} />
            </li>
          ))}
        </ul>
        {looked !== undefined && looked !== null && Object.keys(looked).length > 0 && (
          <>
            <h3>What was looked at in the answer</h3>
            <KeyValue
              items={Object.entries(looked).map(([place, value]) => [
                place,
                value === null ? <span class="muted">null</span> : <Text>{String(value)}</Text>,
              ])}
            />
          </>
        )}
        {end !== undefined && (
          <>
            <h3>Why it was the last page</h3>
            <p>
              <Words text={end} />
            </p>
          </>
        )}
      </div>
    </Dialog>
  );
}
