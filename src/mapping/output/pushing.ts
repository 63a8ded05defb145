import type { Journal } from '../journal.ts';
import type { MappingContext } from '../nouns.ts';

/** What the steps of one push share. */
export interface Pushing extends MappingContext {
  readonly journal: Journal;
  /** Buckets that this push has made ready, or is making ready. */
  readonly buckets: Map<string, Promise<void>>;
}
