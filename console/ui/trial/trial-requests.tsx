import { useState } from 'preact/hooks';
import { leadText, startText } from '../../../src/engine/explain/value-origin-text.ts';
import type { Lead } from '../../../src/engine/explain/value-origin.ts';
import { Button } from '../button.tsx';
import { Badge } from '../states.tsx';
import { countText, durationText, Text } from '../values.tsx';
import type { ShownRequest } from './landing.ts';
import { Ticked } from './ticked.tsx';

const SHOWN = 100;

/** Lists the requests of a trial in their order, each with its origin. */
export function TrialRequests({
  requests,
  current,
  onChoose,
}: {
  readonly requests: readonly ShownRequest[];
  readonly current: ShownRequest | undefined;
  readonly onChoose: (key: string) => void;
}) {
  const [shown, setShown] = useState(SHOWN);
  if (requests.length === 0) return <p class="muted">No request was made.</p>;
  return (
    <div class="trial-scroll" tabIndex={0} role="region" aria-label="Requests">
      <ol class="trial-choices">
        {requests.slice(0, shown).map((request) => (
          <li key={request.key}>
            <button
              type="button"
              class="trial-choice"
              aria-pressed={request === current}
              onClick={() => onChoose(request.key)}
            >
              <span class="row">
                <Badge tone={request.status < 400 ? 'good' : 'bad'}>{request.status}</Badge>
                <span class="muted small">
                  {rowsText(request)} · {durationText(request.ms)}
                  {request.retries > 0 && ` · asked ${countText(request.retries + 1)} times`}
                </span>
              </span>
              <span class="mono trial-choice-url">
                <Text>{`${request.request.method} ${shortUrl(request.request.url)}`}</Text>
              </span>
              <span class="muted small">
                led to by <Ticked>{whyOf(request)}</Ticked>
              </span>
            </button>
          </li>
        ))}
      </ol>
      {requests.length > shown && (
        <Button kind="plain" onPress={() => setShown((before) => before + SHOWN)}>
          {countText(requests.length - shown)} more
        </Button>
      )}
    </div>
  );
}

function rowsText({ took, rows }: ShownRequest): string {
  const count = took?.count ?? rows;
  if (count === undefined) return 'not used';
  return `${countText(count)} ${count === 1 ? 'row' : 'rows'}`;
}

function whyOf({ from, page }: ShownRequest): string {
  // As the service writes it.
  const leads = (Array.isArray(from) ? from : []) as readonly Lead[];
  return leads.map(leadText).join('; ') || startText(page, undefined, false) || 'what came before';
}

/** Shortens an address by the host, which all have in common. */
function shortUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}
