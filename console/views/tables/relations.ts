import type { Table } from '../../data/client.ts';
import { at } from '../../route/router.ts';

/** Relation of a column to another table: its rows have the same value in their column. */
export interface Relation {
  /** The column here. */
  readonly column: string;
  readonly kind: 'children' | 'parent';
  readonly table: string;
  /** The column there. */
  readonly key: string;
}

const LINK = 'JSON_parentId';

/**
 * Returns the relations of a table: rows of a list in an answer are a table of their own. `users_contacts` is beside
 * `users`, whose column `contacts` has the values of `JSON_parentId` there. A mapping calls the link `users_pk`, and it
 * has the key of the parent's row.
 *
 * @param siblings the tables of the same bucket, with their columns
 */
export function relationsOf(table: Table, siblings: readonly Table[]): Relation[] {
  const found: Relation[] = [];
  for (const other of siblings) {
    if (other.id === table.id) continue;
    const down = linkOf(table, other);
    if (down !== undefined)
      found.push({ column: down.parent, kind: 'children', table: other.id, key: down.child });
    const up = linkOf(other, table);
    if (up !== undefined) found.push({ column: up.child, kind: 'parent', table: other.id, key: up.parent });
  }
  const parents = found.filter(({ kind }) => kind === 'parent');
  // A table may match both `a` with `b_c` and `a_b` with `c`: the longer name is the parent.
  const nearest = parents.reduce((longest, { table: id }) => (id.length > longest.length ? id : longest), '');
  return found.filter(({ kind, table: id }) => kind === 'children' || id === nearest);
}

function linkOf(parent: Table, child: Table): { parent: string; child: string } | undefined {
  const columns = child.columns ?? [];
  const [key, ...others] = parent.primaryKey;
  if (key !== undefined && others.length === 0 && columns.includes(`${parent.name}_pk`))
    return { parent: key, child: `${parent.name}_pk` };
  if (!columns.includes(LINK) || !child.name.startsWith(`${parent.name}_`)) return undefined;
  const column = child.name.slice(parent.name.length + 1);
  return parent.columns?.includes(column) === true ? { parent: column, child: LINK } : undefined;
}

/** Returns the place that shows the rows with that value. */
export function placeOf({ table, key }: Relation, value: string): string {
  const filters = JSON.stringify([{ column: key, values: [value] }]);
  return `${at`/tables/${table}`}?filters=${encodeURIComponent(filters)}`;
}
