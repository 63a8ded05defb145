import { originMetadata, isTaken, SYSTEM, writeMetadata } from './metadata.ts';
import type { Pushing } from './pushing.ts';

/**
 * Makes a bucket when it is missing (spec storage 8.5, 8); once for all the tables of a push.
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
    isNew = await createBucket(push, id);
    if (!isNew) journal.updateTable(key, { newBucket: undefined });
  }
  const pairs = originMetadata(origin, isNew ? 'createdBy' : 'lastUpdatedBy');
  await writeMetadata(buckets.metadata(id), pairs, { provider: SYSTEM, what: id, log });
}

/** @returns whether it was made here; false when another run made it at the same moment */
async function createBucket({ connection, log }: Pushing, id: string): Promise<boolean> {
  const { buckets } = connection.client;
  const [stage, bucket = ''] = id.split('.');
  try {
    await buckets.create({ name: bucket.slice('c-'.length), stage: stage === 'out' ? 'out' : 'in' });
    log.info(`Made the bucket ${id}`);
    return true;
  } catch (error) {
    // The name may also be the one under which another bucket is shown.
    if (!isTaken(error) || (await buckets.find(id)) === undefined) throw error;
    return false;
  }
}
