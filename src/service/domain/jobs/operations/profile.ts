import { rowsOf } from './alias.ts';
import { paramsOf, type Operation } from './operation.ts';
import { engineTable, requireTableRow } from './table-place.ts';

export interface ProfileParams {
  /** All when it is null. */
  readonly columns: readonly string[] | null;
}

/** Profiles the values of a table. It changes nothing, and its profile is stored as the result of the job. */
export const tableProfile: Operation = async (job, context) => {
  const { columns } = paramsOf(job) as ProfileParams;
  const id = job.table_id ?? '';
  const stored = await requireTableRow(context.meta, context, job.branch_id, id);
  const { table, query } = await rowsOf(context.meta, context, stored);
  const profile = await context.engine.profile(
    engineTable(table.branch_id, table.id),
    query(columns === null ? {} : { columns }),
  );
  return {
    results: {
      ...profile,
      columns: profile.columns.map((column) => ({ ...column, mostFrequent: [...column.mostFrequent] })),
      revision: table.revision,
    },
  };
};
