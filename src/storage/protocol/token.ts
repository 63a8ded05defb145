import { Type, type Static } from 'typebox';
import { Creator, Time } from './common.ts';

export const BucketPermission = Type.Enum(['read', 'write', 'manage']);
export type BucketPermission = Static<typeof BucketPermission>;

const BucketPermissions = Type.Record(Type.String(), BucketPermission, {
  description: 'Bucket id to permission; each includes those before it.',
});

/** Body of `PUT tokens/{id}`. */
export const TokenUpdate = Type.Object({
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  bucketPermissions: Type.Optional(BucketPermissions),
  componentAccess: Type.Optional(
    Type.Array(Type.String(), { description: 'Components whose configurations it may use.' }),
  ),
  canReadAllFileUploads: Type.Optional(Type.Boolean()),
  canPurgeTrash: Type.Optional(Type.Boolean()),
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
  recipientEmail: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
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
    expires: Type.Union([Time, Type.Null()]),
    isExpired: Type.Boolean(),
    isDisabled: Type.Boolean(),
    bucketPermissions: Type.Union([BucketPermissions, Type.Array(Type.Never())]),
    componentAccess: Type.Array(Type.String()),
    creatorToken: Type.Optional(Creator),
    owner: Type.Optional(Owner),
  },
  { title: 'Token' },
);
export type Token = Static<typeof Token>;
