import { map, option, optionalText, whole, type OptionSchema } from '../../../lib/option.ts';

// In a configuration, null is nothing; `{}` is an empty list, and `[]` an empty map.
const LIST = ['array', 'null'];
const MAP = ['object', 'array', 'null'];
const SCALAR = ['string', 'number', 'boolean'];
const OPERATORS = ['eq', 'ne', '', null];
/** A whole number as a text, or none. */
const WHOLE = '^(?:\\s*\\d{1,15}\\s*)?$';
const WRITE_ALWAYS = 'For other components: a run of this one that fails has no output, so it has no effect.';

/** `storage`: input and output mapping of a configuration. */
export const storageSchema = map('Storage', 'Which tables and files are fetched before the run, and where the results go after it.', {
  examples: [{ output: { tables: [{ source: 'users.csv', destination: 'in.c-main.users' }] } }],
  properties: {
    input: map('Input mapping', 'What is fetched into `in/` before the run.', {
      examples: [{ tables: [{ source: 'in.c-main.ids', destination: 'ids.csv' }] }],
      properties: { tables: list('Input tables', inputTable()), files: list('Input files', inputFile()) },
    }),
    output: map(
      'Output mapping',
      'Where the tables and files of `out/` go after the run. What is not named goes where its manifest says.',
      {
        examples: [{ tables: [{ source: 'users', destination: 'in.c-main.users', primary_key: ['id'] }] }],
        properties: {
          tables: list('Output tables', outputTable()),
          files: list('Output files', outputFile()),
          default_bucket: text(
            'Default bucket',
            'Bucket of the tables that name none; `in.c-<component>-<configuration>` when it is left out.',
            'in.c-main',
          ),
        },
      },
    ),
  },
});

function inputTable(): OptionSchema {
  return entry('Input table', ['source'], {
    source: text('Source table', 'Id of the table in the storage.', 'in.c-main.users'),
    destination: text('File name', 'Name of the file in `in/tables`; the id of the table when it is left out.', 'users.csv'),
    columns: texts('Columns', 'Columns to fetch; all when it is left out.', ['id', 'name']),
    column_types: option('Column types', 'Columns with their types, for components that read from a workspace.', {
      type: LIST,
      items: { type: 'object' },
      default: [],
      examples: [[{ source: 'id', type: 'VARCHAR' }]],
    }),
    where_column: text('Filter column', 'Column that rows are chosen by.', 'status'),
    where_operator: option('Filter operator', '`eq` keeps rows whose value is in `where_values`, `ne` the others.', {
      enum: OPERATORS,
      default: 'eq',
      examples: ['eq'],
    }),
    where_values: texts('Filter values', 'Values of the filter column.', ['active']),
    limit: number('Row limit', 'Number of rows to fetch at most.', 1000),
    days: { ...number('Days', 'Rows changed in the last days. Use `changed_since`.', 2), deprecated: true },
    changed_since: scalar('Changed since', 'Rows changed since a time (text or unix time), or `adaptive`: since the last run.', '-1 day'),
    changed_until: scalar('Changed until', 'Rows changed until a time.', 'now'),
    overwrite: flag('Overwrite', 'Whether a table that is in the workspace already may be replaced.', false),
    use_view: flag('Use a view', 'Whether a workspace gets a view instead of a copy.', false),
    keep_internal_timestamp_column: flag('Keep the timestamp', 'Whether the column `_timestamp` is kept.', true),
  });
}

function inputFile(): OptionSchema {
  return entry('Input files', [], {
    query: text('Query', 'Search text over names and tags.', 'tags: export'),
    tags: texts('Tags', 'Files that have one of these tags.', ['export']),
    source: map('Source', 'Files by tags that must or must not be there.', {
      examples: [{ tags: [{ name: 'export', match: 'include' }] }],
      properties: {
        tags: list(
          'Tags',
          entry('Tag', ['name'], {
            name: text('Name', 'Name of the tag.', 'export'),
            match: option('Match', 'Whether files with the tag are wanted or left out.', {
              enum: ['include', 'exclude', '', null],
              default: 'include',
              examples: ['exclude'],
            }),
          }),
        ),
      },
    }),
    filter_by_run_id: flag('Of this run', 'Whether only files of the same run are fetched.', false),
    limit: number('File limit', 'Number of files to fetch at most.', 10, 10),
    processed_tags: texts('Processed tags', 'Tags that are added to the files after success.', ['done']),
    changed_since: scalar('Changed since', 'Files created since a time, or `adaptive`: since the last run.', 'adaptive'),
    overwrite: flag('Overwrite', 'Whether files of the same name may be replaced.', true),
    file_ids: option('File ids', 'Ids of the files to fetch.', {
      type: LIST,
      items: { type: ['integer', 'string'], minimum: 0, pattern: '^\\d+$' },
      default: [],
      examples: [[1234]],
    }),
  });
}

