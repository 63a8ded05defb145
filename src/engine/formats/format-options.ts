import type { OptionSchema } from '../../lib/option.ts';
import { COMPRESSIONS, FORMATS } from './format-settings.ts';

/** JSON Schema (draft-07) of the keys of a job that say how its answers are read. */
export const formatOptions: Readonly<Record<string, OptionSchema>> = {
  format: {
    title: 'Format of the answers',
    description:
      'What the answers are: "jsonl" is one JSON value for each line, "lines" is text. By default what Content-Type or the name of the file says, and JSON otherwise.',
    enum: [...FORMATS, '', null],
    default: '',
    examples: ['csv'],
  },
  compression: {
    title: 'Packed answers',
    description:
      'How the answers are packed as files, beside what Content-Encoding says. "auto" knows gzip and zip files by their first bytes.',
    enum: [...COMPRESSIONS, '', null],
    default: 'auto',
    examples: ['gzip'],
  },
  csv: {
    title: 'CSV of the answers',
    description: 'How CSV, TSV and text are read.',
    type: ['object', 'array', 'null'],
    maxItems: 0,
    default: {},
    examples: [{ delimiter: ';', encoding: 'windows-1252' }],
    properties: {
      delimiter: {
        title: 'Delimiter',
        description: 'One character between the cells. By default a comma, and a tab in TSV.',
        type: ['string', 'null'],
        maxLength: 2,
        default: ',',
        examples: [';', '\\t'],
      },
      quote: {
        title: 'Quote',
        description: 'One character around cells, doubled inside of them; "" where nothing is quoted.',
        type: ['string', 'boolean', 'null'],
        maxLength: 1,
        default: '"',
        examples: ["'"],
      },
      header: {
        title: 'Header',
        description:
          'True when the first record has the names of the columns; false when there are none, and the columns are "column_1", "column_2" …; or a list of the names, and a first record that is just these is then no row.',
        type: ['boolean', 'array', 'string', 'null'],
        items: { type: ['string', 'number'] },
        default: true,
        examples: [['id', 'name']],
      },
      encoding: {
        title: 'Encoding',
        description: 'Encoding of the text. By default what Content-Type says, and UTF-8 otherwise.',
        type: ['string', 'null'],
        default: 'utf-8',
        examples: ['windows-1252'],
      },
      skip: {
        title: 'Lines to leave out',
        description: 'Lines in front of the header, or of the first record, that are left out unread.',
        type: ['integer', 'string', 'null'],
        minimum: 0,
        pattern: '^\\s*\\d*\\s*$',
        default: 0,
        examples: [3],
      },
    },
  },
  xml: {
    title: 'XML of the answers',
    description:
      'How elements become rows. Where the rows are is said by "dataField": the names of the elements from the root on.',
    type: ['object', 'array', 'null'],
    maxItems: 0,
    default: {},
    examples: [{ leaves: 'objects' }],
    properties: {
      leaves: {
        title: 'Elements with text alone',
        description:
          '"texts" makes a text of an element without attributes and children. "objects" makes an object with the key "#text" of every element, for names that have attributes only at times.',
        enum: ['texts', 'objects', '', null],
        default: 'texts',
        examples: ['objects'],
      },
      namespaces: {
        title: 'Prefixes',
        description: '"keep" leaves names as "ns:name", "remove" takes the prefixes away.',
        enum: ['keep', 'remove', '', null],
        default: 'keep',
        examples: ['remove'],
      },
    },
  },
  zip: {
    title: 'Files of an archive',
    description: 'Which files of a zip file are read.',
    type: ['object', 'array', 'null'],
    maxItems: 0,
    default: {},
    examples: [{ members: 'orders-*.csv' }],
    properties: {
      members: {
        title: 'Names',
        description:
          'A name, folders included, in which "*" stands for any text. By default all files are read.',
        type: ['string', 'null'],
        default: '*',
        examples: ['orders-*.csv'],
      },
    },
  },
};
