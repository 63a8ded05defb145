import type { Meta } from './database.ts';

/** The next number of the one counter that all numeric ids come from; also the tickets. It never repeats. */
export async function nextId(meta: Meta): Promise<number> {
  const { value } = await meta
    .updateTable('counters')
    .set((update) => ({ value: update('value', '+', 1) }))
    .where('name', '=', 'id')
    .returning('value')
    .executeTakeFirstOrThrow();
  return value;
}
