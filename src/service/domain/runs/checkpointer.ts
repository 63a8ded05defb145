import type { Keeper, KeeperOptions } from './checkpoint/checkpoint-types.ts';
import { Places } from './checkpoint/places.ts';
import { RunKeeper } from './checkpoint/run-keeper.ts';
import type { KeptStore } from './checkpoint/store.ts';

export type { Keeper, KeeperOptions } from './checkpoint/checkpoint-types.ts';
export type { KeptStore } from './checkpoint/store.ts';

/** Opens the checkpointer of one attempt. */
export function openKeeper(options: KeeperOptions): Keeper {
  return new RunKeeper(options);
}

/**
 * Removes the data that only a later attempt, or a run that continues, would need. Artifacts for users stay, and so
 * do the claims: by them an attempt that comes back late sees that it has a successor.
 */
export async function pruneCheckpoint(store: KeptStore, run: string): Promise<void> {
  const places = new Places(run);
  await removeAll(store, places.root, (key) => !places.isRecord(key) && !key.startsWith(places.allClaims));
}

/** Removes everything that is stored of a run. */
export async function removeKept(store: KeptStore, run: string): Promise<void> {
  await removeAll(store, new Places(run).root, () => true);
}

const KEYS_AT_ONCE = 500;

async function removeAll(store: KeptStore, prefix: string, isMeant: (key: string) => boolean): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) if (isMeant(key)) keys.push(key);
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE)
    await store.delete(keys.slice(from, from + KEYS_AT_ONCE));
}
