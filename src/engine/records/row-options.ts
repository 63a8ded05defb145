import { definition, map, name, option, type OptionSchema } from '../../lib/option.ts';
import { conditionSchema } from '../language/index.ts';
import { FORMS } from './rows-at.ts';
import { CASES } from './steps/fields.ts';

const source = definition('source');
const names = { type: ['string', 'number'], minLength: 1 };

/** Keys of a job that say what its rows are made of, and what becomes of them before they are written. */
export const rowOptions: Readonly<Record<string, OptionSchema>> = {
  table: option(
    'Table',
    'Whether rows are written. With false they only start the children of the job, which see them as they came.',
    { enum: [true, false, '', null], default: true, examples: [false] },
  ),
  cells: option(
    'Words for true, false and null',
    'What cells say of these values: "json" writes `true`, `false` and `null`, an object has a word for each. By default true is 1, and false and null are empty.',
    {
      anyOf: [
        { enum: ['json', '', null] },
        {
          type: 'object',
          properties: {
            null: word('Null', 'The word for null; a field that is missing stays empty.', ''),
            true: word('True', 'The word for true.', '1'),
            false: word('False', 'The word for false.', ''),
          },
        },
      ],
      default: '',
      examples: ['json', { true: 'yes', false: 'no' }],
    },
  ),
  types: option(
    'Types of columns',
    'True gives each column the type that all its values fit: boolean, bigint, double, decimal(38,9), date, timestamp, timestamptz or json, and text for any mix. The manifest says it, and tables are made with it. Without `cells`, true and false are written as these words.',
    { enum: [true, false, '', null], default: false, examples: [true] },
  ),
  links: option(
    'Links of nested tables',
    'The ids that link the rows of nested tables: "equal" gives equal records equal ids, in every run; "unique" gives each row its own, so that a join never multiplies rows.',
    { enum: ['equal', 'unique', '', null], default: 'equal', examples: ['unique'] },
  ),
  rowsAt: option(
    'Form of the rows',
    'How rows come out of what is at "dataField", where it is no list of them: "values" (rows under keys), "entries" (keys and values), "cells" (lists of cells), "columns" (a list for each column). An object says more of it.',
    {
      anyOf: [
        { enum: [...FORMS, '', null] },
        {
          type: 'object',
          required: ['form'],
          properties: {
            form: option('Form', 'One of the four forms. Required.', {
              enum: [...FORMS],
              examples: ['values'],
            }),
            key: option(
              'Column of the key',
              'Of "values" and "entries": the column that the key goes to; null leaves it out of "values".',
              { type: ['string', 'number', 'null'], default: 'key', examples: ['date'] },
            ),
            value: name('Column of the value', 'Of "entries": the column that the value goes to.', {
              default: 'value',
              examples: ['rate'],
            }),
            header: option(
              'Names of the cells',
              'Of "cells" and "columns": a path in the response, a list of names, or "first" for the first row of each response.',
              { type: ['string', 'array'], examples: ['first', '$.columns[*].name', ['id', 'name']] },
            ),
          },
        },
      ],
      default: '',
      examples: ['values', { form: 'cells', header: 'first' }],
    },
  ),
  expand: option(
    'Expand',
    'A list in each row, whose items become the rows: its path, or an object. Children, pagination and totals still see the rows as they came; so it is with all keys below.',
    {
      anyOf: [
        { type: ['string', 'number', 'null'] },
        {
          type: 'object',
          required: ['path'],
          properties: {
            path: option('Path', 'Path of the list in the row. Required.', { ...names, examples: ['lines'] }),
            with: option(
              'Fields of the record',
              'Fields of the record around that each item gets: names and sources, a list of names, or "*" for all but the list.',
              {
                type: ['object', 'array', 'string'],
                additionalProperties: source,
                items: names,
                examples: [{ order_id: 'id' }, ['currency'], '*'],
              },
            ),
            empty: option(
              'Records without items',
              '"skip" leaves them out, "keep" gives a row with the fields of "with".',
              { enum: ['skip', 'keep'], default: 'skip', examples: ['keep'] },
            ),
          },
        },
      ],
      default: '',
      examples: ['lines', { path: 'lines', with: { order_id: 'id' } }],
    },
  ),
  where: conditionSchema(
    'Which rows',
    'Conditions over fields of the row, times, the state and settings: rows of which all hold are written. How many were left out is told.',
    [{ value: 'status', is: 'differs', than: 'deleted' }],
  ),
  columns: map(
    'Columns',
    'Columns that are computed from each row, by name: a path, another source, or a function over sources. One takes the place of a field of that name; null leaves the field out.',
    {
      maxItems: 0,
      additionalProperties: { anyOf: [source, { type: 'null' }] },
      default: {},
      examples: [
        {
          year: { function: 'substr', args: [{ row: 'date' }, 0, 4] },
          currency: { response: 'meta.currency' },
        },
      ],
    },
  ),
  exclude: option(
    'Fields left out',
    'Fields that are not written, by path ("owner.href"), pattern ("*" is a part of one key, "**" any number of keys) or regular expression over the path ("/_url$/"). Lists on the way do not count.',
    {
      type: ['array', 'string', 'null'],
      items: names,
      default: [],
      examples: [['_links', '**.href', '/_url$/']],
    },
  ),
  rename: map('Renamed fields', 'Paths of fields, and what their last key is called instead.', {
    maxItems: 0,
    additionalProperties: names,
    default: {},
    examples: [{ 'owner.login': 'name' }],
  }),
  case: option(
    'Case of keys',
    'Writes all keys of the rows in one way, but those of "rename" and "columns": "snake" or "lower".',
    { enum: [...CASES, '', null], default: '', examples: ['snake'] },
  ),
};

function word(title: string, description: string, byDefault: string): OptionSchema {
  return name(title, description, { default: byDefault, examples: [title.toLowerCase()] });
}
