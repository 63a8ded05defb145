import { Type, type Static } from 'typebox';
import { Creator, Time } from './common.ts';

/** Each includes those before it. */
export type BucketPermission = 'read' | 'write' | 'manage';

/** Permissions for single buckets; the values are checked with the documented error. */
const GivenPermissions = Type.Unsafe<Record<string, 'read' | 'write'>>(
  Type.Record(Type.String(), Type.String(), {
    description: 'Id of a bucket to `read` or `write`, which includes to read.',
  }),
);

const BucketPermissions = Type.Record(Type.String(), Type.Enum(['read', 'write', 'manage']), {
  description: 'Id of a bucket to permission; who may manage buckets has `manage` for all of them.',
});

/** Body of `PUT tokens/{id}`. */
export const TokenUpdate = Type.Object({
  description: Type.Optional(
    Type.String({ maxLength: 1000, description: 'When made without: `Created by …`.' }),
  ),
  bucketPermissions: Type.Optional(GivenPermissions),
  componentAccess: Type.Optional(
    Type.Array(Type.String(), { description: 'Components whose configurations it may use.' }),
  ),
  canReadAllFileUploads: Type.Optional(Type.Boolean()),
  canPurgeTrash: Type.Optional(Type.Boolean()),
  isReadOnly: Type.Optional(
    Type.Boolean({
      description: 'Reads what its other rights let it, and changes nothing: no run, no table, no source.',
    }),
  ),
});

/** Body of `POST tokens`. */
export const TokenCreate = Type.Object({
  ...TokenUpdate.properties,
  canManageBuckets: Type.Optional(Type.Boolean()),
  expiresIn: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3_153_600_000,
      description: 'Seconds from now; never when left out.',
    }),
  ),
});

export const TokenShare = Type.Object({
  recipientEmail: Type.String({ minLength: 1, maxLength: 255 }),
  message: Type.Optional(Type.String({ maxLength: 10_000 })),
});

export const Owner = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  type: Type.String(),
  region: Type.String(),
  created: Time,
  features: Type.Array(Type.String()),
  defaultBackend: Type.String(),
  fileStorageProvider: Type.String(),
});

export const Token = Type.Object(
  {
    id: Type.String(),
    token: Type.Optional(
      Type.String({ description: 'Only in the answers that make it, and when it asks about itself.' }),
    ),
    description: Type.String(),
    created: Time,
    refreshed: Time,
    isMasterToken: Type.Boolean(),
    canManageBuckets: Type.Boolean(),
    canManageTokens: Type.Boolean(),
    canReadAllFileUploads: Type.Boolean(),
    canPurgeTrash: Type.Boolean(),
    isReadOnly: Type.Optional(Type.Boolean({ description: 'Left out unless it changes nothing.' })),
    expires: Type.Union([Time, Type.Null()]),
    isExpired: Type.Boolean(),
    isDisabled: Type.Boolean(),
    bucketPermissions: Type.Union([BucketPermissions, Type.Array(Type.Never())]),
    componentAccess: Type.Optional(
      Type.Array(Type.String(), { description: 'Left out when it may use none by name.' }),
    ),
    creatorToken: Type.Optional(Creator),
    adminOwner: Type.Object({ id: Type.Integer(), name: Type.String(), email: Type.String() }),
    owner: Type.Optional(Owner),
  },
  { title: 'Token' },
);
export type Token = Static<typeof Token>;
