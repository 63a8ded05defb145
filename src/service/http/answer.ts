import type { Readable } from 'node:stream';
import type { Reply } from '../domain/reply.ts';

/** Answer with another status than the route's, or one that isn't JSON. */
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
