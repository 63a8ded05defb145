import type { OptionSchema } from '../../evaluate.ts';

/** `out/tables/<name>.manifest` and `out/files/<name>.manifest` (spec storage 7.4, extractor 7.3). */
export const manifestSchema: OptionSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://generic-extractor/schemas/manifest.schema.json',
  title: 'Manifest of an output table or file',
  description: 'Says where a file of `out/` goes and how. The extractor writes `destination`, `incremental` and `primary_key`.',
  type: 'object',
  additionalProperties: true,
  properties: {
    $schema: text('Schema', 'Where editors find this schema.', '../node_modules/generic-extractor/schemas/manifest.schema.json'),
    destination: text('Destination', 'Id of the table in the storage.', 'in.c-my-api.users'),
    incremental: flag('Incremental', 'Whether rows are added to what the table holds, instead of replacing it.', false),
    primary_key: texts('Primary key', 'Columns that identify a row.', ['id']),
    columns: texts('Columns', 'Names of the columns when the file has no header line.', ['id', 'name']),
    distribution_key: texts('Distribution key', 'Columns that rows are distributed by.', ['id']),
    delimiter: text('Delimiter', 'What stands between the cells.', ',', ','),
    enclosure: text('Enclosure', 'What stands around the cells.', '"', '"'),
    has_header: flag('Header', 'Whether the first line names the columns.', true),
    write_always: flag('Write always', 'For other components: a run of this one that fails has no output, so it has no effect.', false),
    description: text('Description', 'Description of the table.', 'Users of the shop'),
    manifest_type: {
      title: 'Type of the manifest',
      description: '`out` for results.',
      enum: ['in', 'out'],
      default: 'out',
      examples: ['out'],
    },
    metadata: pairs('Metadata', 'Keys and values kept with the table.'),
    table_metadata: map('Table metadata', 'Keys and values kept with the table, beside `schema`.', { owner: 'shop' }),
    column_metadata: map('Column metadata', 'Column name to a list of keys and values.', {
      id: [{ key: 'KBC.description', value: 'Number of the user' }],
    }),
    delete_where_column: text('Delete column', 'Column of the rows to delete before the load.', 'status'),
    delete_where_values: texts('Delete values', 'Values of the rows to delete.', ['old']),
    delete_where_operator: text('Delete operator', '`eq` or `ne`.', 'eq', 'eq'),
    schema: {
      title: 'Schema of the table',
      description: 'Columns with types; used instead of `columns`, `primary_key`, `metadata` and `column_metadata`.',
      type: 'array',
      examples: [[{ name: 'id', data_type: { base: { type: 'INTEGER' } }, nullable: false, primary_key: true }]],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: text('Name', 'Name of the column.', 'id'),
          data_type: map('Type', 'Type by backend; `base` is the general one.', { base: { type: 'INTEGER' } }),
          nullable: flag('Nullable', 'Whether a cell may be empty.', true),
          primary_key: flag('Primary key', 'Whether the column is a part of the primary key.', false),
          description: text('Description', 'Description of the column.', 'Number of the user'),
          metadata: map('Metadata', 'Keys and values kept with the column.', { unit: 'EUR' }),
        },
      },
    },
    is_permanent: flag('Permanent', 'File: kept for ever.', false),
    is_encrypted: flag('Encrypted', 'File: encrypted at rest.', true),
    is_public: flag('Public', 'File: readable without a token.', false),
    notify: flag('Notify', 'File: users are told of it.', false),
    tags: texts('Tags', 'File: its tags.', ['report']),
  },
};

function text(title: string, description: string, example: string, byDefault?: string): OptionSchema {
  return { title, description, type: 'string', ...(byDefault === undefined ? {} : { default: byDefault }), examples: [example] };
}

function texts(title: string, description: string, example: readonly string[]): OptionSchema {
  return { title, description, type: 'array', items: { type: 'string' }, default: [], examples: [example] };
}

function flag(title: string, description: string, byDefault: boolean): OptionSchema {
  return { title, description, type: 'boolean', default: byDefault, examples: [!byDefault] };
}

function map(title: string, description: string, example: unknown): OptionSchema {
  return { title, description, type: 'object', default: {}, examples: [example] };
}

function pairs(title: string, description: string): OptionSchema {
  return { title, description, type: 'array', default: [], examples: [[{ key: 'KBC.description', value: 'Users' }]] };
}
