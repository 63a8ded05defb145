import { createHash } from 'node:crypto';
import type { Env } from '../../../lib/env.ts';
import type { BucketPermission } from '../../../storage/protocol/token.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { findBranch } from './branches.ts';
import { nextId } from './counter.ts';
import type { Meta } from './database.ts';
import type { RunLimits } from './run-limits.ts';
import type { Author, DeletedTokenRow, TokenRow } from './tables.ts';

export interface TokenRights {
  readonly description: string;
  readonly isMaster?: boolean;
  readonly canManageBuckets?: boolean;
  readonly canReadAllFileUploads?: boolean;
  readonly canPurgeTrash?: boolean;
  /** Reads what its other rights let it, and changes nothing. */
  readonly isReadOnly?: boolean;
  readonly bucketPermissions?: Readonly<Record<string, BucketPermission>> | undefined;
  /** The branch that the buckets are of; default: the default branch. */
  readonly bucketBranchId?: number;
  readonly componentAccess?: readonly string[];
  /** Makes it the token of a run, which may do nothing else. */
  readonly runLimits?: RunLimits;
  /** Seconds from now; it never ends when undefined. */
  readonly expiresIn?: number;
  /** Last part of the token; random when undefined. */
  readonly secret?: string;
}

/** Makes a token `<project>-<id>-<secret>`. This answer is the only place where it is ever seen. */
export async function createToken(
  meta: Meta,
  env: Env,
  rights: TokenRights,
  author: Author | undefined,
): Promise<{ row: TokenRow; token: string }> {
  const id = await nextId(meta);
  const token = await tokenText(meta, id, rights.secret ?? newSecret(env));
  const now = env.now();
  const row: TokenRow = {
    id,
    description: rights.description,
    hash: hashToken(token),
    is_master: rights.isMaster === true ? 1 : 0,
    can_manage_buckets: rights.canManageBuckets === true || rights.isMaster === true ? 1 : 0,
    can_read_all_files: rights.canReadAllFileUploads === true || rights.isMaster === true ? 1 : 0,
    can_purge_trash: rights.canPurgeTrash === true || rights.isMaster === true ? 1 : 0,
    is_read_only: rights.isReadOnly === true ? 1 : 0,
    bucket_permissions: JSON.stringify(rights.bucketPermissions ?? {}),
    bucket_branch_id: rights.bucketBranchId ?? (await findBranch(meta, 'default'))?.id ?? 0,
    component_access: JSON.stringify(rights.componentAccess ?? []),
    run_limits: rights.runLimits === undefined ? null : JSON.stringify(rights.runLimits),
    created: isoTime(now),
    refreshed: isoTime(now),
    expires: rights.expiresIn === undefined ? null : isoTime(now + rights.expiresIn * 1000),
    creator_id: author?.creator_id ?? null,
    creator_description: author?.creator_description ?? null,
  };
  await meta.insertInto('tokens').values(row).execute();
  return { row, token };
}

/**
 * Gives a token a new secret; the old one is worth nothing from then on.
 *
 * @param expiresIn seconds from now that it is to last; as long as before when undefined
 */
export async function refreshToken(meta: Meta, env: Env, id: number, expiresIn?: number): Promise<string> {
  const token = await tokenText(meta, id, newSecret(env));
  const now = env.now();
  await meta
    .updateTable('tokens')
    .set({
      hash: hashToken(token),
      refreshed: isoTime(now),
      ...(expiresIn === undefined ? {} : { expires: isoTime(now + expiresIn * 1000) }),
    })
    .where('id', '=', id)
    .execute();
  return token;
}

export async function updateToken(
  meta: Meta,
  id: number,
  rights: Partial<Omit<TokenRights, 'canManageBuckets' | 'expiresIn' | 'isMaster'>>,
): Promise<void> {
  const changes: Partial<TokenRow> = {};
  if (rights.description !== undefined) changes.description = rights.description;
  if (rights.canReadAllFileUploads !== undefined)
    changes.can_read_all_files = rights.canReadAllFileUploads ? 1 : 0;
  if (rights.canPurgeTrash !== undefined) changes.can_purge_trash = rights.canPurgeTrash ? 1 : 0;
  if (rights.isReadOnly !== undefined) changes.is_read_only = rights.isReadOnly ? 1 : 0;
  if (rights.bucketPermissions !== undefined) {
    changes.bucket_permissions = JSON.stringify(rights.bucketPermissions);
    if (rights.bucketBranchId !== undefined) changes.bucket_branch_id = rights.bucketBranchId;
  }
  if (rights.runLimits !== undefined) changes.run_limits = JSON.stringify(rights.runLimits);
  if (rights.componentAccess !== undefined) changes.component_access = JSON.stringify(rights.componentAccess);
  if (Object.keys(changes).length === 0) return;
  await meta.updateTable('tokens').set(changes).where('id', '=', id).execute();
}

