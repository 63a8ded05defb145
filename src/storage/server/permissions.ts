import type { BucketPermission } from '../protocol/token.ts';
import type { Caller } from './caller.ts';
import { accessDenied } from './errors.ts';

const LEVELS: readonly BucketPermission[] = ['read', 'write', 'manage'];

/** Whether the caller may do that much with a bucket. Master and bucket managers may do everything. */
export function mayUseBucket(caller: Caller, bucketId: string, need: BucketPermission): boolean {
  if (caller.isMaster || caller.canManageBuckets) return true;
  const has = Object.hasOwn(caller.bucketPermissions, bucketId)
    ? caller.bucketPermissions[bucketId]
    : undefined;
  return has !== undefined && LEVELS.indexOf(has) >= LEVELS.indexOf(need);
}

/** @throws {ApiError} 403 */
export function requireBucket(caller: Caller, bucketId: string, need: BucketPermission): void {
  if (!mayUseBucket(caller, bucketId, need)) throw accessDenied();
}

/** Making and removing buckets and branches. @throws {ApiError} 403 */
export function requireBucketManagement(caller: Caller): void {
  if (!caller.isMaster && !caller.canManageBuckets) throw accessDenied();
}

/** Whether the caller may read and change the configurations of a component (storage 5.6). */
export function mayUseComponent(caller: Caller, componentId: string): boolean {
  return caller.isMaster || caller.canManageBuckets || caller.componentAccess.includes(componentId);
}

/** @throws {ApiError} 403 */
export function requireComponent(caller: Caller, componentId: string): void {
  if (!mayUseComponent(caller, componentId)) throw accessDenied();
}

/** Only the master token manages others. @throws {ApiError} 403 */
export function requireTokenManagement(caller: Caller): void {
  if (!caller.isMaster) throw accessDenied();
}

/** Whether the caller may read a file that some token made. */
export function mayReadFile(caller: Caller, creatorId: number): boolean {
  return caller.isMaster || caller.canReadAllFileUploads || caller.id === creatorId;
}
