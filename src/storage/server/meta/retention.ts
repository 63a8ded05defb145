import { setImmediate } from 'node:timers/promises';
import type { Meta } from './database.ts';

/** Rows of one statement: nobody waits long for it. */
const ROWS_AT_ONCE = 500;

/** Forgets finished jobs and events from before a time (ISO). */
export async function forgetOld(meta: Meta, before: string): Promise<void> {
  const jobs = meta.selectFrom('jobs').select('id').where('ended', '<', before).limit(ROWS_AT_ONCE);
  await inParts(async () => await meta.deleteFrom('jobs').where('id', 'in', jobs).executeTakeFirstOrThrow());
  const events = meta.selectFrom('events').select('id').where('created', '<', before).limit(ROWS_AT_ONCE);
  await inParts(
    async () => await meta.deleteFrom('events').where('id', 'in', events).executeTakeFirstOrThrow(),
  );
}

async function inParts(work: () => Promise<{ numDeletedRows: bigint }>): Promise<void> {
  while ((await work()).numDeletedRows === BigInt(ROWS_AT_ONCE)) await setImmediate();
}
