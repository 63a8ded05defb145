import type { Log } from '../../../lib/log.ts';
import { recordingsOf } from '../../../storage/protocol/recordings.ts';
import { lastId, startIds } from '../../stores/metadata/counter.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { incarnationOf } from '../../stores/metadata/incarnation.ts';
import { withLocks, PROJECT, runOf } from '../../stores/metadata/transaction.ts';
import type { ObjectStore } from '../../stores/objects/store.ts';

/** Numbers that are left out: more than were given between the moment that was gone back to and the loss. */
const GAP = 100_000_000;

const NAME = 'database';

/**
 * Looks whether the database is another one than at the last start: recovered to an earlier moment, restored by its own
 * programs, or a standby that has taken over. Then numbers may have been given of which it knows nothing, and objects
 * have them in their keys: no number is given again, and what attempts of runs have left that it knows nothing of is
 * removed. Before anything else is done; may be called by several processes at once.
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
  log.warn('The database was recovered, or a standby has taken over: numbers go on behind a gap', {
    gap: GAP,
    removedObjects: removed,
  });
}

/** Runs of one step. */
const PAGE = 200;

/** @returns how many objects were removed */
async function removeStale(meta: Meta, objects: Pick<ObjectStore, 'delete' | 'list'>): Promise<number> {
  let removed = 0;
  for (let last = 0; ;) {
    // One that has succeeded is over. One that has failed may be gone on with.
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

/** What attempts have left that the database knows nothing of. Nobody takes the run meanwhile. */
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
