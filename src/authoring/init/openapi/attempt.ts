import type { AnyObject } from '../../../lib/json/index.ts';
import type { Settled } from '../settle.ts';

/** Outcome of a request for a list of a document. */
export interface ListAttempt {
  /** As of any list; `empty`: it has no rows; `failed`: no list came; `untried`: it could not be asked for. */
  readonly verdict: Settled['verdict'] | 'empty' | 'failed' | 'untried';
  /** Why, where no list came or something speaks against it. */
  readonly why: string;
  readonly rows: number;
  readonly pages: number;
  readonly requests: number;
  /** Number of all rows, where the API says it. */
  readonly total: number | undefined;
  /** Fields that tell a row from all others; empty where none do. */
  readonly id: readonly string[];
  /** How the next page is asked for; undefined where nothing was proved. */
  readonly nextPage: string | undefined;
  /** Job that was found, without its endpoint; undefined if no list came. */
  readonly job: AnyObject | undefined;
  readonly pagination: AnyObject | undefined;
  /** Field of the rows above that its path takes; undefined for a list at the top. */
  readonly above?: string;
}

export type ListAttempts = ReadonlyMap<string, ListAttempt>;
