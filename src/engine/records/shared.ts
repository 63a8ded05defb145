import type { Log } from '../../lib/log.ts';
import { safeName } from './names.ts';
import type { ItemPlan } from './plan.ts';

/**
 * Returns the names of tables that several lists share (they are the same when made safe), if one of the lists was a
 * lone value at first: rows of earlier pages then belong among those that are written already.
 */
export function mixedNames(plans: Iterable<ItemPlan>): ReadonlySet<string> {
  const mixed = new Set<string>();
  const first = new Map<string, ItemPlan>();
  for (const plan of plans) {
    const name = safeName(plan.path);
    const other = first.get(name);
    if (other === undefined) first.set(name, plan);
    else if (plan.staleBefore > 0 || other.staleBefore > 0) mixed.add(name);
  }
  return mixed;
}

/** One of the tables that share a file. */
export interface SharedTable {
  /** Raw path of the list. */
  readonly path: string;
  readonly columns: readonly string[];
}

const OTHER_NAME =
  'Give the job another “dataType”, keep the list as text by “responseFilter”, or use a mapping';

/**
 * Warns of lists that share a table by their names, of a table without a name, and of rows that do not fit the header of
 * the file that they are in. All is written as the reference does.
 */
export function checkSharing(name: string, first: SharedTable, other: SharedTable, log: Log): void {
  const isSame = other.columns.join('\n') === first.columns.join('\n');
  if (name === '') log.warn(`The list “${other.path}” is written to a table that has no name. ${OTHER_NAME}`);
  if (isSame && other.path !== first.path)
    log.warn(`“${first.path}” and “${other.path}” are written to one table “${name}”. ${OTHER_NAME}`);
  if (isSame) return;
  const places =
    first.path === other.path ? `Two lists at “${first.path}”` : `“${first.path}” and “${other.path}”`;
  log.warn(
    `${places} are written to one table “${name}” although their columns differ: the rows of the second do not fit ` +
      'the header. Give jobs another “dataType”, keep a list as text by “responseFilter”, or use a mapping',
  );
}
