import type { Reply } from '../answer.ts';
import { isExpired } from '../caller.ts';
import { RawJson } from '../answer.ts';
import type { Project } from '../meta/projects.ts';
import type { TokenRow } from '../meta/tables.ts';
import { apiTime } from '../time.ts';

type Shape = Record<string, Reply>;

/** A token; the secret only in the answers that may show it. */
export function tokenReply(token: TokenRow, origin: string, now: number, secret?: string): Shape {
  const isMaster = token.is_master === 1;
  return {
    id: String(token.id),
    ...(secret === undefined ? {} : { token: secret }),
    description: token.description,
    uri: `${origin}/v2/storage/tokens/${token.id}`,
    created: apiTime(token.created),
    refreshed: apiTime(token.refreshed),
    isMasterToken: isMaster,
    canManageBuckets: token.can_manage_buckets === 1,
    canManageTokens: isMaster,
    canReadAllFileUploads: token.can_read_all_files === 1,
    canPurgeTrash: token.can_purge_trash === 1,
    canManageProtectedDefaultBranch: isMaster,
    canCreateJobs: true,
    expires: apiTime(token.expires),
    isExpired: isExpired(token, now),
    isDisabled: false,
    // An empty map is a list, as everywhere in this API (storage 0.4).
    bucketPermissions: token.bucket_permissions === '{}' ? [] : new RawJson(token.bucket_permissions),
    componentAccess: new RawJson(token.component_access),
    ...(token.creator_id === null
      ? {}
      : { creatorToken: { id: token.creator_id, description: token.creator_description ?? '' } }),
  };
}

/** What `tokens/verify` says besides: the project, and for a master token who it stands for. */
export function verifyReply(token: TokenRow, project: Project, size: { bytes: number; rows: number }): Shape {
  return {
    isBYODB: false,
    dailyCapacity: 0,
    organization: { id: 1 },
    ...(token.is_master === 1
      ? {
          admin: {
            id: 1,
            name: token.description,
            features: [],
            isOrganizationMember: true,
            role: 'admin',
            isActivated: true,
          },
        }
      : {}),
    owner: ownerReply(project, size),
  };
}

function ownerReply(project: Project, size: { bytes: number; rows: number }): Shape {
  return {
    id: project.id,
    name: project.name,
    type: 'production',
    region: project.region,
    created: apiTime(project.created),
    expires: null,
    features: ['queuev2'],
    dataSizeBytes: size.bytes,
    rowsCount: size.rows,
    hasMysql: false,
    hasSynapse: false,
    hasRedshift: false,
    hasSnowflake: true,
    hasExasol: false,
    hasTeradata: false,
    hasBigquery: false,
    defaultBackend: 'snowflake',
    assignedBackends: ['snowflake'],
    limits: {},
    metrics: {},
    isDisabled: false,
    billedMonthlyPrice: null,
    dataRetentionTimeInDays: 7,
    fileStorageProvider: 'aws',
    hasTryModeOn: '0',
  };
}
