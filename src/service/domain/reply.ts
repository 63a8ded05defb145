import type { JsonMap, JsonNumber } from '../../lib/json/index.ts';

/** JSON text that is sent as it was stored: no number, key order or empty list of it is touched. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value of the API as JSON; a property that is undefined is left out. */
export type Reply =
  | null
  | boolean
  | number
  | string
  | RawJson
  | JsonNumber
  | JsonMap
  | readonly Reply[]
  | { readonly [key: string]: Reply | undefined };
