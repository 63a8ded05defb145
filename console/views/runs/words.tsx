import type { Run } from '../../data/client.ts';
import { VERDICTS } from '../../ui/run-badges.tsx';
import { timeOf } from '../../ui/values.tsx';
import { shownText } from '../../../src/lib/shown-text.ts';

export const isOver = ({ endTime }: Pick<Run, 'endTime'>): boolean => endTime !== null;

export function verdictText(verdict: string): string {
  return VERDICTS[verdict]?.[1] ?? '';
}

/** Returns the duration of a run, so far if it still runs. */
export function tookMs({ startTime, endTime }: Run): number | undefined {
  if (startTime === null) return undefined;
  return Math.max(0, (endTime === null ? Date.now() : timeOf(endTime)) - timeOf(startTime));
}

export function rowsOf({ rows, progress }: Run): number | undefined {
  return rows?.reduce((sum, row) => sum + row.rows, 0) ?? progress?.rows;
}

/** Returns the rows that a run has loaded into tables: what it held back is not among them. */
export function loadedRowsOf({ rows }: Run): number | undefined {
  return rows?.reduce((sum, row) => sum + (row.isHeld === true ? 0 : row.rows), 0);
}

/** Shows a sentence with names and places between backticks. */
export function Words({ text }: { readonly text: string }) {
  return (
    <bdi class="run-words">
      {text
        .split('`')
        .map((part, i) => (i % 2 === 0 ? shownText(part) : <code key={i}>{shownText(part)}</code>))}
    </bdi>
  );
}
