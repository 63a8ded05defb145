import type { Log } from '../../../lib/log.ts';
import { recordingsOf } from '../../../storage/protocol/recordings.ts';
import { lastId, startIds } from '../../stores/metadata/counter.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { incarnationOf } from '../../stores/metadata/incarnation.ts';
import { withLocks, PROJECT, runOf } from '../../stores/metadata/transaction.ts';
import type { ObjectStore } from '../../stores/objects/store.ts';

/** Numbers that are left out: more than were given between the time of the recovery and the loss. */
const GAP = 100_000_000;

const NAME = 'database';

/**
 * Checks whether the database is another one than at the last start: recovered to an earlier time, restored by its
 * own programs, or a standby that has been promoted. Then it may lack numbers that were given already, and objects
 * have them in their keys: no number is given again, and objects of attempts that it does not know are removed. Must
 * run before anything else; may be called by several processes at once.
 */
export async function lookForRecovery(
  meta: Meta,
  objects: Pick<ObjectStore, 'delete' | 'list'> | undefined,
  log: Log,
): Promise<void> {
  const now = await incarnationOf(meta);
  if (now === undefined) return;
  const half = `cleaning ${now}`;
  const isOver = await withLocks(meta, [PROJECT], async (tx) => {
    const known = await tx.selectFrom('settings').select('value').where('name', '=', NAME).executeTakeFirst();
    if (known === undefined) await tx.insertInto('settings').values({ name: NAME, value: now }).execute();
    if (known === undefined || known.value === now) return false;
    if (known.value === half) return true;
    await startIds(tx, (await lastId(tx)) + GAP);
    await tx.updateTable('settings').set({ value: half }).where('name', '=', NAME).execute();
    return true;
  });
  if (!isOver) return;
  const removed = objects === undefined ? 0 : await removeStale(meta, objects);
  await meta
    .updateTable('settings')
    .set({ value: now })
    .where((where) => where.and({ name: NAME, value: half }))
    .execute();
  log.warn('The database was recovered, or a standby has taken over: ids continue after a gap', {
    gap: GAP,
    removedObjects: removed,
  });
}

/** Runs of one step. */
const PAGE = 200;

/** Removes the objects of unknown attempts. @returns their number */
async function removeStale(meta: Meta, objects: Pick<ObjectStore, 'delete' | 'list'>): Promise<number> {
  let removed = 0;
  for (let last = 0; ;) {
    // A run that has succeeded is over. One that has failed may be continued.
    const runs = await meta
      .selectFrom('runs')
      .select('id')
      .where('id', '>', last)
      .where('status', '!=', 'success')
      .orderBy('id')
      .limit(PAGE)
      .execute();
    if (runs.length === 0) return removed;
    for (const { id } of runs) removed += await removeStaleOf(meta, objects, id);
    last = runs.at(-1)?.id ?? last;
  }
}

/** Removes the objects of attempts of a run that the database does not know. No runner claims the run meanwhile. */
async function removeStaleOf(
  meta: Meta,
  objects: Pick<ObjectStore, 'delete' | 'list'>,
  id: number,
): Promise<number> {
  return await withLocks(meta, [runOf(id)], async (tx) => {
    const run = await tx
      .selectFrom('runs')
      .select('attempt')
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (run === undefined) return 0;
    const root = recordingsOf(String(id));
    const stale: string[] = [];
    for await (const { key } of objects.list(root)) {
      const [, attempt, by] =
        /^(?:claims\/)?(?:(\d{6,})(?:\/|$)|by (\d{1,15})$)/.exec(key.slice(root.length)) ?? [];
      if (attempt !== undefined && Number(attempt) > run.attempt) stale.push(key);
      if (by !== undefined && !(await isThere(tx, Number(by)))) stale.push(key);
    }
    if (stale.length > 0) await objects.delete(stale);
    return stale.length;
  });
}

async function isThere(tx: Meta, id: number): Promise<boolean> {
  return (await tx.selectFrom('runs').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
}
