import type { Reply } from '../reply.ts';
import type { MeasuredBucket } from '../../stores/metadata/buckets.ts';
import { apiTime } from './time.ts';
import { ADMIN } from './token.ts';

/** A bucket, without its tables. */
export function bucketReply(bucket: MeasuredBucket, origin: string): Record<string, Reply> {
  return {
    uri: `${origin}/v2/storage/buckets/${bucket.id}`,
    id: bucket.id,
    name: bucket.name,
    displayName: bucket.display_name,
    idBranch: bucket.branch_id,
    stage: bucket.stage,
    description: bucket.description,
    tables: `${origin}/v2/storage/buckets/${bucket.id}/tables`,
    created: apiTime(bucket.created),
    lastChangeDate: apiTime(bucket.last_change),
    updated: apiTime(bucket.updated),
    isReadOnly: false,
    dataSizeBytes: bucket.bytes,
    rowsCount: bucket.rows,
    isMaintenance: false,
    backend: bucket.backend,
    sharing: null,
    hasExternalSchema: false,
    databaseName: `project_${bucket.project_id}`,
    path: bucket.id,
    isSnowflakeSharedDatabase: false,
    color: bucket.color,
    owner: bucket.owner_id === ADMIN.id ? ADMIN : null,
    backendPath: [`project_${bucket.project_id}`, bucket.id],
    isLinkedBucket: false,
    bucketSharingAllowed: true,
  };
}
