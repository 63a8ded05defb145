import { COLUMN_TYPES } from './types/column-type.ts';
import { definition, name, object, option, optionalText, text, type OptionSchema } from '../../lib/option.ts';

/** `config.userData`: extra columns of the tables of all top-level jobs. */
export const userDataSchema = option(
  'Extra columns',
  'Columns added to every row of the top-level jobs. Values may be functions. A single value becomes the column `userData`.',
  {
    type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
    examples: [{ country: 'CZ', loaded: { function: 'date', args: ['Y-m-d'] } }],
  },
);

/** `config.compatLevel`. */
export const compatLevelSchema = option(
  'Compatibility level',
  'How rows become tables: 3 is the present way; 2 has the older `responseFilter`; 1 has also the older names of columns and tables.',
  { enum: [1, 2, 3, '1', '2', '3', '', 0, null], default: 3, examples: [3] },
);

/** `config.exactJson`. */
export const exactJsonSchema = option(
  'Exact JSON text',
  'How lists and objects are written that become JSON text in a cell. False is the text of the reference: `1.1000000000000001` for 1.10, `\\u017e` for ž, `\\/` for /. True keeps numbers and characters as the API wrote them.',
  { type: ['boolean', 'null'], default: false, examples: [true] },
);

/** `config.incrementalOutput`. */
export const incrementalOutputSchema = option(
  'Incremental load',
  'True adds the rows to what the tables hold already; false replaces their content.',
  { type: ['boolean', 'null'], default: false, examples: [true] },
);

/** `config.outputBucket`. */
export const outputBucketSchema = option(
  'Output bucket',
  'Bucket of the tables, without `in.c-`. When it is left out and `id` is set, it is `ex-api-<api.name>-<id>`. No slash.',
  { type: ['string', 'number', 'null'], pattern: '^(?!(?:in|out)\\.c-)[^/]*$', examples: ['my-api'] },
);

const destination = name('Destination column', 'Name of the column in the table, used as it is written.', [
  'customer_id',
]);

const delimiter = text('Path delimiter', 'Separates the keys of the path that this setting stands at.', {
  default: '.',
  examples: ['/'],
});

const columnProperties = {
  mapping: object('Column', 'The column that the value goes to.', {
    required: ['destination'],
    properties: {
      destination,
      type: option(
        'Type of the column',
        'The type that its values have. Empty cells are null, and fit every type.',
        { enum: [...COLUMN_TYPES, '', null], examples: ['bigint'] },
      ),
      misfit: option(
        'What to do about a value that does not fit',
        '`fail`: the run ends with its row and page; `null`: the cell is empty; `skip`: the row is left out. Both are told at the end.',
        { enum: ['fail', 'null', 'skip', '', null], default: 'fail', examples: ['null'] },
      ),
      primaryKey: option('Primary key', 'True makes the column a part of the primary key of the table.', {
        type: ['boolean', 'number', 'string', 'null'],
        default: false,
        examples: [true],
      }),
    },
    examples: [{ destination: 'id', primaryKey: true }],
  }),
  forceType: forceType(),
};

const tableProperties = {
  destination: text(
    'Destination table',
    'Name of the table for the values at this path, without the bucket.',
    ['contacts'],
  ),
  tableMapping: option(
    'Mapping of the table',
    'Paths inside the values at this path, each with its setting.',
    { $ref: '#/definitions/mapping' },
  ),
  parentKey: object(
    'Link to the parent',
    'The column of the new table that refers to the row it came from.',
    {
      properties: {
        destination: text('Link column', 'Name of the column. `<parent table>_pk` when it is left out.', [
          'user_id',
        ]),
        primaryKey: option(
          'Link is primary key',
          'True makes the link column a part of the primary key of the new table.',
          { type: ['boolean', 'number', 'string', 'null'], default: false, examples: [true] },
        ),
        disable: option('No link', 'True leaves the link column out.', {
          type: ['boolean', 'number', 'string', 'null'],
          default: false,
          examples: [true],
        }),
      },
      examples: [{ destination: 'user_id', primaryKey: true }],
    },
  ),
};

/** Definitions that the fragments of this stage refer to as `#/definitions/<name>`. */
export const recordDefinitions: Readonly<Record<string, OptionSchema>> = {
  mapping: object('Mapping', 'Paths into a row, each with what becomes of the value there.', {
    minProperties: 1,
    additionalProperties: definition('mappingSetting'),
    examples: [{ id: { mapping: { destination: 'id', primaryKey: true } }, 'address.city': 'city' }],
  }),
  mappingSetting: option(
    'Setting of a mapping',
    'A column (a text is short for its destination), a column from the extra columns, a date, or a table of its own.',
    {
      type: ['object', 'string'],
      examples: ['city', { type: 'table', destination: 'contacts', tableMapping: { email: 'email' } }],
      properties: {
        type: optionalText(
          'Kind',
          '`column`: the value; `user`: a value of the extra columns, the path separated by `/`; `date`: the value as a unix time; `json`: the value as JSON, whole; `table`: a table of its own.',
          { default: 'column', examples: ['column', 'user', 'date', 'json', 'table'] },
        ),
        delimiter,
        ...columnProperties,
        ...tableProperties,
      },
      if: { type: 'object' },
      then: {
        if: { required: ['type'], properties: { type: { const: 'table' } } },
        then: { required: ['destination'] },
        else: { required: ['mapping'] },
      },
    },
  ),
};

/** `config.mappings`: data type to mapping. */
export const mappingsSchema = option(
  'Mappings',
  'Data type of a job to the mapping of its rows. Data types that are not named here become tables by themselves.',
  {
    type: ['object', 'null'],
    additionalProperties: definition('mapping'),
    examples: [{ users: { id: { mapping: { destination: 'id', primaryKey: true } }, name: 'name' } }],
  },
);

function forceType(): OptionSchema {
  return option('Force text', 'True writes an object or a list as JSON text instead of failing.', {
    type: ['boolean', 'number', 'string', 'null'],
    default: false,
    examples: [true],
  });
}
