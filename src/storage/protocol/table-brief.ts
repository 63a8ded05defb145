import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

/** Query of `GET tables/brief`. */
export const TableBriefsQuery = Type.Object({
  bucket: Type.Optional(Type.String({ description: 'Only those of this bucket.' })),
  search: Type.Optional(
    Type.String({ maxLength: 255, description: 'Only those with all of its words in their id or name.' }),
  ),
  sort: Type.Optional(
    Type.Enum(['id', 'changed', 'rows', 'size'], {
      description: 'Order: by id (the default), or the last changed, most rows or largest first.',
    }),
  ),
  isReversed: Type.Optional(Type.Boolean({ description: 'The other way round.' })),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 500, default: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});
export type TableBriefsQuery = Static<typeof TableBriefsQuery>;

/** Table, as far as lists show it. */
export const TableBrief = Type.Object({
  id: Type.String(),
  bucket: Type.String(),
  name: Type.String({ description: 'The name that is shown.' }),
  primaryKey: Type.Array(Type.String()),
  rowsCount: Type.Integer({ description: 'Of an alias those of its source.' }),
  dataSizeBytes: Type.Integer(),
  lastImportDate: Type.Union([Time, Type.Null()]),
  lastChangeDate: Type.Union([Time, Type.Null()]),
  isAlias: Type.Boolean(),
});
export type TableBrief = Static<typeof TableBrief>;

/** A page of a list of tables. */
export const TableBriefs = Type.Object(
  {
    total: Type.Integer({ description: 'How many fit the query.' }),
    totalRows: Type.Integer({ description: 'Rows of all that fit; aliases count none.' }),
    totalBytes: Type.Integer(),
    tables: Type.Array(TableBrief),
  },
  { title: 'Table briefs' },
);
export type TableBriefs = Static<typeof TableBriefs>;
