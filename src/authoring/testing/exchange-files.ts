import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ApiRequest, ApiResponse } from '../../engine/shared/message.ts';
import { formatJson } from '../../lib/json/format-json.ts';
import type { Json } from '../../lib/json/index.ts';
import { guard } from '../../engine/sink/file-error.ts';
import { splitUrl } from './split-url.ts';

/** Writes the files of a fixture; `fixtures/README.md` describes them. */
export class ExchangeFiles {
  readonly #folder: string;
  readonly #requests: string[] = [];
  #host: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get count(): number {
    return this.#requests.length;
  }

  write(name: string, value: Json): void {
    this.#put(name, `${formatJson(value)}\n`);
  }

  /** Adds an exchange, in the order in which they are made. */
  add({ method, url, body }: ApiRequest, { status, headers, body: answer }: ApiResponse): void {
    const { host, target } = splitUrl(url);
    this.#host ??= host;
    this.#requests.push(`${method} ${target}`);
    const name = path.join('api', String(this.#requests.length).padStart(4, '0'));
    const address = host === this.#host ? target : (url.split('#', 1)[0] ?? '').replace(/\/\/[^/?#]*@/, '//');
    const line = `${method} ${address}\n`;
    this.#put(
      `${name}.request`,
      body === undefined ? line : Buffer.concat([Buffer.from(`${line}\n`), Buffer.from(body)]),
    );
    this.#put(`${name}.response`, answer);
    const fields = Object.entries(headers).map(([field, value]) => `${field}: ${value}\n`);
    if (fields.join('') !== 'content-type: application/json\n')
      this.#put(`${name}.responseHeaders`, fields.join(''));
    if (status !== 200) this.#put(`${name}.responseCode`, `${status}\n`);
  }

  /** Writes the expected requests, in order. */
  finish(): void {
    this.#put(path.join('expected', 'requests'), this.#requests.map((line) => `${line}\n`).join(''));
  }

  #put(name: string, content: string | Uint8Array): void {
    const file = path.join(this.#folder, name);
    guard(file, () => {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, content);
    });
  }
}
