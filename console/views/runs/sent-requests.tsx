import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { client, type Run, type RunRequest } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Badge } from '../../ui/states.tsx';
import {
  Bytes,
  CopyButton,
  countText,
  durationText,
  exactTime,
  KeyValue,
  Text,
  timeOf,
} from '../../ui/values.tsx';
import { curlOf } from './curl.ts';
import { attemptsOf, SpanBar, type Attempt, type Span } from './spans.tsx';
import { isOver } from './words.tsx';

const PART = 100;
const MOST = 1000;
const EVERY_MS = 2000;

/** Returns the first requests that a run has sent, each attempt as one, while it goes on as well. */
export function useSentRequests(
  run: Run,
  {
    isBad,
    isWhole = false,
  }: {
    /** Only those that failed. */
    readonly isBad: boolean;
    /** As many as there may be at once. */
    readonly isWhole?: boolean;
  },
) {
  // A link may lead to one that is further down.
  const isLinked = usePlace().query.has('sent');
  const [limit, setLimit] = useState(isWhole || isLinked ? MOST : PART);
  const query = useQuery({
    key: ['runs', run.id, 'requests', isBad, limit],
    load: async (signal) => await client().runs.requests(run.id, { isBad, limit }, { signal }),
    everyMs: isOver(run) ? false : EVERY_MS,
    keepsPrevious: true,
  });
  return { query, showMore: limit < MOST ? () => setLimit(MOST) : undefined };
}

/** Returns the name of a request in addresses; the time tells it from one of a run of another service. */
export const nameOf = ({ number, at }: RunRequest): string => `${number}-${Date.parse(at).toString(36)}`;

/** Lists requests in the order of their answers; the address holds the one that is open. */
export function SentRequests({
  run,
  requests,
  count,
  onMore,
}: {
  readonly run: Run;
  readonly requests: readonly RunRequest[];
  /** How many there are. */
  readonly count: number;
  readonly onMore: (() => void) | undefined;
}) {
  const list = useRef<HTMLUListElement>(null);
  const opened = usePlace().query.get('sent');
  const open = opened === null ? undefined : requests.find((sent) => nameOf(sent) === opened);
  const isThere = open !== undefined;
  useEffect(() => {
    if (isThere) list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [isThere]);
  const attempts = useMemo(() => attemptsOf(requests), [requests]);
  const startMs = timeOf(run.startTime ?? run.createdTime);
  const endMs = run.endTime === null ? Date.now() : timeOf(run.endTime) + 1000;
  return (
    <>
      <ul ref={list} class="runs-sent card" aria-label="Requests as they were sent">
        {requests.map((sent, i) => (
          <li key={i} aria-current={sent === open ? 'true' : undefined}>
            <button
              type="button"
              class="runs-request-button"
              onClick={() => setQuery({ sent: nameOf(sent) })}
            >
              <span class="runs-request-page">
                <span class="number">{countText(sent.number)}</span>
                <span class="muted small number">
                  +{durationText(Math.max(0, Date.parse(sent.at) - sent.ms - startMs))}
                </span>
              </span>
              <span class="runs-request-what">
                <span class="runs-address">
                  <Text>{sent.request}</Text>
                </span>
                <span class="small runs-why">
                  <Outcome sent={sent} attempt={attempts.get(sent)} />
                </span>
              </span>
              <span class="runs-request-facts">
                <span class="muted small number">{durationText(sent.ms)}</span>
                <SpanBar
                  spans={spansOfSent(sent, attempts.get(sent))}
                  startMs={startMs}
                  spanMs={Math.max(1, endMs - startMs)}
                />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {requests.length < count && (
        <div class="row">
          <span class="muted small">
            {countText(requests.length)} of {countText(count)} are shown.
          </span>
          {onMore !== undefined && <Button onPress={onMore}>Show more</Button>}
        </div>
      )}
      {open !== undefined && (
        <SentDetails sent={open} attempt={attempts.get(open)} onClose={() => setQuery({ sent: undefined })} />
      )}
    </>
  );
}

/** Returns the time of an attempt, and of the wait before it. */
function spansOfSent(sent: RunRequest, attempt: Attempt | undefined): readonly Span[] {
  const startMs = Date.parse(sent.at) - sent.ms;
  const waitedMs = attempt?.waitedMs ?? 0;
  const kind = sent.status !== undefined && sent.status < 400 ? 'answered' : 'failed';
  return [
    ...(waitedMs > 0 ? [{ kind: 'wait', startMs: startMs - waitedMs, ms: waitedMs } as const] : []),
    { kind, startMs, ms: sent.ms },
  ];
}

const attemptText = ({ number, waitedMs }: Attempt): string =>
  `attempt ${number}, after a wait of ${durationText(waitedMs)}`;

function Outcome({ sent, attempt }: { readonly sent: RunRequest; readonly attempt: Attempt | undefined }) {
  const { status, failure, text } = sent;
  const which = attempt !== undefined && <span class="muted">{`${attemptText(attempt)} `}</span>;
  if (status === undefined)
    return (
      <>
        <Badge tone="bad" isPlain>
          no answer
        </Badge>{' '}
        {which}
        <Text>{failureText(failure)}</Text>
      </>
    );
  return (
    <>
      <Badge tone={status < 400 ? 'good' : 'bad'} isPlain>
        {status}
      </Badge>{' '}
      {which}
      {text !== undefined && <Text>{text}</Text>}
    </>
  );
}

function failureText(failure: string | undefined): string {
  return failure === undefined || failure === 'aborted' ? 'It was given up, as the run ended.' : failure;
}

/** Shows one request, with what came of it. */
export function SentDetails({
  sent,
  attempt,
  onClose,
}: {
  readonly sent: RunRequest;
  readonly attempt: Attempt | undefined;
  readonly onClose: () => void;
}) {
  const { request, body, status, text, failure, bytes } = sent;
  const space = request.indexOf(' ');
  const [method, url] = [request.slice(0, space), request.slice(space + 1)];
  return (
    <Dialog title={`Request ${countText(sent.number)}`} onClose={onClose} form="side">
      <div class="stack">
        <div class="spread">
          <code class="runs-whole">
            <Text>{request}</Text>
          </code>
          <span class="row">
            <CopyButton text={url} label="Copy the address" />
            <CopyButton
              icon="query"
              text={curlOf({ method, url, body })}
              label="Copy as curl, without headers"
            />
            <CopyButton icon="link" text={window.location.href} label="Copy a link to this request" />
          </span>
        </div>
        {body !== undefined && (
          <pre class="runs-whole">
            <Text>{body}</Text>
          </pre>
        )}
        <KeyValue
          items={[
            ['Status', status ?? 'no answer'],
            ['Ended', exactTime(sent.at)],
            ['Took', durationText(sent.ms)],
            ...(attempt === undefined ? [] : [['Attempt', attemptText(attempt)] as const]),
            ...(sent.isLogin === true ? [['For', 'a login'] as const] : []),
            ...(bytes === undefined ? [] : [['Size', <Bytes value={bytes} />] as const]),
          ]}
        />
        {status === undefined && (
          <>
            <h3>Why there is no answer</h3>
            <p>
              <Text>{failureText(failure)}</Text>
            </p>
          </>
        )}
        {text !== undefined && (
          <>
            <h3>How the answer begins</h3>
            <pre class="runs-whole">
              <Text>{text}</Text>
            </pre>
          </>
        )}
      </div>
    </Dialog>
  );
}
