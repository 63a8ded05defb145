import type { RunRow } from '../../stores/metadata/tables.ts';

/** Interruptions after which a run fails: it may be the cause of its runner's end. */
const MAX_INTERRUPTIONS = 10;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

/** Tells whether an interrupted attempt was the last one. Those that could not begin do not count. */
export const isLastAttempt = ({ attempt, put_offs }: Pick<RunRow, 'attempt' | 'put_offs'>): boolean =>
  attempt - put_offs >= MAX_INTERRUPTIONS;

/** Returns the milliseconds that a run waits after a temporary failure: longer with each attempt, a minute at most. */
export const waitMsOf = ({ attempt }: Pick<RunRow, 'attempt'>): number =>
  Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS);
