import { createDialect, type CsvDialect } from '../../lib/csv/dialect.ts';
import { CsvError } from '../../lib/csv/csv-error.ts';
import {
  getKey,
  isEmpty,
  isList,
  isScalar,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { isEncoding } from './charset.ts';
import { kindOf, SettingsReader, type Invalid } from '../../lib/read-settings.ts';
import { wildcard } from './wildcard.ts';

/** Formats of a body. A job that names none takes the format that the response declares, and JSON otherwise. */
export const FORMATS = ['json', 'jsonl', 'csv', 'tsv', 'xml', 'lines'] as const;
export type Format = (typeof FORMATS)[number];

export const COMPRESSIONS = ['auto', 'gzip', 'zip', 'none'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** Keys of a job that describe how its bodies are read; they may stand beside each other. */
const FORMAT_KEYS = ['format', 'compression', 'csv', 'xml', 'zip'] as const;

export interface FormatSettings {
  /** Undefined: by what the response declares. */
  readonly format: Format | undefined;
  readonly compression: Compression;
  readonly csv: CsvSettings;
  readonly xml: XmlSettings;
  /** Selects the files of an archive to read; all by default. */
  readonly member: (name: string) => boolean;
}

export interface CsvSettings {
  /** Separator of one character. By default a comma, and a tab in TSV. */
  readonly delimiter: string | undefined;
  /** One character, or empty where nothing is quoted. */
  readonly quote: string;
  /** `first`: the first record has the names; `none`: nothing has; or the names themselves. */
  readonly header: 'first' | 'none' | readonly string[];
  /** Label of the Encoding Standard. Undefined: the declared encoding, and UTF-8 otherwise. */
  readonly encoding: string | undefined;
  /** Number of physical lines at the start that are left out. */
  readonly skip: number;
}

export interface XmlSettings {
  /** Form of an element that has only text: a text, or an object with the key `#text` as all others. */
  readonly leaves: 'texts' | 'objects';
  readonly namespaces: 'keep' | 'remove';
}

export const DEFAULT_FORMAT: FormatSettings = {
  format: undefined,
  compression: 'auto',
  csv: { delimiter: undefined, quote: '"', header: 'first', encoding: undefined, skip: 0 },
  xml: { leaves: 'texts', namespaces: 'keep' },
  member: () => true,
};

/**
 * Reads the keys of a job that describe its bodies. Undefined when it has none.
 *
 * @param at JSON path of the job
 * @throws the error of `invalid` for a setting that cannot be used
 */
export function parseFormat(job: AnyObject, at: string, invalid: Invalid): FormatSettings | undefined {
  if (FORMAT_KEYS.every((key) => isEmpty(getKey(job, key)))) return undefined;
  const read = new SettingsReader(invalid);
  const format = read.word(job, 'format', at, FORMATS);
  const xml = read.map(job, 'xml', at) ?? {};
  const zip = read.map(job, 'zip', at) ?? {};
  const members = read.text(zip, 'members', `${at}.zip`);
  const csv = csvOf(read.map(job, 'csv', at) ?? {}, `${at}.csv`, read, invalid);
  const settings: FormatSettings = {
    format,
    compression: read.word(job, 'compression', at, COMPRESSIONS) ?? 'auto',
    csv,
    xml: {
      leaves: read.word(xml, 'leaves', `${at}.xml`, ['texts', 'objects']) ?? 'texts',
      namespaces: read.word(xml, 'namespaces', `${at}.xml`, ['keep', 'remove']) ?? 'keep',
    },
    member: members === undefined ? () => true : wildcard(members),
  };
  checkDialect(settings, `${at}.csv`, invalid);
  return settings;
}

function csvOf(node: AnyObject, at: string, read: SettingsReader, invalid: Invalid): CsvSettings {
  const quote = getKey(node, 'quote');
  const encoding = read.text(node, 'encoding', at);
  if (encoding !== undefined && !isEncoding(encoding))
    throw invalid(
      `${at}.encoding`,
      `“${encoding}” is no encoding that is known here.`,
      'Write "utf-8", "utf-16le", "windows-1252", "iso-8859-2", "shift_jis" or another label of the Encoding Standard.',
    );
  return {
    delimiter: read.text(node, 'delimiter', at),
    quote:
      quote === undefined || quote === null
        ? '"'
        : quote === false
          ? ''
          : toText(textOf(quote, `${at}.quote`, invalid)),
    header: headerOf(getKey(node, 'header'), `${at}.header`, invalid),
    encoding,
    skip: read.count(node, 'skip', at, 0) ?? 0,
  };
}

function textOf(value: Json, at: string, invalid: Invalid): string {
  if (typeof value === 'string') return value;
  throw invalid(at, `“quote” must be a character, or empty, and it is ${kindOf(value)}.`);
}

function headerOf(value: Json | undefined, at: string, invalid: Invalid): CsvSettings['header'] {
  if (value === undefined || value === null || value === true || value === '') return 'first';
  if (value === false) return 'none';
  const names = isList(value) ? value : [];
  const texts = names.flatMap((name) => (isScalar(name) && toText(name) !== '' ? [toText(name)] : []));
  if (texts.length === 0 || texts.length !== names.length)
    throw invalid(
      at,
      `“header” must be true, false or a list of names, and it is ${kindOf(value)}.`,
      'Write ["id", "name"] for the columns of a file without a header.',
    );
  const twice = texts.find((name, i) => texts.indexOf(name) !== i);
  if (twice === undefined) return Object.freeze(texts);
  throw invalid(at, `“${twice}” stands twice in “header”.`, 'Give each column a name of its own.');
}

function checkDialect(settings: FormatSettings, at: string, invalid: Invalid): void {
  try {
    dialectOf(settings.csv, settings.format === 'tsv' ? 'tsv' : 'csv');
  } catch (error) {
    if (error instanceof CsvError) throw invalid(at, error.message);
    throw error;
  }
}

/** @throws CsvError when a character is more than one byte, or has two meanings */
export function dialectOf({ delimiter, quote }: CsvSettings, format: 'csv' | 'tsv'): CsvDialect {
  return createDialect({ delimiter: delimiter ?? (format === 'tsv' ? '\t' : ','), enclosure: quote });
}
