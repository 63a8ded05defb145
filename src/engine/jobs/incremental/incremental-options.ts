import { definition, map, option, optionalText, type OptionSchema } from '../../../lib/option.ts';
import { placeSchema, sourceSchema } from '../../language/index.ts';
import { MARK_KINDS } from './mark.ts';

/** Makes a setting optional, as lenient as the others. */
function orNone(schema: OptionSchema): OptionSchema {
  const { allOf, ...rest } = schema;
  return { ...rest, anyOf: [{ enum: ['', null] }, { allOf }], default: '' };
}

/** The JSON Schema (draft-07) of `incremental` of a job. */
export const INCREMENTAL = map(
  'State from the data',
  'Lets each run begin where the data of the last one ended: the newest value of a field, or a value of the response, is kept in the state. {"state": "cursor"} refers to it.',
  {
    maxItems: 0,
    default: {},
    examples: [{ cursor: 'updated_at', to: 'since', first: '2025-01-01', lookback: '1 day' }],
    properties: {
      cursor: orNone(
        sourceSchema(
          'Cursor',
          'The field of a row whose newest value becomes the state: a time, a number or a text that grows. Either this or `keep`.',
          ['updated_at', { path: 'meta.version' }],
        ),
      ),
      cursorFormat: option(
        'Format of the cursor',
        'How the values of the cursor are written: letters of PHP, `epoch` for numbers since 1970, or a list of formats. Values in another form are kept, and do not move the state.',
        {
          anyOf: [{ type: ['string', 'null'] }, { type: 'array', items: { type: 'string', minLength: 1 } }],
          default: '',
          examples: ['d.m.Y H:i', ['Y-m-d\\TH:i:sP', 'Y-m-d']],
        },
      ),
      keep: orNone(
        sourceSchema(
          'Kept value',
          'A value of the last response that becomes the state, such as a token; {"window": "to"} keeps where the last window ended. Either this or `cursor`.',
          ['last_seq', { header: 'X-Next-Sync' }, { window: 'to' }],
        ),
      ),
      first: option(
        'Beginning',
        'In place of the state in a first run: a value, words such as "-30 days", or a function. Without it `to` is left out then.',
        {
          anyOf: [{ type: ['string', 'number', 'null'] }, { type: 'object', allOf: [definition('source')] }],
          default: '',
          examples: ['2025-01-01', 0, { attr: 'since' }],
        },
      ),
      lookback: option(
        'Lookback',
        'Begins so much before the state, for rows that arrive late: a length of time, or a number for a cursor that is one. Rows come again: the table needs a primary key.',
        { type: ['string', 'number', 'null'], default: '', examples: ['7 days', 100] },
      ),
      notBefore: option(
        'Earliest beginning',
        'No run begins before it, neither by its state nor by the lookback: a value, words such as "-1 year", or a function.',
        {
          anyOf: [{ type: ['string', 'number', 'null'] }, { type: 'object', allOf: [definition('source')] }],
          default: '',
          examples: ['2025-01-01', { attr: 'since' }],
        },
      ),
      to: orNone(
        placeSchema('Place', 'Where in the request the state is sent.', ['since', { body: 'filter.after' }]),
      ),
      format: optionalText(
        'Format',
        'How a time is sent: letters of PHP (`Y-m-d`), `epoch` or `epochMs`, in UTC; in the offset of the state where the format writes it (`O`, `P`). By default as it came.',
        { default: '', examples: ['Y-m-d', 'epoch'] },
      ),
      as: option(
        'Compared as',
        'How values are compared. By default numbers and numerals as numbers, dates of ISO 8601 and HTTP as times, all else as text. `time` also reads seconds or milliseconds since 1970 and other dates.',
        { enum: [...MARK_KINDS, '', null], default: '', examples: ['time'] },
      ),
      order: option(
        'Order',
        'How the API sorts the rows by the cursor. `descending`: the job ends at the first page whose last row is older than the state. `ascending`: a job that is cut short moves the state as far as it came.',
        { enum: ['ascending', 'descending', 'none', '', null], default: 'none', examples: ['descending'] },
      ),
      filter: option(
        'Filter',
        'Drops rows before the state (less the lookback), and what is below them. By default where the state is not in the request.',
        { type: ['boolean', 'null'], default: null, examples: [true] },
      ),
      equal: option(
        'Rows at the state',
        'What becomes of rows whose cursor is the state itself, when rows are filtered. They may be new, so they are kept by default, and come again. `new` drops those of them that were there in the last run, by their digests in the state; `drop` drops all.',
        { enum: ['keep', 'new', 'drop', '', null], default: 'keep', examples: ['new'] },
      ),
      perParent: option(
        'For each parent row',
        'Keeps a state for each parent row, in a child; by default true there. With false all of them share one: what a new parent row has from before it is not asked for.',
        { type: ['boolean', 'null'], default: null, examples: [false] },
      ),
      future: option(
        'Times ahead of the clock',
        'Lets times move the state that are more than a day ahead of the clock, such as those of planned events.',
        { type: ['boolean', 'null'], default: false, examples: [true] },
      ),
    },
  },
);
