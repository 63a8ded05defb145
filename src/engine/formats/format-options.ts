import { map, option, optionalText, whole, type OptionSchema } from '../../lib/option.ts';
import { COMPRESSIONS, FORMATS } from './format-settings.ts';

/** JSON Schema (draft-07) of the keys of a job that describe how its responses are read. */
export const formatOptions: Readonly<Record<string, OptionSchema>> = {
  format: option(
    'Format of the answers',
    'What the answers are: "jsonl" is one JSON value for each line, "lines" is text. By default what Content-Type or the name of the file says, and JSON otherwise.',
    { enum: [...FORMATS, '', null], default: '', examples: ['csv'] },
  ),
  compression: option(
    'Packed answers',
    'How the answers are packed as files, beside what Content-Encoding says. "auto" knows gzip and zip files by their first bytes.',
    { enum: [...COMPRESSIONS, '', null], default: 'auto', examples: ['gzip'] },
  ),
  csv: map('CSV of the answers', 'How CSV, TSV and text are read.', {
    maxItems: 0,
    default: {},
    examples: [{ delimiter: ';', encoding: 'windows-1252' }],
    properties: {
      delimiter: optionalText(
        'Delimiter',
        'One character between the cells. By default a comma, and a tab in TSV.',
        { maxLength: 2, default: ',', examples: [';', '\\t'] },
      ),
      quote: option(
        'Quote',
        'One character around cells, doubled inside of them; "" where nothing is quoted.',
        { type: ['string', 'boolean', 'null'], maxLength: 1, default: '"', examples: ["'"] },
      ),
      header: option(
        'Header',
        'True when the first record has the names of the columns; false when there are none, and the columns are "column_1", "column_2" …; or a list of the names, and a first record that is just these is then no row.',
        {
          type: ['boolean', 'array', 'string', 'null'],
          items: { type: ['string', 'number'] },
          default: true,
          examples: [['id', 'name']],
        },
      ),
      encoding: optionalText(
        'Encoding',
        'Encoding of the text. By default what Content-Type says, and UTF-8 otherwise.',
        { default: 'utf-8', examples: ['windows-1252'] },
      ),
      skip: whole(
        'Lines to leave out',
        'Lines in front of the header, or of the first record, that are left out unread.',
        { minimum: 0, pattern: '^\\s*\\d*\\s*$', default: 0, examples: [3] },
      ),
    },
  }),
  xml: map(
    'XML of the answers',
    'How elements become rows. Where the rows are is said by "dataField": the names of the elements from the root on.',
    {
      maxItems: 0,
      default: {},
      examples: [{ leaves: 'objects' }],
      properties: {
        leaves: option(
          'Elements with text alone',
          '"texts" makes a text of an element without attributes and children. "objects" makes an object with the key "#text" of every element, for names that have attributes only at times.',
          { enum: ['texts', 'objects', '', null], default: 'texts', examples: ['objects'] },
        ),
        namespaces: option(
          'Prefixes',
          '"keep" leaves names as "ns:name", "remove" takes the prefixes away.',
          { enum: ['keep', 'remove', '', null], default: 'keep', examples: ['remove'] },
        ),
      },
    },
  ),
  zip: map('Files of an archive', 'Which files of a zip file are read.', {
    maxItems: 0,
    default: {},
    examples: [{ members: 'orders-*.csv' }],
    properties: {
      members: optionalText(
        'Names',
        'A name, folders included, in which "*" stands for any text. By default all files are read.',
        { default: '*', examples: ['orders-*.csv'] },
      ),
    },
  }),
};
