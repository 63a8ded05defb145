import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

/** Body of the POSTs: `metadata` is a list of `{key, value}`; its form is checked with the documented errors. */
export const MetadataCreate = Type.Object({
  provider: Type.Optional(
    Type.Unsafe<unknown>({ description: 'Who says so; needed for buckets, tables and columns.' }),
  ),
  metadata: Type.Optional(Type.Unsafe<unknown>({ description: 'List of `{key, value}`.' })),
});

export const TableMetadataCreate = Type.Object({
  ...MetadataCreate.properties,
  columnsMetadata: Type.Optional(
    Type.Unsafe<unknown>({
      description: 'Column name to list of `{key, value}`, or lists of `{columnName, key, value}`.',
    }),
  ),
});

export const MetadataItem = Type.Object(
  {
    id: Type.String(),
    key: Type.String(),
    value: Type.String(),
    provider: Type.Optional(Type.String()),
    timestamp: Time,
  },
  { title: 'Metadata' },
);
export type MetadataItem = Static<typeof MetadataItem>;
