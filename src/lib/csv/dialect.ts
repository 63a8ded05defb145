import { CsvError } from './csv-error.ts';

/** Characters that separate cells and records; each is one byte. */
export interface CsvDialect {
  readonly delimiter: number;
  /** Quote; `undefined` means no quoting at all. */
  readonly enclosure: number | undefined;
  /** Makes the byte after it data; only without an enclosure. */
  readonly escape: number | undefined;
}

export interface DialectOptions {
  /** One character; the two characters `\t` mean a tab. Default `,`. */
  readonly delimiter?: string | undefined;
  /** One character, or empty. Default `"`, or none when there is an `escapedBy`. */
  readonly enclosure?: string | undefined;
  /** One character, or empty. Default none. */
  readonly escapedBy?: string | undefined;
}

export const NUL = 0x00;
export const LF = 0x0a;
export const CR = 0x0d;

/**
 * Creates the dialect of RFC 4180, with three variations.
 *
 * @throws CsvError (`dialect`) when a character is more than one byte or has two meanings
 */
export function createDialect(options: DialectOptions = {}): CsvDialect {
  const escapedBy = options.escapedBy ?? '';
  const delimiter = oneByte('delimiter', options.delimiter === '\\t' ? '\t' : (options.delimiter ?? ','));
  const enclosure = oneByte('enclosure', options.enclosure ?? (escapedBy === '' ? '"' : ''));
  const escape = oneByte('escapedBy', escapedBy);
  if (delimiter === undefined)
    throw new CsvError('dialect', 'The CSV delimiter must be one character, but it is empty.');
  if (enclosure !== undefined && escape !== undefined)
    throw new CsvError('dialect', 'Only one of the CSV options "enclosure" and "escapedBy" can be used.');
  if (delimiter === enclosure || delimiter === escape)
    throw new CsvError(
      'dialect',
      'The CSV delimiter must differ from the enclosure and the escape character.',
    );
  return { delimiter, enclosure, escape };
}

function oneByte(option: string, text: string): number | undefined {
  if (text === '') return undefined;
  const byte = text.charCodeAt(0);
  if (text.length > 1 || byte > 0x7f)
    throw new CsvError('dialect', `The CSV ${option} must be one ASCII character, but it is "${text}".`);
  if (byte === LF || byte === CR || byte === NUL)
    throw new CsvError('dialect', `The CSV ${option} can't be a line end or a NUL.`);
  return byte;
}
