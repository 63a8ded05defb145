import { RunError } from '../../../lib/errors.ts';
import type { Env } from '../../../lib/env.ts';
import type { Meta } from '../metadata/database.ts';
import type { TableEngine } from './engine.ts';

/** Tables of a folder, which store a name for themselves. */
export interface EpochEngine extends TableEngine {
  /** Returns the name that was set last; empty when none was. */
  epoch(): Promise<string>;
  /** Stores a name, which copies of the tables have as well. */
  setEpoch(name: string): Promise<void>;
}

const NAME = 'tables.epoch';

/** Tells whether tables have been used with this metadata. */
export async function hasEpoch(meta: Meta): Promise<boolean> {
  return (await storedEpochs(meta)) !== undefined;
}

/**
 * Makes sure that the metadata and the tables of a folder are of the same time: each has the random name that both got
 * last. One of them that was restored without the other has an earlier name.
 *
 * @throws {RunError} `database.otherTables`
 */
export async function checkEpoch(meta: Meta, engine: EpochEngine, dir: string): Promise<void> {
  const known = await storedEpochs(meta);
  if (known?.includes(await engine.epoch()) !== false) return;
  throw new RunError(
    'database.otherTables',
    'The metadata and the tables of the folder are not of the same time: one of them was replaced without the other.',
    {
      where: { file: dir },
      hint: [
        'Put meta.sqlite (with meta.sqlite-wal) and the folder tables back from one and the same copy.',
        'Or restore a backup into an empty folder: gex storage restore FILE --to DIR',
        `To go on with rows and metadata that differ: sqlite3 ${dir}/meta.sqlite "delete from settings where name = '${NAME}'"`,
      ],
    },
  );
}

/** Gives both a new name. Killed at any moment in it, or in a copy of both, the metadata accepts the name that the tables have. */
export async function renewEpoch(
  meta: Meta,
  engine: EpochEngine,
  env: Pick<Env, 'randomBytes'>,
): Promise<void> {
  const next = Buffer.from(env.randomBytes(8)).toString('hex');
  await storeEpochs(meta, [await engine.epoch(), next]);
  await engine.setEpoch(next);
  await storeEpochs(meta, [next]);
}

/** Names of the tables that the metadata accepts: '' stands for tables without one. */
async function storedEpochs(meta: Meta): Promise<readonly string[] | undefined> {
  const row = await meta.selectFrom('settings').select('value').where('name', '=', NAME).executeTakeFirst();
  return row?.value.split(',');
}

async function storeEpochs(meta: Meta, names: readonly string[]): Promise<void> {
  const value = names.join(',');
  await meta
    .insertInto('settings')
    .values({ name: NAME, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
