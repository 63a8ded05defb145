import { badRequest, type ApiError } from '../api-error.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { BucketPermission } from '../../../storage/protocol/token.ts';

/** Permissions that a token may have for a single bucket: managing buckets is a permission for all of them. */
const GRANTS: readonly BucketPermission[] = ['read', 'write'];

/**
 * The permissions of a request, for buckets that there are.
 *
 * @throws {ApiError} 400 `storage.tokens.invalidPermissions`
 */
export async function readBucketPermissions(
  meta: Meta,
  branchId: number,
  given: Readonly<Record<string, string>> | undefined,
): Promise<Record<string, BucketPermission> | undefined> {
  if (given === undefined) return undefined;
  const permissions: Record<string, BucketPermission> = {};
  for (const [bucket, permission] of Object.entries(given)) {
    const grant = GRANTS.find((known) => known === permission);
    if (grant === undefined)
      throw invalid(
        `The permission "${permission}" cannot be given for the bucket "${bucket}"; there are ${GRANTS.join(' and ')}.`,
      );
    const known = await meta
      .selectFrom('buckets')
      .select('id')
      .where((where) => where.and({ branch_id: branchId, id: bucket }))
      .executeTakeFirst();
    if (known === undefined) throw invalid(`The bucket "${bucket}" was not found.`);
    permissions[bucket] = grant;
  }
  return permissions;
}

const invalid = (message: string): ApiError => badRequest('storage.tokens.invalidPermissions', message);
