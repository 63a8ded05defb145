import { leadText, startText } from '../../../src/engine/explain/value-origin-text.ts';
import type { Lead } from '../../../src/engine/explain/value-origin.ts';
import type { RunExplanation } from '../../data/client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import {
  Bytes,
  CopyButton,
  Count,
  durationText,
  exactTime,
  KeyValue,
  plural,
  Text,
} from '../../ui/values.tsx';
import { curlOf } from './curl.ts';
import type { Span } from './spans.tsx';
import { Words } from './words.tsx';

/** Request that was answered, with what led to it. */
export type Asked = RunExplanation['requests'][number];

function leadsOf({ from }: Asked): readonly Lead[] {
  // Written by the command, of this version or an older one.
  return from as readonly Lead[];
}

/** Describes the origin of a request, and the end that its answer caused. */
export function whyText(asked: Asked): string {
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

const SPANS: Readonly<Record<Span['kind'], string>> = {
  answered: 'An attempt was answered after',
  failed: 'An attempt failed after',
  wait: 'It waited for',
};

/** Shows a request with what led to it, what its time went into, and what followed. */
export function ExplainedDetails({
  asked,
  spans,
  onClose,
}: {
  readonly asked: Asked;
  readonly spans: readonly Span[];
  readonly onClose: () => void;
}) {
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
          <span class="row">
            <CopyButton text={request.url} label="Copy the address" />
            <CopyButton icon="query" text={curlOf(request)} label="Copy as curl, without headers" />
            <CopyButton icon="link" text={window.location.href} label="Copy a link to this request" />
          </span>
        </div>
        {request.body !== undefined && (
          <pre class="runs-whole">
            <Text>{request.body}</Text>
          </pre>
        )}
        <KeyValue
          items={[
            ['Status', asked.status],
            ['Answered', exactTime(asked.at)],
            [
              'Took',
              `${durationText(asked.ms)}${retries > 0 ? `, with ${plural(retries, 'further attempt')}` : ''}`,
            ],
            ['Size', <Bytes value={asked.bytes} />],
            ...(asked.rows === undefined ? [] : [['Rows', <Count value={asked.rows} />] as const]),
            ...(asked.answeredBy === undefined
              ? []
              : [['Answered by', <Text>{asked.answeredBy}</Text>] as const]),
            ...(asked.run.window === undefined ? [] : [['Window', <Text>{asked.run.window}</Text>] as const]),
          ]}
        />
        {spans.length > 1 && (
          <>
            <h3>What its time went into</h3>
            <ol class="runs-reasons">
              {spans.map(({ kind, ms }, i) => (
                <li key={i}>{`${SPANS[kind]} ${durationText(ms)}.`}</li>
              ))}
            </ol>
          </>
        )}
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
