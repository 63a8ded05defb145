import { Type, type Static } from 'typebox';
import { Bucket } from './bucket.ts';
import { Names, Time } from './common.ts';
import { MetadataItem } from './metadata.ts';

/** A column of a typed table, with what it is said to hold. */
const DefinedColumn = Type.Object({
  name: Type.String(),
  definition: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
  basetype: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
export type DefinedColumn = Static<typeof DefinedColumn>;

export const Table = Type.Object(
  {
    id: Type.String({ examples: ['in.c-main.users'] }),
    name: Type.String(),
    displayName: Type.String(),
    primaryKey: Type.Array(Type.String()),
    created: Time,
    lastImportDate: Type.Union([Time, Type.Null()]),
    lastChangeDate: Type.Union([Time, Type.Null()]),
    rowsCount: Type.Union([Type.Integer(), Type.Null()], { description: 'Null of an alias.' }),
    dataSizeBytes: Type.Union([Type.Integer(), Type.Null()]),
    isAlias: Type.Boolean(),
    aliasColumnsAutoSync: Type.Optional(Type.Boolean()),
    aliasFilter: Type.Optional(Type.Unknown()),
    sourceTable: Type.Optional(Type.Unknown()),
    isTyped: Type.Boolean(),
    columns: Type.Optional(Type.Array(Type.String())),
    definition: Type.Optional(
      Type.Object({ columns: Type.Array(DefinedColumn) }, { description: 'Of a typed table.' }),
    ),
    metadata: Type.Optional(Type.Array(MetadataItem)),
    bucket: Type.Optional(Bucket),
  },
  { title: 'Table' },
);
export type Table = Static<typeof Table>;

export const TablesQuery = Type.Object({
  include: Type.Optional(Names),
});

/** Query of `GET tables`. */
export const AllTablesQuery = Type.Object({
  ...TablesQuery.properties,
  changedLast: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'Only so many of them, those that changed last; by id all the same.',
    }),
  ),
});

const CSV = {
  delimiter: Type.Optional(Type.String({ description: 'One character; `\\t` means a tab. Default `,`.' })),
  enclosure: Type.Optional(Type.String({ description: 'One character, or empty. Default `"`.' })),
  escapedBy: Type.Optional(Type.String()),
};

/** Sources that this service does not have, or that are left from older ones; named so that they can be refused. */
const OTHER_SOURCES = {
  dataWorkspaceId: Type.Optional(Type.Unsafe<unknown>({})),
  snapshotId: Type.Optional(Type.Unsafe<unknown>({})),
  sourceTableId: Type.Optional(Type.Unsafe<unknown>({})),
  dataUrl: Type.Optional(Type.Unsafe<unknown>({})),
};

/** Any name without control characters. */
const OriginName = Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\u0000-\\u001f]*$' });

/** Configuration whose rows are loaded; the history of a table in a lake shows it. */
export const LoadOrigin = Type.Object({
  component: OriginName,
  configuration: OriginName,
  row: Type.Optional(OriginName),
});
export type LoadOrigin = Static<typeof LoadOrigin>;

const ORIGIN = Type.Optional(
  Type.Object(LoadOrigin.properties, {
    description: 'The configuration that the rows come from; a lake keeps it with the version of the table.',
  }),
);

/** Body of `POST buckets/{id}/tables-async`. */
export const TableCreate = Type.Object({
  name: Type.String({ minLength: 1 }),
  displayName: Type.Optional(Type.String()),
  dataFileId: Type.Optional(Type.Integer()),
  ...CSV,
  primaryKey: Type.Optional(Type.Unsafe<unknown>({ description: 'Names joined by commas.' })),
  columns: Type.Optional(Names),
  origin: ORIGIN,
  ...OTHER_SOURCES,
});
export type TableCreate = Static<typeof TableCreate>;

/** Body of `POST tables/{id}/import-async`. */
export const TableImport = Type.Object({
  dataFileId: Type.Optional(Type.Integer()),
  incremental: Type.Optional(Type.Boolean({ description: 'Adds to the rows instead of replacing them.' })),
  ...CSV,
  columns: Type.Optional(Names),
  withoutHeaders: Type.Optional(Type.Boolean()),
  ignoredLinesCount: Type.Optional(Type.Integer({ minimum: 0 })),
  treatValuesAsNull: Type.Optional(Type.Array(Type.String())),
  useTimestampFromDataFile: Type.Optional(Type.Boolean()),
  deduplicationStrategy: Type.Optional(Type.Enum(['upsert', 'insert'])),
  origin: ORIGIN,
  ...OTHER_SOURCES,
});
export type TableImport = Static<typeof TableImport>;

const Basetype = Type.Enum(['STRING', 'INTEGER', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP']);

const ColumnFields = {
  definition: Type.Optional(Type.Unsafe<unknown>({ description: 'Type, length, nullable, default.' })),
  basetype: Type.Optional(Basetype),
};

/** Body of `POST buckets/{id}/tables-definition`. */
export const TableDefinitionCreate = Type.Object({
  name: Type.String({ minLength: 1 }),
  primaryKeysNames: Type.Optional(Type.Array(Type.String())),
  columns: Type.Array(Type.Object({ name: Type.String(), ...ColumnFields })),
});

export const ColumnAdd = Type.Object({ name: Type.String(), ...ColumnFields });
export const ColumnDefinition = Type.Object(ColumnFields);

export const PrimaryKeyAdd = Type.Object({
  columns: Type.Optional(Names),
  skipDuplicatesCheck: Type.Optional(Type.Boolean()),
});

export const TableUpdate = Type.Object({ displayName: Type.Optional(Type.String({ minLength: 1 })) });
