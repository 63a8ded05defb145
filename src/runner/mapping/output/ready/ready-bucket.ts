import { originMetadata, isTaken, SYSTEM, writeMetadata } from './metadata.ts';
import { stepKey, type Pushing } from '../pushing.ts';

/**
 * Makes a bucket when it is missing; once for all the tables of a push.
 *
 * @param key entry of the journal that notes it
 */
export async function readyBucket(push: Pushing, id: string, key: string): Promise<void> {
  const known = push.buckets.get(id);
  if (known !== undefined) return await known;
  const making = makeBucket(push, id, key);
  push.buckets.set(id, making);
  // The next table tries again.
  making.catch(() => push.buckets.delete(id));
  await making;
}

async function makeBucket(push: Pushing, id: string, key: string): Promise<void> {
  const { connection, journal, origin, log } = push;
  const { buckets } = connection.client;
  let isNew = [...journal.document.tables.values()].some(
    ({ newBucket, destination }) => newBucket === true && destination?.startsWith(`${id}.`) === true,
  );
  if ((await buckets.find(id)) === undefined) {
    journal.updateTable(key, { newBucket: true });
    isNew = await createBucket(push, id, key);
    if (!isNew) journal.updateTable(key, { newBucket: undefined });
  }
  const what = isNew ? 'createdBy' : 'lastUpdatedBy';
  const pairs = originMetadata(origin, what);
  // a push that is done once more says another thing than the one that made the bucket
  const once = { key: stepKey(push, '', `bucket ${what}`, id) };
  await writeMetadata(buckets.metadata(id), pairs, { provider: SYSTEM, what: id, log, ...once });
}

/** @returns whether it was made here; false when another run made it at the same moment */
async function createBucket(push: Pushing, id: string, entry: string): Promise<boolean> {
  const { connection, log } = push;
  const { buckets } = connection.client;
  const [stage, bucket = ''] = id.split('.');
  try {
    const wanted = { name: bucket.slice('c-'.length), stage: stage === 'out' ? 'out' : 'in' } as const;
    await buckets.create(wanted, { key: stepKey(push, entry, 'bucket', id) });
    log.info(`Made the bucket ${id}`);
    return true;
  } catch (error) {
    // The name may also be the one under which another bucket is shown.
    if (!isTaken(error) || (await buckets.find(id)) === undefined) throw error;
    return false;
  }
}
