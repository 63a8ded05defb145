import { Type, type Static } from 'typebox';
import { Names, Time } from './common.ts';

export const Stage = Type.Enum(['in', 'out']);

export const BucketCreate = Type.Object({
  name: Type.String({ minLength: 1 }),
  stage: Type.Optional(Stage),
  description: Type.Optional(Type.String()),
  backend: Type.Optional(Type.String()),
  displayName: Type.Optional(Type.String()),
  color: Type.Optional(Type.String()),
});
export type BucketCreate = Static<typeof BucketCreate>;

export const BucketUpdate = Type.Object({
  displayName: Type.Optional(Type.String()),
  color: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: '`null` takes it away.' })),
});

/** Body of `PUT buckets/{id}/owner`: one of both. */
export const BucketOwner = Type.Object({
  id: Type.Optional(Type.Integer()),
  email: Type.Optional(Type.String()),
});

export const Bucket = Type.Object(
  {
    id: Type.String({ examples: ['in.c-main'] }),
    name: Type.String({ examples: ['c-main'] }),
    displayName: Type.String(),
    stage: Stage,
    description: Type.String(),
    created: Time,
    lastChangeDate: Type.Union([Time, Type.Null()]),
    isReadOnly: Type.Boolean(),
    dataSizeBytes: Type.Integer(),
    rowsCount: Type.Integer(),
    backend: Type.String(),
  },
  { title: 'Bucket' },
);
export type Bucket = Static<typeof Bucket>;

export const BucketsQuery = Type.Object({
  include: Type.Optional(Names),
});

/** How something is deleted. */
export const DeleteQuery = Type.Object({
  force: Type.Optional(Type.Boolean({ description: 'Also what belongs to it.' })),
  async: Type.Optional(Type.Boolean({ description: 'Answers a job at once.' })),
});

export const AsyncQuery = Type.Object({ async: Type.Optional(Type.Boolean()) });
