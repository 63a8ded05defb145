import { Type, type Static } from 'typebox';
import { Names, Time } from './common.ts';

/** Body of `POST tables/{id}/profile`. */
export const ProfileQuery = Type.Object({
  columns: Type.Optional(Names),
});

const ColumnProfile = Type.Object({
  name: Type.String(),
  emptyCount: Type.Integer({ description: 'Rows with an empty value.' }),
  distinctCount: Type.Integer({ description: 'Different values that are not empty.' }),
  isNumeric: Type.Boolean({ description: 'All values that are not empty are numbers.' }),
  smallest: Type.Union([Type.String(), Type.Null()], {
    description: 'By size where all are numbers, else by bytes; its first 200 characters.',
  }),
  largest: Type.Union([Type.String(), Type.Null()]),
  longest: Type.Integer({ description: 'Characters of the longest value.' }),
  mostFrequent: Type.Array(Type.Object({ value: Type.String(), count: Type.Integer() }), {
    description: 'Ten at most.',
  }),
});
export type ColumnProfile = Static<typeof ColumnProfile>;

/** Summary of the values of a table. */
export const TableProfile = Type.Object(
  {
    tableId: Type.String(),
    rowsLooked: Type.Integer({ description: 'Rows that were looked at: all, or the first million.' }),
    isWhole: Type.Boolean({ description: 'Whether these are all rows.' }),
    created: Time,
    isCurrent: Type.Boolean({ description: 'Whether the rows are still those that were looked at.' }),
    columns: Type.Array(ColumnProfile),
  },
  { title: 'Profile' },
);
export type TableProfile = Static<typeof TableProfile>;
