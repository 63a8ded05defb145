import { StorageError } from '../../../lib/errors.ts';
import type { Meta } from '../../stores/metadata/database.ts';

/** Step of a migration, stored in its target until all of it is whole. */
export type TransferStep =
  | 'source'
  | 'files'
  | 'runs'
  | `files/${number}`
  | `runs/${number}`
  | `metadata/${string}`
  | `rows/${number}/${string}`;

/** Returns the stored state of a step; undefined when it was not begun. */
export async function readStep(meta: Meta, step: TransferStep): Promise<unknown> {
  const row = await meta.selectFrom('transfers').select('state').where('step', '=', step).executeTakeFirst();
  return row === undefined ? undefined : JSON.parse(row.state);
}

export async function saveStep(meta: Meta, step: TransferStep, state: unknown): Promise<void> {
  const text = JSON.stringify(state);
  await meta
    .insertInto('transfers')
    .values({ step, state: text })
    .onConflict((conflict) => conflict.column('step').doUpdateSet({ state: text }))
    .execute();
}

/** Removes the steps: from now on a service may run over the target. */
export async function forgetSteps(meta: Meta): Promise<void> {
  await meta.deleteFrom('transfers').execute();
}

/** @throws {StorageError} `storage.unfinished` for the target of a migration that has not come to its end */
export async function refuseUnfinished(meta: Meta): Promise<void> {
  const left = await meta.selectFrom('transfers').select('step').limit(1).executeTakeFirst();
  if (left === undefined) return;
  throw new StorageError(
    'storage.unfinished',
    'What is migrated or restored into this storage is not whole yet.',
    {
      hint: 'Give the same “gex storage migrate” or “gex storage restore” once more: it goes on where it was.',
    },
  );
}
