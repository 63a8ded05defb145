import type { Reply } from '../reply.ts';
import { isExpired } from '../tokens/caller.ts';
import { RawJson } from '../reply.ts';
import type { Project } from '../../stores/metadata/projects.ts';
import type { TokenRow } from '../../stores/metadata/tables.ts';
import { MAX_BODY_BYTES } from '../request-limits.ts';
import { MAX_PREVIEW_ROWS } from '../row-query.ts';
import { apiTime } from './time.ts';

type Shape = Record<string, Reply>;

/** Values shared by all tokens of an answer. */
export interface TokenView {
  readonly origin: string;
  readonly now: number;
  /** The buckets of the default branch: who may manage buckets may manage each. */
  readonly buckets: readonly string[];
}

/** There is one administrator, who has no address: the domain is one that never exists. */
export const ADMIN = { id: 1, name: 'Administrator', email: 'administrator@storage.invalid' } as const;

/** Shows tokens; the secret only in the answers that may show it. */
export function tokenReplies({
  origin,
  now,
  buckets,
}: TokenView): (token: TokenRow, secret?: string) => Shape {
  const all = buckets.length === 0 ? [] : Object.fromEntries(buckets.map((id) => [id, 'manage']));
  const everyBucket = new RawJson(JSON.stringify(all));
  return (token, secret) => {
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
      ...(token.is_read_only === 1 ? { isReadOnly: true } : {}),
      canManageProtectedDefaultBranch: isMaster,
      canCreateJobs: true,
      expires: apiTime(token.expires),
      isExpired: isExpired(token, now),
      isDisabled: false,
      bucketPermissions: token.can_manage_buckets === 1 ? everyBucket : permissionsOf(token),
      ...(token.component_access === '[]' ? {} : { componentAccess: new RawJson(token.component_access) }),
      ...(isMaster ? { admin: adminReply() } : {}),
      adminOwner: ADMIN,
      ...(token.creator_id === null
        ? {}
        : { creatorToken: { id: token.creator_id, description: token.creator_description ?? '' } }),
    };
  };
}

/** An empty map is a list, as everywhere in this API. */
function permissionsOf(token: TokenRow): Reply {
  return token.bucket_permissions === '{}' ? [] : new RawJson(token.bucket_permissions);
}

/** Returns the administrator of a master token: clients recognize such a token by it. */
function adminReply(): Shape {
  return {
    id: ADMIN.id,
    name: ADMIN.name,
    features: [],
    isOrganizationMember: true,
    role: 'admin',
    isActivated: true,
  };
}

/** Returns the project, for the detail of a token. */
export function projectReply(project: Project, size: { bytes: number; rows: number }): Shape {
  return {
    isBYODB: false,
    dailyCapacity: 0,
    organization: { id: 1 },
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
    // Only a hash of a token is stored: it cannot be shown again.
    features: ['queuev2', 'hide-decrypted-token'],
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
    limits: Object.fromEntries(LIMITS.map((limit) => [limit.name, limit])),
    metrics: {},
    isDisabled: false,
    billedMonthlyPrice: null,
    dataRetentionTimeInDays: 7,
    fileStorageProvider: 'aws',
    hasTryModeOn: '0',
  };
}

/** Limits of every project of this service. */
const LIMITS = [
  { name: 'storage.requestBytes', value: MAX_BODY_BYTES },
  { name: 'storage.previewRows', value: MAX_PREVIEW_ROWS },
] as const;