export async function findToken(meta: Meta, id: number): Promise<TokenRow | undefined> {
  return await meta.selectFrom('tokens').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function findTokenBySecret(meta: Meta, token: string): Promise<TokenRow | undefined> {
  return await meta.selectFrom('tokens').selectAll().where('hash', '=', hashToken(token)).executeTakeFirst();
}

export async function listTokens(meta: Meta): Promise<TokenRow[]> {
  return await meta.selectFrom('tokens').selectAll().orderBy('id').execute();
}

/** Lets a token last for so many seconds from now. */
export async function prolongToken(meta: Meta, env: Env, id: number, seconds: number): Promise<void> {
  const expires = isoTime(env.now() + seconds * 1000);
  await meta.updateTable('tokens').set({ expires }).where('id', '=', id).execute();
}

/** Makes the secret of a token worth nothing. What was done with it stays its own, and it may get another. */
export async function revokeToken(meta: Meta, id: number): Promise<void> {
  await meta
    .updateTable('tokens')
    .set({ hash: `${REVOKED}${id}` })
    .where('id', '=', id)
    .execute();
}

/** Tells whether a token is revoked: no secret belongs to its hash. */
export const isRevoked = ({ hash }: Pick<TokenRow, 'hash'>): boolean => hash.startsWith(REVOKED);

const REVOKED = 'revoked ';

/** Deletes a token; must run in a transaction. Its rights stay stored: configurations it has changed run with them. */
export async function deleteToken(tx: Meta, id: number): Promise<void> {
  const rights = tx
    .selectFrom('tokens')
    .select(DELETED)
    .where((where) => where.and([where('id', '=', id), where('run_limits', 'is', null)]));
  await tx
    .insertInto('deleted_tokens')
    .columns([...DELETED])
    .expression(rights)
    .execute();
  await tx.deleteFrom('tokens').where('id', '=', id).execute();
}

const DELETED = [
  'id',
  'is_master',
  'can_manage_buckets',
  'can_read_all_files',
  'is_read_only',
  'bucket_permissions',
  'bucket_branch_id',
  'component_access',
] as const satisfies readonly (keyof DeletedTokenRow)[];

/** Returns the rights of a token, or those that it had when it was deleted; undefined when the token is unknown. */
export async function findRights(meta: Meta, id: number): Promise<DeletedTokenRow | undefined> {
  const known = await findToken(meta, id);
  return (
    known ?? (await meta.selectFrom('deleted_tokens').selectAll().where('id', '=', id).executeTakeFirst())
  );
}

/** Takes a bucket that is deleted out of what tokens may do: another one of its id is another bucket. */
export async function withdrawBucket(meta: Meta, branchId: number, bucketId: string): Promise<void> {
  for (const table of ['tokens', 'deleted_tokens'] as const) {
    const tokens = await meta
      .selectFrom(table)
      .select(['id', 'bucket_permissions'])
      .where('bucket_branch_id', '=', branchId)
      .where('bucket_permissions', '!=', '{}')
      .execute();
    for (const { id, bucket_permissions } of tokens) {
      // Written by this service.
      const { [bucketId]: withdrawn, ...left } = JSON.parse(bucket_permissions) as Record<
        string,
        BucketPermission
      >;
      if (withdrawn === undefined) continue;
      await meta
        .updateTable(table)
        .set({ bucket_permissions: JSON.stringify(left) })
        .where('id', '=', id)
        .execute();
    }
  }
}

// A secret of 240 random bits needs no slow hash: there is nothing to guess.
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** A token as it is sent, of the project that there is. */
export async function tokenText(meta: Meta, id: number, secret: string): Promise<string> {
  const project = await meta.selectFrom('projects').select('id').executeTakeFirstOrThrow();
  return `${project.id}-${id}-${secret}`;
}

function newSecret(env: Env): string {
  return Buffer.from(env.randomBytes(30)).toString('hex');
}
