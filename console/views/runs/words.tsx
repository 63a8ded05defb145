import type { Run } from '../../data/client.ts';
import { Badge, type Tone } from '../../ui/states.tsx';
import { timeOf } from '../../ui/values.tsx';
import { shownText } from '../../../src/shown-text.ts';

export const isOver = ({ endTime }: Pick<Run, 'endTime'>): boolean => endTime !== null;

const STATUS: Readonly<Record<Run['status'], readonly [tone: Tone, text: string]>> = {
  waiting: ['neutral', 'Waiting'],
  processing: ['active', 'Running'],
  success: ['good', 'Done'],
  error: ['bad', 'Failed'],
  cancelled: ['neutral', 'Cancelled'],
};

export function StatusBadge({ run }: { readonly run: Pick<Run, 'cancelTime' | 'status'> }) {
  const [tone, text] = STATUS[run.status];
  const isEnding = run.status === 'processing' && run.cancelTime !== null;
  return <Badge tone={tone}>{isEnding ? 'Ending' : text}</Badge>;
}

const VERDICTS: Readonly<Record<string, readonly [tone: Tone, text: string]>> = {
  complete: ['good', 'It is proven that everything came.'],
  ended: ['neutral', 'It came to an end, and nothing in the answers speaks against that.'],
  cut: ['warn', 'There may be more: the configuration ends it before.'],
  doubtful: ['bad', 'Something speaks against it that this is everything.'],
};

export function VerdictBadge({ verdict }: { readonly verdict: string | null | undefined }) {
  if (verdict === null || verdict === undefined) return <span class="muted">–</span>;
  return (
    <Badge tone={VERDICTS[verdict]?.[0] ?? 'neutral'} isPlain>
      {verdict}
    </Badge>
  );
}

export function verdictText(verdict: string): string {
  return VERDICTS[verdict]?.[1] ?? '';
}

/** How long it has been at work so far, or was. */
export function tookMs({ startTime, endTime }: Run): number | undefined {
  if (startTime === null) return undefined;
  return Math.max(0, (endTime === null ? Date.now() : timeOf(endTime)) - timeOf(startTime));
}

export function rowsOf({ rows, progress }: Run): number | undefined {
  return rows?.reduce((sum, row) => sum + row.rows, 0) ?? progress?.rows;
}

/** A sentence of ours in which names and places stand between backticks. */
export function Words({ text }: { readonly text: string }) {
  return (
    <bdi class="run-words">
      {text
        .split('`')
        .map((part, i) => (i % 2 === 0 ? shownText(part) : <code key={i}>{shownText(part)}</code>))}
    </bdi>
  );
}

export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
