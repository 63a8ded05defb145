import { Type, type Static } from 'typebox';

const Text = Type.Optional(Type.String());
const Flag = Type.Optional(Type.Boolean());
/** Names and tags that look like numbers are numbers in what some programs write. */
const Texts = Type.Optional(Type.Array(Type.Union([Type.String(), Type.Number()])));
const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);
const Pairs = Type.Optional(Type.Array(Type.Object({ key: Type.String(), value: Scalar })));
const Values = Type.Optional(Type.Record(Type.String(), Scalar));
const Operator = Type.Optional(Type.Enum(['eq', 'ne', '']));

const BASETYPES = ['STRING', 'INTEGER', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP'] as const;

const SchemaColumn = Type.Object({
  name: Type.String(),
  data_type: Type.Optional(
    Type.Object({
      base: Type.Optional(
        Type.Object({
          type: Type.Enum([...BASETYPES]),
          length: Type.Optional(Scalar),
          default: Type.Optional(Scalar),
        }),
      ),
    }),
  ),
  nullable: Flag,
  primary_key: Flag,
  description: Text,
  metadata: Values,
});
export type SchemaColumn = Static<typeof SchemaColumn>;

const DeleteWhere = Type.Object({
  changed_since: Type.Optional(Scalar),
  changed_until: Type.Optional(Scalar),
  where_filters: Type.Optional(
    Type.Array(
      Type.Object({
        column: Type.String(),
        operator: Operator,
        values_from_set: Type.Array(Scalar),
      }),
    ),
  ),
});

const TABLE = {
  destination: Text,
  columns: Texts,
  incremental: Flag,
  primary_key: Texts,
  distribution_key: Texts,
  delimiter: Text,
  enclosure: Text,
  has_header: Flag,
  delete_where_column: Text,
  delete_where_operator: Operator,
  delete_where_values: Type.Optional(Type.Array(Scalar)),
  delete_where: Type.Optional(Type.Array(DeleteWhere)),
  write_always: Flag,
  description: Text,
  metadata: Pairs,
  table_metadata: Values,
  column_metadata: Type.Optional(
    Type.Record(Type.String(), Type.Array(Type.Object({ key: Type.String(), value: Scalar }))),
  ),
  schema: Type.Optional(Type.Array(SchemaColumn)),
};

const FILE = {
  tags: Texts,
  is_public: Flag,
  is_permanent: Flag,
  is_encrypted: Flag,
  notify: Flag,
  write_always: Flag,
};

/** `out/tables/<name>.manifest`. */
export const TableManifest = Type.Object({ ...TABLE, manifest_type: Text, $schema: Text });
/** Options of a table in a manifest or a mapping. */
export type TableOptions = Static<Type.TObject<typeof TABLE>>;

/** `out/files/<name>.manifest`. */
export const FileManifest = Type.Object({ ...FILE, manifest_type: Text, $schema: Text });
export type FileOptions = Static<Type.TObject<typeof FILE>>;

const OutputTableMapping = Type.Object({ ...TABLE, source: Text });
export type OutputTableMapping = Static<typeof OutputTableMapping>;
const OutputFileMapping = Type.Object({ ...FILE, source: Type.String() });
export type OutputFileMapping = Static<typeof OutputFileMapping>;

/** `storage.output` of a configuration. */
export const OutputMapping = Type.Object({
  tables: Type.Optional(Type.Array(OutputTableMapping)),
  files: Type.Optional(Type.Array(OutputFileMapping)),
  default_bucket: Text,
});
export type OutputMapping = Static<typeof OutputMapping>;
