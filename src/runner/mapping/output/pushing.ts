import { createHash } from 'node:crypto';
import type { Journal } from '../journal.ts';
import type { MappingContext } from '../mapping-types.ts';

/** Context of the steps of one push. */
export interface Pushing extends MappingContext {
  readonly journal: Journal;
  /** Buckets that this push has made ready, or is making ready. */
  readonly buckets: Map<string, Promise<void>>;
}

/**
 * Returns the `Idempotency-Key` of one step of a push: the same for every process that continues it, so that a delayed
 * request changes nothing. Undefined in a journal of an older version.
 */
export function stepKey(
  { journal }: Pick<Pushing, 'journal'>,
  entry: string,
  ...step: readonly string[]
): string | undefined {
  const { id, tables } = journal.document;
  if (id === undefined) return undefined;
  const { round = 0 } = tables.get(entry) ?? {};
  const text = JSON.stringify([id, entry, round, ...step]);
  return `push-${createHash('sha256').update(text).digest('hex')}`;
}
