import { useState } from 'preact/hooks';
import { client, type Run, type RunRequest } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Badge } from '../../ui/states.tsx';
import { Bytes, CopyButton, countText, durationText, KeyValue, Text, timeOf } from '../../ui/values.tsx';
import { curlOf } from './curl.ts';
import { isOver } from './words.tsx';

const PART = 100;
const MOST = 1000;
const EVERY_MS = 2000;

/** Returns the first requests that a run has sent, each attempt as one, while it goes on as well. */
export function useSentRequests(run: Run, isBad: boolean) {
  const [limit, setLimit] = useState(PART);
  const query = useQuery({
    key: ['runs', run.id, 'requests', isBad, limit],
    load: async (signal) => await client().runs.requests(run.id, { isBad, limit }, { signal }),
    everyMs: isOver(run) ? false : EVERY_MS,
    keepsPrevious: true,
  });
  return { query, showMore: limit < MOST ? () => setLimit(MOST) : undefined };
}

/** Lists requests in the order of their answers. */
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
  const [open, setOpen] = useState<RunRequest | undefined>();
  const startMs = timeOf(run.startTime ?? run.createdTime);
  return (
    <>
      <ul class="runs-sent card" aria-label="Requests as they were sent">
        {requests.map((sent, i) => (
          <li key={i}>
            <button type="button" class="runs-request-button" onClick={() => setOpen(sent)}>
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
                  <Outcome sent={sent} />
                </span>
              </span>
              <span class="runs-sent-took muted small number">{durationText(sent.ms)}</span>
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
      {open !== undefined && <Details sent={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function Outcome({ sent }: { readonly sent: RunRequest }) {
  const { status, failure, text } = sent;
  if (status === undefined)
    return (
      <>
        <Badge tone="bad" isPlain>
          no answer
        </Badge>{' '}
        <Text>{failureText(failure)}</Text>
      </>
    );
  return (
    <>
      <Badge tone={status < 400 ? 'good' : 'bad'} isPlain>
        {status}
      </Badge>{' '}
      {text !== undefined && <Text>{text}</Text>}
    </>
  );
}

function failureText(failure: string | undefined): string {
  return failure === undefined || failure === 'aborted' ? 'It was given up, as the run ended.' : failure;
}

function Details({ sent, onClose }: { readonly sent: RunRequest; readonly onClose: () => void }) {
  const { request, body, status, text, failure, bytes } = sent;
  return (
    <Dialog title={`Request ${countText(sent.number)}`} onClose={onClose} form="side">
      <div class="stack">
        <div class="spread">
          <code class="runs-whole">
            <Text>{request}</Text>
          </code>
          <span class="row">
            <CopyButton text={request.slice(request.indexOf(' ') + 1)} label="Copy the address" />
            <CopyButton icon="query" text={curlOf(sent)} label="Copy as curl, without headers" />
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
            ['Ended', new Date(sent.at).toLocaleString('en')],
            ['Took', durationText(sent.ms)],
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
