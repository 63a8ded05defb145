import type { Meta } from './database.ts';
import { withLocks } from './transaction.ts';

/** Tells whether a recurring job is due, and if so counts it as done from now on. */
export async function isDue(meta: Meta, name: string, now: number, everyMs: number): Promise<boolean> {
  return await withLocks(meta, [{ kind: 'counter', id: name }], async (tx) => {
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
