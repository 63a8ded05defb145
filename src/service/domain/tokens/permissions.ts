import type { BucketPermission } from '../../../storage/protocol/token.ts';
import type { Caller, Rights } from './caller.ts';
import type { TokenRow } from '../../stores/metadata/tables.ts';
import { accessDenied } from '../api-error.ts';

const LEVELS: readonly BucketPermission[] = ['read', 'write', 'manage'];

/**
 * Tells whether the caller may use a bucket of a branch so: one of the same id elsewhere is another. Master and
 * bucket managers may do everything.
 */
export function mayUseBucket(
  caller: Rights,
  branchId: number,
  bucketId: string,
  need: BucketPermission,
): boolean {
  if (caller.isReadOnly && need !== 'read') return false;
  if (caller.isMaster || caller.canManageBuckets) return true;
  const { production } = caller.runLimits ?? {};
  if (production?.branch_id === branchId) return need === 'read' && production.buckets.includes(bucketId);
  if (caller.bucketBranchId !== branchId) return false;
  const has = Object.hasOwn(caller.bucketPermissions, bucketId)
    ? caller.bucketPermissions[bucketId]
    : undefined;
  return has !== undefined && LEVELS.indexOf(has) >= LEVELS.indexOf(need);
}

/** @throws {ApiError} 403 */
export function requireBucket(
  caller: Caller,
  branchId: number,
  bucketId: string,
  need: BucketPermission,
): void {
  if (!mayUseBucket(caller, branchId, bucketId, need)) throw accessDenied();
}

/** Making and removing buckets and branches. @throws {ApiError} 403 */
function requireBucketManagement(caller: Caller): void {
  if (!caller.isMaster && !caller.canManageBuckets) throw accessDenied();
}

/** Making one bucket: that of a run's output is made by the run. @throws {ApiError} 403 */
export function requireBucketCreation(caller: Caller, branchId: number, bucketId: string): void {
  if (caller.runLimits === undefined) requireBucketManagement(caller);
  else requireBucket(caller, branchId, bucketId, 'write');
}

/** Tells whether the caller may read and change the configurations of a component. */
export function mayUseComponent(caller: Rights, componentId: string): boolean {
  return caller.isMaster || caller.canManageBuckets || caller.componentAccess.includes(componentId);
}

/** @throws {ApiError} 403 for a token that may use no component at all */
export function requireAnyComponent(caller: Caller): void {
  if (!caller.isMaster && !caller.canManageBuckets && caller.componentAccess.length === 0)
    throw accessDenied();
}

/** @throws {ApiError} 403 */
export function requireComponent(caller: Caller, componentId: string): void {
  if (!mayUseComponent(caller, componentId)) throw accessDenied();
}

/** Tells whether a token is the caller's own, or has no permission that the caller lacks. */
export function mayActAs(caller: Caller, token: TokenRow): boolean {
  if (caller.isMaster || token.id === caller.id) return true;
  const isWithin =
    token.is_master === 0 &&
    (token.can_manage_buckets === 0 || caller.canManageBuckets) &&
    (token.can_read_all_files === 0 || caller.canReadAllFileUploads) &&
    (token.can_purge_trash === 0 || caller.canPurgeTrash);
  // Written by this service from checked requests.
  const buckets = JSON.parse(token.bucket_permissions) as Record<string, BucketPermission>;
  const components = JSON.parse(token.component_access) as string[];
  return (
    isWithin &&
    Object.entries(buckets).every(([id, need]) => mayUseBucket(caller, token.bucket_branch_id, id, need)) &&
    components.every((id) => mayUseComponent(caller, id))
  );
}

/** Only the master token manages others. @throws {ApiError} 403 */
export function requireTokenManagement(caller: Caller): void {
  if (!caller.isMaster) throw accessDenied();
}

/** Tells whether the caller may change or delete a file of a token: permission to read all files is not enough. */
export function mayChangeFile(caller: Caller, creatorId: number): boolean {
  return caller.isMaster || caller.id === creatorId;
}

/** Tells whether the caller may read a file of a token. */
export function mayReadFile(caller: Caller, creatorId: number): boolean {
  return caller.isMaster || caller.canReadAllFileUploads || caller.id === creatorId;
}
