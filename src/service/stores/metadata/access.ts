import { branchIdOf } from './branches.ts';
import type { Meta } from './database.ts';
import type { BranchRow, TokenRow } from './tables.ts';
import { hashToken } from './tokens.ts';

/** Token of a request, and the branch that it names when there is one. */
interface Access {
  readonly token: TokenRow;
  readonly branch: BranchRow | undefined;
}

/**
 * Returns the token of a secret and a branch, both by one statement: every request needs them.
 *
 * @param branch its id in digits, or the word `default`
 */
export async function findAccess(meta: Meta, secret: string, branch: string): Promise<Access | undefined> {
  const id = branchIdOf(branch);
  const found = await meta
    .selectFrom('tokens')
    .leftJoin('branches as b', (join) =>
      id === 'default' ? join.on('b.is_default', '=', 1) : join.on('b.id', '=', id ?? null),
    )
    .selectAll('tokens')
    .select([
      'b.id as branch_id',
      'b.name as branch_name',
      'b.description as branch_description',
      'b.is_default as branch_is_default',
      'b.created as branch_created',
      'b.creator_id as branch_creator_id',
      'b.creator_description as branch_creator_description',
    ])
    .where('tokens.hash', '=', hashToken(secret))
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const {
    branch_id,
    branch_name: name,
    branch_description: description,
    branch_is_default: is_default,
    branch_created: created,
    branch_creator_id: creator_id,
    branch_creator_description: creator_description,
    ...token
  } = found;
  // All of them are there, or none.
  const isThere = branch_id !== null && name !== null && description !== null && is_default !== null;
  if (!isThere || created === null) return { token, branch: undefined };
  return {
    token,
    branch: { id: branch_id, name, description, is_default, created, creator_id, creator_description },
  };
}
