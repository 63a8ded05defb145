import type { JoinBuilder, ReferenceExpression } from 'kysely';
import type { ConfigurationKey } from './tables.ts';

/** The key alone, of anything that has more. */
export const keyOf = ({ branch_id, component_id, configuration_id }: ConfigurationKey): ConfigurationKey => ({
  branch_id,
  component_id,
  configuration_id,
});

/** Joins what belongs to the same configuration, and is equal in further columns of the first and the second table. */
export function sameConfiguration<Database, Joined extends keyof Database & string>(
  join: JoinBuilder<Database, Joined>,
  first: Joined,
  second: Joined,
  columns: Readonly<Record<string, string>> = {},
): JoinBuilder<Database, Joined> {
  const own = { branch_id: 'branch_id', component_id: 'component_id', configuration_id: 'configuration_id' };
  // The compiler does not put names of tables and columns together.
  const at = (table: Joined, column: string) => `${table}.${column}` as ReferenceExpression<Database, Joined>;
  return Object.entries({ ...own, ...columns }).reduce(
    (joined, [left, right]) => joined.onRef(at(first, left), '=', at(second, right)),
    join,
  );
}
