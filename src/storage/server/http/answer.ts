import type { Readable } from 'node:stream';
import type { JsonMap, JsonNumber } from '../../../json/index.ts';

/** JSON text that is sent as it was stored: no number, key order or empty list of it is touched. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a handler may answer as JSON; a property that is undefined is left out. */
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

/** An answer with another status than the route's, or one that isn't JSON. */
export class Answer {
  readonly status: number;
  readonly body: Reply | Readable | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body?: Reply | Readable, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}
