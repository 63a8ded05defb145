import type { Run } from '../data/client.ts';
import { Badge, type Tone } from './states.tsx';

export const RUN_STATUS: Readonly<Record<Run['status'], readonly [tone: Tone, text: string]>> = {
  waiting: ['neutral', 'Waiting'],
  processing: ['active', 'Running'],
  success: ['good', 'Done'],
  error: ['bad', 'Failed'],
  cancelled: ['neutral', 'Cancelled'],
};

export function StatusBadge({ run }: { readonly run: Pick<Run, 'cancelTime' | 'status'> }) {
  const [tone, text] = RUN_STATUS[run.status];
  const isEnding = run.status === 'processing' && run.cancelTime !== null;
  return <Badge tone={tone}>{isEnding ? 'Ending' : text}</Badge>;
}

export const VERDICTS: Readonly<Record<string, readonly [tone: Tone, text: string]>> = {
  complete: ['good', 'It is proven that everything came.'],
  ended: ['neutral', 'It came to an end, and nothing in the answers speaks against that.'],
  cut: ['warn', 'There may be more: the configuration ends it before.'],
  doubtful: ['bad', 'Something speaks against it that this is everything.'],
};

export function VerdictBadge({
  verdict,
  isAccepted = false,
}: {
  readonly verdict: string | null | undefined;
  /** A doubt was accepted: it is none any longer. */
  readonly isAccepted?: boolean;
}) {
  if (verdict === null || verdict === undefined)
    return isAccepted ? <Badge isPlain>accepted</Badge> : <span class="muted">–</span>;
  return (
    <Badge tone={isAccepted ? 'neutral' : (VERDICTS[verdict]?.[0] ?? 'neutral')} isPlain>
      {isAccepted ? `${verdict}, accepted` : verdict}
    </Badge>
  );
}
