import type { Env } from '../../../lib/env.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { nextId, startIds } from './counter.ts';
import type { Meta } from './database.ts';
import type { MetadataTables } from './tables.ts';
import { createToken } from './tokens.ts';
import { withLocks, PROJECT, TOKENS } from './transaction.ts';

export type Project = MetadataTables['projects'];

/** The project of this service and its default branch; the first call makes both. */
export async function openProject(
  meta: Meta,
  env: Env,
  named: { name: string; region: string },
): Promise<Project> {
  return await withLocks(meta, [PROJECT], async (tx) => {
    const known = await tx.selectFrom('projects').selectAll().executeTakeFirst();
    if (known !== undefined) return known;
    const created = isoTime(env.now());
    const project = { id: 1, ...named, created };
    await tx.insertInto('projects').values(project).execute();
    await startIds(tx, FIRST_ID);
    const id = await nextId(tx);
    const main = { id, name: 'Main', description: '', is_default: 1, created } as const;
    await tx
      .insertInto('branches')
      .values({ ...main, creator_id: null, creator_description: null })
      .execute();
    return project;
  });
}

/** Tells whether there is a storage in this metadata. */
export async function hasProject(meta: Meta): Promise<boolean> {
  return (await meta.selectFrom('projects').select('id').executeTakeFirst()) !== undefined;
}

const FIRST_ID = 1000;

/** Description of the master token for commands on the same machine; its secret is never shown. */
export const LOCAL_DESCRIPTION = 'Commands on this machine';

/** The first master token, when there is none yet. Only this answer ever shows it. */
export async function firstMasterToken(meta: Meta, env: Env): Promise<string | undefined> {
  return await withLocks(meta, [PROJECT, TOKENS], async (tx) => {
    const known = await tx
      .selectFrom('tokens')
      .select('id')
      .where('is_master', '=', 1)
      .where('description', '!=', LOCAL_DESCRIPTION)
      .executeTakeFirst();
    return known === undefined ? await insertMasterToken(tx, env) : undefined;
  });
}

/** A further master token, for when the first is lost. */
export async function createMasterToken(meta: Meta, env: Env): Promise<string> {
  return await withLocks(meta, [TOKENS], (tx) => insertMasterToken(tx, env));
}

async function insertMasterToken(meta: Meta, env: Env): Promise<string> {
  const { token } = await createToken(meta, env, { description: 'Master token', isMaster: true }, undefined);
  return token;
}
