import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** A change of a table, which is the version that it made. */
export const TableVersion = Type.Object(
  {
    version: Type.Integer({ description: 'Goes up with every change of any table.' }),
    created: Time,
    change: Type.String({ description: 'Such as `import`, `replace`, `delete rows`, `set to version 12`.' }),
    rowsCount: orNull(Type.Integer({ description: 'Rows afterwards.' })),
    importedRowsCount: orNull(Type.Integer({ description: 'Rows of the file that was loaded.' })),
    addedColumns: Type.Array(Type.String()),
    droppedColumns: Type.Array(Type.String()),
    jobId: orNull(Type.Integer()),
    runId: orNull(Type.String()),
    component: orNull(Type.String()),
    configuration: orNull(Type.String()),
    configurationRow: orNull(Type.String()),
    configurationVersion: orNull(Type.Integer()),
  },
  { title: 'Version of a table' },
);
export type TableVersion = Static<typeof TableVersion>;

/** Query of `GET tables/{id}/versions`. */
export const TableVersionsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default: 100.' })),
  before: Type.Optional(Type.Integer({ description: 'Only versions below this number.' })),
  runId: Type.Optional(Type.String({ description: 'Only changes of this run.' })),
});

/** Query of `GET tables/{id}/difference`: `version`, `runId`, or `from` and `to`. */
export const TableDifferenceQuery = Type.Object({
  version: Type.Optional(Type.Integer({ description: 'What this change did.' })),
  runId: Type.Optional(Type.String({ description: 'What the changes of this run did together.' })),
  from: Type.Optional(Type.Integer({ description: 'A version, with `to`.' })),
  to: Type.Optional(Type.Integer()),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 500, description: 'Rows of each kind. Default: 50.' }),
  ),
});

const Cells = orNull(Type.Array(Type.String()));

/** Rows that differ between two versions. */
export const TableDifference = Type.Object(
  {
    from: Type.Integer(),
    to: Type.Integer(),
    columns: Type.Array(Type.String()),
    primaryKey: Type.Array(Type.String(), {
      description: 'The key by which rows were compared; empty: rows as a whole, none of which is changed.',
    }),
    addedCount: Type.Integer(),
    removedCount: Type.Integer(),
    changedCount: Type.Integer(),
    rows: Type.Array(
      Type.Object({
        change: Type.Enum(['changed', 'added', 'removed']),
        before: Cells,
        after: Cells,
      }),
      { description: 'Cells of more than 1,000 characters are cut, and end with `…`.' },
    ),
  },
  { title: 'Difference' },
);
export type TableDifference = Static<typeof TableDifference>;

/** Body of `POST tables/{id}/restore`. */
export const TableRestore = Type.Object({
  at: Type.String({
    description: 'Number of a version, or a time such as `2026-05-01 12:00` or `-2 hours`.',
  }),
});
