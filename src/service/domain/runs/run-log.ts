import type { Env } from '../../../lib/env.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { whenDatabaseIsBack } from '../../platform/database/retry-policy.ts';
import { appendLog, type LogEnd } from '../../stores/metadata/run-log.ts';
import type { RunRow } from '../../stores/metadata/tables.ts';
import { StringDecoder } from 'node:string_decoder';

/** A line that is longer is cut: nobody reads it, and a log is kept for months. */
const MAX_LINE = 32 * 1024;

/** The lines of a stream of text, without their ends; memory stays flat however long one is. */
async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let isCut = false;
  for await (const bytes of stream) {
    const parts = (rest + decoder.write(Buffer.from(bytes))).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      if (!isCut) yield part.slice(0, MAX_LINE);
      isCut = false;
    }
    if (rest.length > MAX_LINE) {
      if (!isCut) yield rest.slice(0, MAX_LINE);
      [rest, isCut] = ['', true];
    }
  }
  if (rest !== '' && !isCut) yield rest;
}

/** An event as the command writes it with `--log-format json`; undefined for any other text. */
function eventIn(line: string): { readonly level: string; readonly message: string } | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const event: unknown = JSON.parse(line);
    const isEvent = typeof event === 'object' && event !== null && 'level' in event && 'message' in event;
    return isEvent && typeof event.level === 'string' && typeof event.message === 'string'
      ? { level: event.level, message: event.message }
      : undefined;
  } catch {
    return undefined;
  }
}

export interface RunLogOptions {
  readonly meta: Meta;
  /** Run as it was claimed. */
  readonly run: Pick<RunRow, 'fencing' | 'id' | 'log_bytes' | 'log_lines' | 'runner'>;
  readonly env: Env;
  readonly secrets: Secrets;
  /** Folder of the run; its path is left out of the log, as it tells the reader nothing. */
  readonly folder: string;
  /** Called once when the run is not this runner's any more, or nothing can be written. */
  readonly onLost: (why?: string) => void;
}

/** How long a line waits for others at most. */
const FLUSH_MS = 500;
const PIECE_BYTES = 64 * 1024;
const PIECE_LINES = 1000;
/** A log that is longer ends there: detailed logs of long runs would fill the database. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Lines of other form that are kept for the end, such as the place in the code of a failure. */
const MAX_OTHERS = 50;

/** Writes what the process of a run says into the log of the run, a piece at a time. */
export class RunLogWriter {
  readonly #options: RunLogOptions;
  readonly #timer: NodeJS.Timeout;
  #end: LogEnd;
  #lines: string[] = [];
  #bytes = 0;
  #isFull = false;
  #isLost = false;
  #writing = Promise.resolve();
  /** Lines that are no events: what a failed process says at its end. */
  readonly others: string[] = [];

  constructor(options: RunLogOptions) {
    this.#options = options;
    this.#end = options.run;
    this.#timer = setInterval(() => void this.#flush(), FLUSH_MS);
  }

  /** Takes all lines until the stream ends; the process is held up while they cannot be written. */
  async take(stream: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const line of linesOf(stream)) {
      if (eventIn(line) === undefined) {
        if (line.trim() !== '' && this.others.length < MAX_OTHERS) this.others.push(this.clean(line));
      } else this.#add(this.clean(line));
      if (this.#bytes > PIECE_BYTES || this.#lines.length >= PIECE_LINES) await this.#flush();
    }
  }

  /** Adds an event of the runner's own. */
  tell(level: 'error' | 'info' | 'warn', message: string): void {
    const time = new Date(this.#options.env.now()).toISOString();
    this.#add(JSON.stringify({ level, time, message: this.clean(message) }));
  }

  /** Without secrets, and without where it ran. */
  clean(text: string): string {
    const { secrets, folder } = this.#options;
    return secrets.redactMessage(text.replaceAll(`${folder}/`, '').replaceAll(folder, '.'));
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  #add(line: string): void {
    if (this.#isFull || this.#isLost) return;
    this.#lines.push(line);
    this.#bytes += line.length;
  }

  async #flush(): Promise<void> {
    this.#writing = this.#writing.then(async () => await this.#write());
    await this.#writing;
  }

  async #write(): Promise<void> {
    const lines = this.#lines.splice(0, PIECE_LINES);
    this.#bytes = this.#lines.reduce((sum, { length }) => sum + length, 0);
    if (lines.length === 0 || this.#isLost) return;
    const { meta, run, env, onLost } = this.#options;
    try {
      const end = await whenDatabaseIsBack(env, async () => await appendLog(meta, run, this.#end, lines));
      if (end === undefined) {
        this.#lose(onLost);
        return;
      }
      this.#end = end;
      if (end.log_bytes > MAX_BYTES && !this.#isFull) {
        this.tell('warn', `The log is longer than ${MAX_BYTES / 1024 / 1024} MB: what follows is left out.`);
        this.#isFull = true;
      }
    } catch (error) {
      this.#lose(() => onLost(String(error)));
    }
  }

  #lose(told: () => void): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#lines = [];
    told();
  }
}
