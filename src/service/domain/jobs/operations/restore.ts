import { Type } from 'typebox';
import { requireVersions } from '../../table-versions.ts';
import { refuseFilteredKey, refuseReferenced } from './alias.ts';
import { defineOperation, fenceOf } from './operation.ts';
import { change } from './structure.ts';

/** Sets a table back to a version. Done twice, it gives the same rows. */
export const tableRestore = defineOperation({
  name: 'tableRestore',
  params: Type.Object({ version: Type.Integer() }),
  run: async ({ version }, job, context) =>
    await change(job, context, async ({ stored, table }) => {
      const versions = await requireVersions(context);
      const then = await versions.at(version).describe(table);
      if (then !== undefined) {
        for (const { name } of stored.columns)
          if (!then.columns.includes(name)) await refuseReferenced(context.meta, stored, name, false);
        if (JSON.stringify(then.primaryKey) !== stored.primary_key)
          await refuseFilteredKey(context.meta, stored);
      }
      const { rows } = await versions.restore(table, version, fenceOf(job));
      return { results: { version, totalRowsCount: rows } };
    }),
});
