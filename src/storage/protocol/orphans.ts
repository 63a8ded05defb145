import { Type, type Static } from 'typebox';

/** Body of `POST orphaned-files`. */
export const OrphansAsked = Type.Object({
  jobId: Type.Optional(
    Type.Integer({
      description: 'A job that listed them: what it listed is deleted. Without it they are listed, and stay.',
    }),
  ),
});

/** Results of its job. */
export const Orphans = Type.Object({
  isDeleted: Type.Boolean(),
  before: Type.String({ description: 'Moment from before which they are, by the clock of the database.' }),
  count: Type.Integer(),
  files: Type.Array(Type.Object({ path: Type.String(), bytes: Type.Integer(), created: Type.String() }), {
    description: 'The first 1,000 of them.',
  }),
});
export type Orphans = Static<typeof Orphans>;
