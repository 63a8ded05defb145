import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

export const BranchCreate = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.Optional(Type.String()),
});

export const BranchUpdate = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  description: Type.Optional(Type.String()),
});

export const Branch = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    description: Type.String(),
    created: Time,
    isDefault: Type.Boolean(),
    creatorToken: Type.Unknown({
      description: 'Id and name of the token; an empty list for the default branch.',
    }),
  },
  { title: 'Branch' },
);
export type Branch = Static<typeof Branch>;
