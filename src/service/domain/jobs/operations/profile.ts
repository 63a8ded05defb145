import { Type } from 'typebox';
import { rowsOf } from './alias.ts';
import { defineOperation } from './operation.ts';
import { engineTable, requireTableRow } from './table-place.ts';

/** Profiles the values of a table. It changes nothing, and its profile is stored as the result of the job. */
export const tableProfile = defineOperation({
  name: 'tableProfile',
  params: Type.Object({
    columns: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'All when it is null.' }),
  }),
  async run({ columns }, job, context) {
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
  },
});
