import type { Meta } from '../../stores/metadata/database.ts';
import { filesAfter, PAGE } from './files.ts';

/**
 * Removes files from a copy of the metadata that were deleted since it was made: their bytes may be there in part.
 *
 * @returns their names
 */
export async function withoutDeleted(copy: Meta, now: Meta): Promise<string[]> {
  const names: string[] = [];
  for (let last = 0; ;) {
    const files = await filesAfter(copy, last, PAGE);
    const end = files.at(-1)?.id;
    if (end === undefined) return names;
    last = end;
    const ids = files.map(({ id }) => id);
    const there = await now.selectFrom('files').select('id').where('id', 'in', ids).execute();
    const known = new Set(there.map(({ id }) => id));
    const gone = files.filter(({ id }) => !known.has(id));
    if (gone.length === 0) continue;
    names.push(...gone.map(({ name }) => name));
    const without = gone.map(({ id }) => id);
    await copy.transaction().execute(async (tx) => {
      await tx.deleteFrom('file_tags').where('file_id', 'in', without).execute();
      await tx.deleteFrom('exports').where('file_id', 'in', without).execute();
      await tx.deleteFrom('files').where('id', 'in', without).execute();
    });
  }
}
