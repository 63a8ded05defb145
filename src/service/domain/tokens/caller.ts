import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../api-error.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { Author, BranchRow, DeletedTokenRow, TokenRow } from '../../stores/metadata/tables.ts';
import { sharedLook } from '../../stores/metadata/shared-look.ts';
import { findAccess } from '../../stores/metadata/access.ts';
import type { BucketPermission } from '../../../storage/protocol/token.ts';
import type { RunLimits } from '../../stores/metadata/run-limits.ts';

/** Permissions of a token. */
export interface Rights {
  readonly isMaster: boolean;
  readonly canManageBuckets: boolean;
  readonly canReadAllFileUploads: boolean;
  /** True when it changes nothing, whatever its other permissions are. */
  readonly isReadOnly: boolean;
  /** Permissions for buckets of one branch: those of another only have the same ids. */
  readonly bucketPermissions: Readonly<Record<string, BucketPermission>>;
  readonly bucketBranchId: number;
  readonly componentAccess: readonly string[];
  /** Limits of the token of a run: its only permissions. */
  readonly runLimits?: RunLimits;
}

/** Caller of a request, with its permissions. */
export interface Caller extends Author, Rights {
  readonly id: number;
  readonly token: TokenRow;
  /**
   * Secret of the request; only for the answer to the caller itself. Undefined in a session of the console, which
   * never sees it.
   */
  readonly secret: string | undefined;
  readonly canPurgeTrash: boolean;
  /** `X-KBC-RunId`: the run that it asks for. */
  readonly runId: string | null;
}

/**
 * The caller of a request, by `X-StorageApi-Token` or `Authorization: Bearer`, and the branch that it names.
 *
 * @throws {ApiError} 401 without saying anything about the token
 */
export async function authenticate(
  meta: Meta,
  headers: IncomingHttpHeaders,
  { branch: id, now }: { readonly branch: string; readonly now: number },
): Promise<{ readonly caller: Caller; readonly branch: BranchRow | undefined }> {
  const secret = tokenOf(headers);
  if (secret === undefined) throw new ApiError(401, '', 'Access token must be set');
  const { token, branch } = (await lookForAccess(meta, secret, id)) ?? {};
  const project = headers['x-kbc-projectid'];
  if (token === undefined || (project !== undefined && project !== secret.split('-')[0]))
    throw new ApiError(401, 'storage.tokenInvalid', 'Invalid access token');
  if (isExpired(token, now))
    throw new ApiError(401, 'storage.tokenInvalid', 'Invalid access token: it has expired');
  return { caller: callerOf(token, secret, runIdOf(headers)), branch };
}

const lookForAccess = sharedLook(findAccess);

/** Returns the caller of a token, as if it had sent a request. */
export function callerOf(token: TokenRow, secret?: string, runId: string | null = null): Caller {
  return {
    id: token.id,
    token,
    secret,
    ...rightsOfToken(token),
    canPurgeTrash: token.can_purge_trash === 1,
    ...(token.run_limits === null ? {} : { runLimits: JSON.parse(token.run_limits) as RunLimits }),
    runId,
    creator_id: token.id,
    creator_description: token.description,
  };
}

/** Beside the limits of a run. */
export function rightsOfToken(token: DeletedTokenRow): Rights {
  return {
    isMaster: token.is_master === 1,
    canManageBuckets: token.can_manage_buckets === 1,
    canReadAllFileUploads: token.can_read_all_files === 1,
    isReadOnly: token.is_read_only === 1,
    // Written by this service from a checked request.
    bucketPermissions: JSON.parse(token.bucket_permissions) as Record<string, BucketPermission>,
    bucketBranchId: token.bucket_branch_id,
    componentAccess: JSON.parse(token.component_access) as string[],
  };
}

export function isExpired(token: TokenRow, now: number): boolean {
  return token.expires !== null && Date.parse(token.expires) <= now;
}

export function runIdOf(headers: IncomingHttpHeaders): string | null {
  const runId = headers['x-kbc-runid'];
  return typeof runId === 'string' && runId !== '' ? runId : null;
}

/** The secret that a request was sent with. */
export function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const plain = headers['x-storageapi-token'];
  if (typeof plain === 'string' && plain.trim() !== '') return plain.trim();
  return /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
}

/** Returns the columns of the author of a row. */
export function authorOf(caller: Caller): Author {
  return { creator_id: caller.creator_id, creator_description: caller.creator_description };
}
