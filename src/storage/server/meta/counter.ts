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

/** Whether what is done now and then is to be done again; counts as done from then on. */
export async function isDue(meta: Meta, name: string, now: number, everyMs: number): Promise<boolean> {
  return await meta.transaction().execute(async (tx) => {
    const last = await tx.selectFrom('counters').select('value').where('name', '=', name).executeTakeFirst();
    if (last !== undefined && now - last.value < everyMs && last.value <= now) return false;
    await tx
      .insertInto('counters')
      .values({ name, value: now })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: now }))
      .execute();
    return true;
  });
}
