import { appendFileSync, existsSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { guard } from '../../engine/sink/file-error.ts';
import { makePrivateFolder } from '../../lib/private-files.ts';
import type { Io } from '../command.ts';

const MAX_BYTES = 5_000_000;

/** The log of the calls of an assistant: a line of JSON each in the data folder, and a line for people on stderr. */
export class CallLog {
  readonly #file: string;
  readonly #io: Io;

  /** @throws {ExtractorError} `output.failed` where it cannot be written */
  constructor(dataFolder: string, io: Io) {
    this.#io = io;
    this.#file = path.join(dataFolder, '.gex', 'mcp.log');
    guard(this.#file, () => {
      makePrivateFolder(path.dirname(this.#file));
      if (existsSync(this.#file) && statSync(this.#file).size > MAX_BYTES)
        renameSync(this.#file, `${this.#file}.1`);
    });
  }

  get file(): string {
    return this.#file;
  }

  write(line: string, facts: Readonly<Record<string, unknown>>): void {
    this.#io.note(line);
    const text = JSON.stringify({ time: new Date().toISOString(), ...facts }, (_key, value: unknown) =>
      typeof value === 'string' ? this.#io.secrets.redactMessage(value) : value,
    );
    guard(this.#file, () => appendFileSync(this.#file, `${text}\n`, { mode: 0o600 }));
  }
}

/** Arguments that are shown in the log as they are: names and numbers. Of others only the length is. */
const SHOWN = new Set([
  'count',
  'file',
  'from',
  'heading',
  'job',
  'maxRequests',
  'page',
  'pages',
  'parent',
  'replay',
  'row',
  'select',
  'table',
  'text',
  'tool',
  'trial',
]);
const LETTERS = 200;

/** Returns the arguments of a call as the log has them: without what may hold a secret. */
export function shownArguments(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (name === 'source' && typeof value === 'string') return [name, shownSource(value)];
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const isShown = SHOWN.has(name) && text.length <= LETTERS && !text.includes('\n');
      return [name, isShown ? value : `(${text.length} characters)`];
    }),
  );
}

/** Returns an address without user and query. */
function shownSource(text: string): string {
  const url = URL.parse(text);
  return url === null || !/^https?:$/.test(url.protocol)
    ? `(${text.length} characters)`
    : `${url.origin}${url.pathname}`.slice(0, LETTERS);
}
