import { getKey, isObject, type Json } from '../../lib/json/index.ts';
import { isErrorText } from '../shared/error-text.ts';
import { shown } from './values.ts';

/** Looks through the rows of a file for what is none: its header once more, or an error as its last line. */
export class FileWatch {
  readonly #header: readonly string[];
  #first: Json | undefined;
  #last: Json | undefined;
  #beforeLast: Json | undefined;
  #hasHeaderAgain = false;

  /** @param header names of the columns */
  constructor(header: readonly string[]) {
    this.#header = header;
  }

  /** All rows, in their order. */
  take(rows: readonly Json[]): void {
    this.#first ??= rows[0];
    this.#beforeLast = rows.length > 1 ? rows.at(-2) : this.#last;
    this.#last = rows.at(-1) ?? this.#last;
    const [name = ''] = this.#header;
    // a single column may well have a value that is its name
    if (this.#header.length < 2 || this.#hasHeaderAgain) return;
    this.#hasHeaderAgain = rows.some(
      (row) =>
        isObject(row) &&
        getKey(row, name) === name &&
        this.#header.every((each) => getKey(row, each) === each),
    );
  }

  /** Files were put together with their headers. */
  get hasHeaderAgain(): boolean {
    return this.#hasHeaderAgain;
  }

  /** The text of an error in the last row, where other rows are of another kind. */
  get error(): string | undefined {
    const text = this.#firstCell(this.#last);
    if (text === undefined || !isErrorText(text) || !isObject(this.#last ?? null)) return undefined;
    const others = [this.#first, this.#beforeLast].filter((row) => row !== undefined && row !== this.#last);
    // rows that are texts themselves, such as those of a log, may be about errors
    if (others.some((row) => /\s|^$/.test(this.#firstCell(row) ?? ''))) return undefined;
    const [, ...rest] = this.#header;
    // a sentence goes on behind its comma
    const isSentence = rest.every((name) => /^(?:$|\s)/.test(cellOf(this.#last, name) ?? ''));
    return isSentence ? shown(text) : undefined;
  }

  #firstCell(row: Json | undefined): string | undefined {
    return cellOf(row, this.#header[0] ?? '');
  }
}

function cellOf(row: Json | undefined, name: string): string | undefined {
  const value = row === undefined || !isObject(row) ? undefined : getKey(row, name);
  return typeof value === 'string' ? value : undefined;
}
