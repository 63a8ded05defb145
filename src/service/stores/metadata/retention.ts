import type { Meta } from './database.ts';
import { forgetRunTables } from './run-tables.ts';
import { withLocks } from './transaction.ts';

/** Forgets so many of the jobs that had ended before a time (ISO). @returns how many there were */
export async function forgetJobs(meta: Meta, before: string, count: number): Promise<number> {
  const jobs = meta.selectFrom('jobs').select('id').where('ended', '<', before).limit(count);
  return deleted(await meta.deleteFrom('jobs').where('id', 'in', jobs).executeTakeFirstOrThrow());
}

/**
 * The same of runs, with their logs.
 *
 * @param remove removes what is stored of a run elsewhere; called before its row is deleted
 */
export async function forgetRuns(
  meta: Meta,
  before: string,
  count: number,
  remove: (id: number) => Promise<void>,
): Promise<number> {
  const found = await meta.selectFrom('runs').select('id').where('ended', '<', before).limit(count).execute();
  if (found.length === 0) return 0;
  const ids = found.map(({ id }) => id);
  for (const id of ids) await remove(id);
  return await withLocks(meta, [], async (tx) => {
    const tokens = tx
      .selectFrom('runs')
      .select('token_id')
      .where('id', 'in', ids)
      .where('token_id', 'is not', null);
    await tx.deleteFrom('tokens').where('id', 'in', tokens).execute();
    await tx.deleteFrom('run_log').where('run_id', 'in', ids).execute();
    await tx.deleteFrom('run_requests').where('run_id', 'in', ids).execute();
    await forgetRunTables(tx, ids);
    return deleted(await tx.deleteFrom('runs').where('id', 'in', ids).executeTakeFirstOrThrow());
  });
}

/** The same of events. */
export async function forgetEvents(meta: Meta, before: string, count: number): Promise<number> {
  const events = meta.selectFrom('events').select('id').where('created', '<', before).limit(count);
  return deleted(await meta.deleteFrom('events').where('id', 'in', events).executeTakeFirstOrThrow());
}

/** The same of the keys of requests; of those that came at the same moment as the last one, none stays. */
export async function forgetKeys(meta: Meta, before: string, count: number): Promise<number> {
  const oldest = await meta
    .selectFrom('request_keys')
    .select('created')
    .where('created', '<', before)
    .orderBy('created')
    .limit(count)
    .execute();
  const last = oldest.at(-1);
  if (last === undefined) return 0;
  return deleted(
    await meta.deleteFrom('request_keys').where('created', '<=', last.created).executeTakeFirstOrThrow(),
  );
}

const deleted = ({ numDeletedRows }: { readonly numDeletedRows: bigint }): number => Number(numDeletedRows);
