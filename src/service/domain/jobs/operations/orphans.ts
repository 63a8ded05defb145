import { Type } from 'typebox';
import type { Orphans } from '../../../../storage/protocol/orphans.ts';
import type { OrphanedFiles, OrphanList } from '../../../stores/tables/engine.ts';
import { badRequest } from '../../api-error.ts';
import type { DataContext } from '../../data-context.ts';
import { apiTime } from '../../presenters/time.ts';
import { defineOperation } from './operation.ts';

/** Lists the files that no table has, or deletes those that were listed. Done twice, it finds none any more. */
export const orphanedFiles = defineOperation({
  name: 'orphanedFiles',
  params: Type.Object({
    listed: Type.Optional(Type.Object({ before: Type.String(), count: Type.Integer() })),
  }),
  run: async ({ listed }, _job, context) => {
    const orphans = await requireOrphans(context);
    const found = listed === undefined ? await orphans.list() : await orphans.remove(listed);
    return { results: resultOf(found, listed !== undefined) };
  },
});

/** @throws {ApiError} 400 for a storage that keeps no files of tables */
export async function requireOrphans({ engine }: Pick<DataContext, 'engine'>): Promise<OrphanedFiles> {
  const orphans = await engine.orphans();
  if (orphans !== undefined) return orphans;
  throw badRequest(
    'storage.orphans.none',
    'The tables of this storage are kept in no files of their own; those of a lake are.',
  );
}

function resultOf({ before, count, files }: OrphanList, isDeleted: boolean): Orphans {
  return {
    isDeleted,
    before,
    count,
    files: files.map(({ path, bytes, time }) => ({ path, bytes, created: apiTime(time.toISOString()) })),
  };
}
