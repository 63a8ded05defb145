/** The place of an exchange in the run: from the job at the top to the innermost child. JSON. */
export type Position = readonly PositionStep[];

export interface PositionStep {
  /** Name of the job, for people. */
  readonly job: string;
  /** Which job of the iteration, or which child of the job above, from 0. */
  readonly index: number;
  /** Which iteration, from 0; of the first step only. */
  readonly iteration?: number;
  /** Which row of the page above started the child, from 0. */
  readonly row?: number;
  /** Which of the runs of that row, from 0. */
  readonly run?: number;
  /** Which combination of the lists of the job, from 0. */
  readonly over?: number;
  /** Which window of time, from 0. */
  readonly window?: number;
  /** A step of an export before its first page; `page` then counts the times that it was asked. */
  readonly export?: ExportStep;
  /** Page of the job, from 1. */
  readonly page: number;
}

/** Requests of an export before those of its files, in this order. */
export const EXPORT_STEPS = ['create', 'poll', 'address'] as const;
export type ExportStep = (typeof EXPORT_STEPS)[number];

/** One run of a job: its pages have positions. */
export interface RunPlace {
  /** The page whose row started it; none for a job at the top. */
  readonly above: Position;
  /** The last step of the positions of its pages, but for the page. */
  readonly step: Omit<PositionStep, 'page'>;
}

export function positionOf({ above, step }: RunPlace, page: number): Position {
  return [...above, { ...step, page }];
}

/** Returns a key that is the same for the same place, whatever the names of the jobs are. */
export function keyOf(position: Position): string {
  return position.map((step) => `${stepKey(step)}:${step.page}`).join('/');
}

/**
 * Returns the key that invocations share if they begin together: all that one row starts, or one job at the top, in one
 * window. They have one time for their functions.
 */
export function beginningOf(position: Position): string {
  const last = position.at(-1);
  return last === undefined
    ? ''
    : `${keyOf(position.slice(0, -1))}/${last.index}.${last.row ?? last.iteration ?? 0}${momentKey(last)}`;
}

function stepKey(step: PositionStep): string {
  const { index, iteration, row, run } = step;
  const key = iteration === undefined ? `${index}.${row ?? 0}.${run ?? 0}` : `${iteration}.${index}`;
  const ofExport = step.export === undefined ? '' : `x${step.export}`;
  return key + overKey(step) + windowKey(step) + ofExport;
}

/**
 * Returns the part of the key that decides on the time: each window has one of its own, even if lists repeat it;
 * without windows all combinations share one.
 */
function momentKey(step: PositionStep): string {
  return step.window === undefined ? '' : overKey(step) + windowKey(step);
}

function overKey({ over }: PositionStep): string {
  return over === undefined ? '' : `o${over}`;
}

function windowKey({ window }: PositionStep): string {
  return window === undefined ? '' : `w${window}`;
}
