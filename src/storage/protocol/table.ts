import { Type, type Static } from 'typebox';
import { Bucket } from './bucket.ts';
import { Time } from './common.ts';
import { MetadataItem } from './metadata.ts';

export const Table = Type.Object(
  {
    id: Type.String({ examples: ['in.c-main.users'] }),
    name: Type.String(),
    displayName: Type.String(),
    primaryKey: Type.Array(Type.String()),
    created: Time,
    lastImportDate: Type.Union([Time, Type.Null()]),
    lastChangeDate: Type.Union([Time, Type.Null()]),
    rowsCount: Type.Integer(),
    dataSizeBytes: Type.Integer(),
    isAlias: Type.Boolean(),
    isTyped: Type.Boolean(),
    columns: Type.Optional(Type.Array(Type.String())),
    metadata: Type.Optional(Type.Array(MetadataItem)),
    bucket: Type.Optional(Bucket),
  },
  { title: 'Table' },
);
export type Table = Static<typeof Table>;
