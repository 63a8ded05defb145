import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { client, type Run, type RunRequest } from '../../data/client.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { Badge, ErrorBanner } from '../../ui/states.tsx';
import { Count, durationText, plural, timeOf } from '../../ui/values.tsx';
import { useIsNarrow } from '../../ui/narrow.ts';
import { useVirtual } from '../../ui/virtual.ts';
import { ExplainedDetails, whyText, type Asked } from './explained-details.tsx';
import { SpanBar, spansOf, spansText, type Span } from './spans.tsx';
import { Words } from './words.tsx';

const PART = 200;
/** Parts that are in the page at once. */
const PARTS = 10;
const HEIGHT = 60;
/** Room for status and rows below the address. */
const NARROW_HEIGHT = 84;

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

/** Opens a request, which the address then holds. */
function setOpened(index: number | undefined): void {
  setQuery({ request: index === undefined ? undefined : String(index + 1) });
}

/** Lists every answered request in its order; the address holds the one that is open. */
export function ExplainedRequests({
  run,
  job,
  total,
  startMs,
  sent,
}: {
  readonly run: Run;
  readonly job: string;
  readonly total: number;
  readonly startMs: number;
  /** Attempts that are known, for what failed before an answer. */
  readonly sent: readonly RunRequest[];
}) {
  const scroll = useRef<HTMLDivElement>(null);
  const opened = Number(usePlace().query.get('request')) - 1;
  const isOpened = Number.isInteger(opened) && opened >= 0 && opened < total;
  const height = useIsNarrow() ? NARROW_HEIGHT : HEIGHT;
  const virtual = useVirtual({
    count: total,
    getScrollElement: () => scroll.current,
    estimateSize: () => height,
    overscan: 6,
  });
  useLayoutEffect(() => virtual.measure(), [virtual, height]);
  const items = virtual.getVirtualItems();
  const seen = items.map(({ index }) => index);
  const parts = useParts(run.id, job, isOpened ? [...seen, opened] : seen);
  // A link leads to its request, wherever that is; who opens another one sees it already.
  useEffect(() => {
    if (isOpened) virtual.scrollToIndex(opened, { align: 'center' });
  }, []);
  const open = isOpened ? parts.at(opened) : undefined;
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
                style={{ top: `${start}px`, height: `${height}px` }}
              >
                {asked === undefined ? (
                  <span class="runs-wait" />
                ) : (
                  <Request
                    asked={asked}
                    before={before?.job === asked.job ? before : undefined}
                    spans={spansOf(asked, sent)}
                    startMs={startMs}
                    spanMs={spanMs}
                    onOpen={() => setOpened(index)}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {open !== undefined && (
        <ExplainedDetails asked={open} spans={spansOf(open, sent)} onClose={() => setOpened(undefined)} />
      )}
    </>
  );
}

function Request({
  asked,
  before,
  spans,
  startMs,
  spanMs,
  onOpen,
}: {
  readonly asked: Asked;
  readonly before: Asked | undefined;
  readonly spans: readonly Span[];
  readonly startMs: number;
  readonly spanMs: number;
  readonly onOpen: () => void;
}) {
  const { request, status, ms, retries, rows, fate, page, at } = asked;
  const offsetMs = Math.max(0, Date.parse(at) - ms - startMs);
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
        <SpanBar spans={spans} startMs={startMs} spanMs={spanMs} />
        {spans.length > 1 && <span class="visually-hidden">{spansText(spans)}</span>}
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
