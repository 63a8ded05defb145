import { Type, type Static } from 'typebox';

/** Body of `POST sql`. */
export const SqlQuery = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 100_000,
    description:
      'One statement that reads. A table is named by its bucket and its name: `SELECT * FROM "in.c-main"."users"`.',
  }),
  format: Type.Optional(
    Type.Enum(['json', 'jsonl', 'csv', 'parquet'], {
      description: '`json` (default): one document with columns, types and rows as texts; others are files.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Rows at most; `hasMore` says that there are more. Default: 1,000 for `json`; for a file none, and a result of more than a million rows is refused.',
    }),
  ),
});
export type SqlQuery = Static<typeof SqlQuery>;

/** Result of a query as one document. */
export const SqlResult = Type.Object(
  {
    columns: Type.Array(
      Type.Object({
        name: Type.String(),
        type: Type.String({ description: 'Such as `VARCHAR`, `BIGINT`, `DECIMAL(18,3)`.' }),
      }),
    ),
    hasMore: Type.Boolean({ description: 'Whether rows were left out because of the limit.' }),
    rows: Type.Array(Type.Array(Type.Union([Type.String(), Type.Null()])), {
      description: 'Cells as texts: numbers of any size stay exact.',
    }),
  },
  { title: 'SqlResult' },
);
export type SqlResult = Static<typeof SqlResult>;
