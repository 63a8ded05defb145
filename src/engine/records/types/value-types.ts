import { isScalar, toJsonText, toText, valueBetween, type Json } from '../../../lib/json/index.ts';
import type { RowLook } from '../look.ts';
import { VALUE } from './column-type.ts';
import type { SeenValues } from './seen-values.ts';
import { kindOfRaw, kindOfValue } from './value-kind.ts';

/** Watches the values of the rows of a page for the types of their columns. */
export class ValueTypes {
  readonly #page: string | undefined;
  readonly #null: number;
  readonly #boolean: number;

  /** @param look a word for null that is not empty is a text, and so are words that are no truth values */
  constructor({ words }: RowLook, page: string | undefined) {
    this.#page = page;
    this.#null = words === undefined || words.null === '' ? 0 : VALUE.text;
    this.#boolean = words?.true === 'true' && words.false === 'false' ? VALUE.boolean : VALUE.text;
  }

  /** Takes a value that becomes a cell; one that is missing leaves an empty one. */
  value(seen: SeenValues, value: Json | undefined): void {
    if (seen.isText || value === undefined) return;
    const kind =
      value === null ? this.#null : typeof value === 'boolean' ? this.#boolean : kindOfValue(value);
    if (seen.has(kind)) return;
    seen.see(kind, () => shown(value), this.#page);
  }

  /** Takes the bytes of a JSON value that became a cell. */
  raw(seen: SeenValues, bytes: Uint8Array, at: number, end: number): void {
    if (seen.isText) return;
    const found = kindOfRaw(bytes, at, end);
    const kind = found === 0 ? this.#null : found === VALUE.boolean ? this.#boolean : found;
    if (seen.has(kind)) return;
    seen.see(kind, () => shown(valueBetween(bytes, at, end)), this.#page);
  }
}

function shown(value: Json): string {
  if (typeof value === 'boolean') return String(value);
  return isScalar(value) ? toText(value) : toJsonText(value);
}
