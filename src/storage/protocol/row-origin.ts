import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

/** A load that may have brought a row. */
const RowLoad = Type.Object({
  job: Type.String({ description: 'Id of the storage job.' }),
  run: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the run that asked for it; null for everybody else.',
  }),
  component: Type.Optional(Type.String({ description: 'Of the run.' })),
  configuration: Type.Optional(Type.String()),
  time: Time,
  creatorToken: Type.Object({ id: Type.String(), description: Type.String() }),
});
export type RowLoad = Static<typeof RowLoad>;

/** The request whose answer has a row. */
const RowRequest = Type.Object({
  run: Type.String({ description: 'The run that has sent it.' }),
  row: Type.Optional(Type.String({ description: 'Row of the configuration.' })),
  job: Type.String(),
  page: Type.Integer({ description: 'Page of the job, from 1.' }),
  request: Type.Object({ method: Type.String(), url: Type.String() }, { description: 'Without secrets.' }),
  status: Type.Integer(),
  at: Type.String({ description: 'When the answer had come.' }),
  path: Type.String({ description: 'Where in the answer it is, such as `data[3]`; empty for all of it.' }),
  record: Type.Optional(
    Type.Unknown({ description: 'That part of the answer, where it is JSON of at most 64 kB.' }),
  ),
  columns: Type.Array(Type.String(), { description: 'Columns of the row whose values are there.' }),
  isSure: Type.Boolean({
    description:
      'True when it has all values of the primary key, or of a table without one all values of the row.',
  }),
});
export type RowRequest = Static<typeof RowRequest>;

/** Origin of one row of a table. */
export const RowOrigin = Type.Object(
  {
    table: Type.String({ description: 'The table that has the row: of an alias, that at its end.' }),
    columns: Type.Array(Type.String()),
    values: Type.Array(Type.String(), { description: 'The row, in the order of the columns.' }),
    isOnly: Type.Boolean({ description: 'False when more rows match: this is one of them.' }),
    changedTime: Time,
    loads: Type.Array(RowLoad, {
      description: 'The loads of the moment in which it was written last, one if all is well.',
    }),
    request: Type.Union([RowRequest, Type.Null()]),
    unknown: Type.Array(Type.String(), { description: 'What is not known, and why, in sentences.' }),
  },
  { title: 'Row origin' },
);
export type RowOrigin = Static<typeof RowOrigin>;