function outputTable(): OptionSchema {
  return entry('Output table', [], {
    source: text('File name', 'Name of the file in `out/tables`; that of the destination when it is left out.', 'users'),
    ...tableOptions(),
    destination: text('Destination table', 'Id of the table in the storage; that of the manifest when it is left out.', 'in.c-main.users'),
  });
}

/** Returns the options of a table in mappings and manifests. */
export function tableOptions(): Record<string, OptionSchema> {
  return {
    destination: text('Destination table', 'Id of the table in the storage.', 'in.c-main.users'),
    incremental: flag('Incremental', 'Whether rows are added to what the table holds, instead of replacing it.', false),
    columns: texts('Columns', 'Names of the columns when the file has no header.', ['id', 'name']),
    has_header: flag('Header', 'With `columns`: whether the file has a header all the same, which is left out.', false),
    primary_key: texts('Primary key', 'Columns that identify a row.', ['id']),
    distribution_key: texts('Distribution key', 'Columns that rows are distributed by; it has no effect.', ['id']),
    delete_where: option('Delete first', 'Rows to delete before the load.', {
      type: LIST,
      items: deleteWhere(),
      default: [],
      examples: [[{ where_filters: [{ column: 'status', operator: 'eq', values_from_set: ['old'] }] }]],
    }),
    delete_where_column: { ...text('Delete column', 'Column of the rows to delete. Use `delete_where`.', 'status'), deprecated: true },
    delete_where_operator: option('Delete operator', '`eq` or `ne`. Use `delete_where`.', {
      enum: OPERATORS,
      default: 'eq',
      examples: ['eq'],
      deprecated: true,
    }),
    delete_where_values: { ...scalars('Delete values', 'Values of the rows to delete. Use `delete_where`.', ['old']), deprecated: true },
    delimiter: text('Delimiter', 'What stands between the cells of the file.', ',', ','),
    enclosure: text('Enclosure', 'What stands around the cells of the file.', '"', '"'),
    write_always: flag('Write always', WRITE_ALWAYS, false),
    metadata: pairs('Metadata', 'Keys and values kept with the table.', 'Users'),
    table_metadata: values('Table metadata', 'The same as an object, beside `schema`.', { owner: 'shop' }),
    column_metadata: map('Metadata of columns', 'Column name to a list of keys and values kept with the column.', {
      additionalProperties: pairs('Column', 'Keys and values kept with the column.', 'Number of the user'),
      default: {},
      examples: [{ id: [{ key: 'KBC.description', value: 'Number of the user' }] }],
    }),
    schema: option('Schema', 'Columns with their types; replaces `columns`, `primary_key`, `metadata` and `column_metadata`.', {
      type: LIST,
      items: schemaColumn(),
      default: [],
      examples: [[{ name: 'id', data_type: { base: { type: 'INTEGER' } }, primary_key: true }]],
    }),
    description: text('Description', 'Description of the table.', 'Users of the shop'),
  };
}

function deleteWhere(): OptionSchema {
  return entry('Rows to delete', [], {
    changed_since: scalar('Changed since', 'Rows changed since a time (text or unix time).', '-1 day'),
    changed_until: scalar('Changed until', 'Rows changed until a time.', 'now'),
    where_filters: list(
      'Filters',
      entry('Filter', ['column', 'values_from_set'], {
        column: { ...text('Column', 'Column that rows are chosen by.', 'status'), type: 'string' },
        operator: option('Operator', '`eq` chooses rows whose value is in `values_from_set`, `ne` the others.', {
          enum: OPERATORS,
          default: 'eq',
          examples: ['eq'],
        }),
        values_from_set: { ...scalars('Values', 'Values of the column.', ['old']), type: 'array' },
      }),
    ),
  });
}

