import type { Contexts } from '../shared/evaluate.ts';
import type { Json } from '../../lib/json/index.ts';

/** The value of one placeholder in one run of a job. JSON. */
export interface InvocationParameter {
  /** Full name of the placeholder, such as `2:user-id`. */
  readonly name: string;
  /** Path the value was found at; names the parent column. Absent for a value that was computed, which has none. */
  readonly path?: string;
  /** The value follows from a function, whose result may be another one in each run. */
  readonly isComputed?: true;
  /** Values of parent rows that a computed one follows from: they tell runs apart. */
  readonly from?: readonly Json[];
  /** A scalar or null. */
  readonly value: Json;
}

/** All values that a run of a child has: those inherited from the jobs above it, then its own. */
export type Parameters = readonly InvocationParameter[];

/** One run of a job: what it was started with. JSON. */
export interface JobInvocation {
  readonly parameters: Parameters;
  /** The rows above, the nearest first; none for a job that is no child. */
  readonly rows: readonly Json[];
  /** Further contexts of its functions: `window` and `state`, if the job has them. */
  readonly own?: Contexts;
}

/** The run of a job that is no child. */
export const ROOT_RUN: JobInvocation = Object.freeze({
  parameters: Object.freeze([]),
  rows: Object.freeze([]),
});

/**
 * Returns the column of a value of the parent row: named after the path, not after the placeholder; the prefix is not
 * doubled.
 */
export function parentName(path: string): string {
  return path.startsWith('parent_') ? path : `parent_${path}`;
}
