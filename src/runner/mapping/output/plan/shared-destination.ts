import type { PlannedOutputTable } from './planned.ts';
import type { OutputProblem } from './problems.ts';

/**
 * Checks that several sources with one table each add to it by the same key; a full load would remove the rows of the
 * others again.
 */
export function checkSharedDestinations(
  tables: readonly PlannedOutputTable[],
  problems: OutputProblem[],
): void {
  for (const [destination, [first, ...others]] of Map.groupBy(tables, (table) => table.destination)) {
    const reason = others
      .map((other) => (first === undefined ? undefined : conflict(first, other)))
      .find((each) => each !== undefined);
    if (first === undefined || reason === undefined) continue;
    const names = [first, ...others].map(({ source }) => `“${source}”`).join(' and ');
    problems.push({
      message: `${names} go to one table, ${destination}, but ${reason}.`,
      where: { file: first.path },
      hint: 'Give each a destination of its own, or load all of them incrementally by the same key.',
    });
  }
}

function conflict(first: PlannedOutputTable, other: PlannedOutputTable): string | undefined {
  if (first.source === other.source) return 'a source can go there once only';
  if (!first.incremental || !other.incremental)
    return 'a load that is not incremental removes the rows of the others';
  return sameKey(first.primaryKey, other.primaryKey)
    ? undefined
    : `their primary keys differ: (${first.primaryKey.join(', ')}) and (${other.primaryKey.join(', ')})`;
}

/** Compares keys as sets of names. */
export function sameKey(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}
