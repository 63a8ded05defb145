import type { RunRow } from '../../stores/metadata/tables.ts';

/** Interrupted that often, a run is given up: it may be what ends its runner. */
const MAX_INTERRUPTIONS = 10;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

/** Tells whether an attempt that is interrupted was the last one. Those that could not begin do not count. */
export const isLastAttempt = ({ attempt, put_offs }: Pick<RunRow, 'attempt' | 'put_offs'>): boolean =>
  attempt - put_offs >= MAX_INTERRUPTIONS;

/** How long a run waits for what was away: longer with each attempt, a minute at most. */
export const waitMsOf = ({ attempt }: Pick<RunRow, 'attempt'>): number =>
  Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS);