function schemaColumn(): OptionSchema {
  return entry('Column', ['name'], {
    name: { ...text('Name', 'Name of the column.', 'id'), type: 'string' },
    data_type: map('Type', 'Type by backend; `base` is the general one, and the one that is used.', {
      additionalProperties: true,
      examples: [{ base: { type: 'INTEGER' } }],
      properties: {
        base: {
          ...entry('General type', ['type'], {
            type: option('Type', 'Name of the type.', {
              enum: ['STRING', 'INTEGER', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP'],
              examples: ['INTEGER'],
            }),
            length: scalar('Length', 'Length, or precision and scale.', '38,2'),
            default: { ...scalar('Default', 'Value where there is none.', '0'), type: [...SCALAR, 'null'] },
          }),
          description: 'The type that all backends know.',
          type: MAP,
          examples: [{ type: 'INTEGER' }],
        },
      },
    }),
    nullable: flag('Nullable', 'Whether a cell may be empty.', true),
    primary_key: flag('Primary key', 'Whether the column is a part of the primary key.', false),
    description: text('Description', 'Description of the column.', 'Number of the user'),
    metadata: values('Metadata', 'Keys and values kept with the column.', { unit: 'EUR' }),
  });
}

function outputFile(): OptionSchema {
  return entry('Output file', ['source'], {
    source: { ...text('File name', 'Name of the file in `out/files`.', 'report.pdf'), type: 'string' },
    ...fileOptions(),
  });
}

/** Returns the options of a file in mappings and manifests. */
export function fileOptions(): Record<string, OptionSchema> {
  return {
    tags: texts('Tags', 'Tags of the file.', ['report']),
    is_public: flag('Public', 'Whether the file can be read without a token.', false),
    is_permanent: flag('Permanent', 'Whether the file is kept for ever.', false),
    is_encrypted: flag('Encrypted', 'Whether the file is encrypted at rest.', true),
    notify: flag('Notify', 'Whether users are told of the file.', false),
    write_always: flag('Write always', WRITE_ALWAYS, false),
  };
}

function entry(title: string, required: readonly string[], properties: Record<string, OptionSchema>): OptionSchema {
  return { title, type: 'object', ...(required.length > 0 ? { required } : {}), properties };
}

function list(title: string, items: OptionSchema): OptionSchema {
  return option(title, `${title}, each with its settings.`, { type: LIST, items, default: [], examples: [[]] });
}

function text(title: string, description: string, example: string, byDefault?: string): OptionSchema {
  return optionalText(title, description, { ...(byDefault === undefined ? {} : { default: byDefault }), examples: [example] });
}

export function scalar(title: string, description: string, example: string): OptionSchema {
  return option(title, description, { type: ['string', 'number', 'null'], examples: [example] });
}

function number(title: string, description: string, example: number, byDefault?: number): OptionSchema {
  const extra = byDefault === undefined ? {} : { default: byDefault };
  return whole(title, description, { minimum: 0, pattern: WHOLE, ...extra, examples: [example] });
}

function flag(title: string, description: string, byDefault: boolean): OptionSchema {
  return option(title, description, { type: ['boolean', 'null'], default: byDefault, examples: [!byDefault] });
}

function texts(title: string, description: string, example: readonly string[]): OptionSchema {
  return option(title, description, { type: LIST, items: { type: ['string', 'number'] }, default: [], examples: [example] });
}

function scalars(title: string, description: string, example: readonly string[]): OptionSchema {
  return { ...texts(title, description, example), items: { type: SCALAR } };
}

function values(title: string, description: string, example: Readonly<Record<string, string>>): OptionSchema {
  return map(title, description, { additionalProperties: { type: [...SCALAR, 'null'] }, default: {}, examples: [example] });
}

function pairs(title: string, description: string, example: string): OptionSchema {
  const value = option('Value', 'Its value.', { type: SCALAR, examples: [example] });
  const key = { ...text('Key', 'Its name.', 'KBC.description'), type: 'string' };
  return option(title, description, {
    type: LIST,
    items: entry('Key and value', ['key', 'value'], { key, value }),
    default: [],
    examples: [[{ key: 'KBC.description', value: example }]],
  });
}
