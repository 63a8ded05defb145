import type { RunRequest } from '../../data/client.ts';
import { durationText } from '../../ui/values.tsx';

/** Part of the time of a request: an attempt of it, or the wait before the next one. */
export interface Span {
  readonly kind: 'answered' | 'failed' | 'wait';
  readonly startMs: number;
  readonly ms: number;
}

/** Request with its answer, as an explanation tells of it: its time has all attempts in it. */
interface Answered {
  readonly request: { readonly method: string; readonly url: string; readonly body?: string | undefined };
  readonly at: string;
  readonly ms: number;
  readonly retries: number;
}

/** Clocks of two records of the same answer. */
const TOLERANCE_MS = 100;
/** Less between two attempts is the work of a busy machine, and no wait. */
const LEAST_MS = 50;

const isBad = ({ status }: RunRequest): boolean => status === undefined || status >= 400;
const endOf = ({ at }: RunRequest): number => Date.parse(at);
const startOf = (sent: RunRequest): number => endOf(sent) - sent.ms;

/** Returns the attempts of a request that was answered, and the waits between them. @param sent all that was sent */
export function spansOf(asked: Answered, sent: readonly RunRequest[]): readonly Span[] {
  const end = Date.parse(asked.at);
  const start = end - asked.ms;
  const line = `${asked.request.method} ${asked.request.url}`;
  const attempts = sent
    .filter(
      (each) =>
        each.request === line && startOf(each) >= start - TOLERANCE_MS && endOf(each) <= end + TOLERANCE_MS,
    )
    .toSorted((a, b) => startOf(a) - startOf(b));
  const spans: Span[] = [];
  let at = start;
  const add = (kind: Span['kind'], from: number, to: number): void => {
    if (kind !== 'wait' || to - from >= LEAST_MS)
      spans.push({ kind, startMs: from, ms: Math.max(0, to - from) });
    at = Math.max(at, to);
  };
  for (const attempt of attempts) {
    const from = Math.max(at, startOf(attempt));
    add('wait', at, from);
    add(isBad(attempt) ? 'failed' : 'answered', from, Math.max(from, Math.min(end, endOf(attempt))));
  }
  // The answer itself is not among the first thousands that are kept.
  if (!spans.some(({ kind }) => kind === 'answered')) add('answered', at, end);
  return spans;
}

/** Attempt of a request: which one it is, and how long it was waited for since the one before had failed. */
export interface Attempt {
  readonly number: number;
  readonly waitedMs: number;
}

/** Returns which requests are further attempts of one that failed before them. */
export function attemptsOf(sent: readonly RunRequest[]): ReadonlyMap<RunRequest, Attempt> {
  const failed = new Map<string, { readonly end: number; readonly number: number }>();
  const attempts = new Map<RunRequest, Attempt>();
  for (const each of sent) {
    const key = `${each.request}\n${each.body ?? ''}`;
    const before = failed.get(key);
    const isNext = before !== undefined && before.end <= startOf(each) + TOLERANCE_MS;
    const number = isNext ? before.number + 1 : 1;
    if (isNext) attempts.set(each, { number, waitedMs: Math.max(0, startOf(each) - before.end) });
    if (isBad(each)) failed.set(key, { end: endOf(each), number });
    else failed.delete(key);
  }
  return attempts;
}

const NAMES = { answered: 'answered in', failed: 'failed after', wait: 'waited' } as const;

export const spansText = (spans: readonly Span[]): string =>
  spans.map(({ kind, ms }) => `${NAMES[kind]} ${durationText(ms)}`).join(', ');

/** Draws when a request was at work, and when it waited, in the time of its run. */
export function SpanBar({
  spans,
  startMs,
  spanMs,
}: {
  readonly spans: readonly Span[];
  /** Beginning of the run, and how long it took. */
  readonly startMs: number;
  readonly spanMs: number;
}) {
  return (
    <span class="runs-bar" title={spansText(spans)}>
      {spans.map(({ kind, startMs: from, ms }, i) => {
        const left = Math.min(99, Math.max(0, ((from - startMs) / spanMs) * 100));
        // An attempt can be seen, however short it was.
        const width = Math.min(100 - left, Math.max(kind === 'wait' ? 0 : 1, (ms / spanMs) * 100));
        return <span key={i} class={`runs-span-${kind}`} style={{ left: `${left}%`, width: `${width}%` }} />;
      })}
    </span>
  );
}

/** Says what the colours of the bars mean. */
export function SpanKey() {
  return (
    <ul class="runs-span-key small muted" aria-hidden="true">
      <li>
        <span class="runs-span-answered" /> answered
      </li>
      <li>
        <span class="runs-span-failed" /> failed
      </li>
      <li>
        <span class="runs-span-wait" /> waited
      </li>
    </ul>
  );
}
