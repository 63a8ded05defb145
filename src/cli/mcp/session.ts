import { askChild } from '../../service/domain/builder/child.ts';
import type { BuilderTask, Said } from '../../service/domain/builder/builder-types.ts';
import { toldError } from '../../service/domain/builder/process/told-error.ts';
import { counted } from '../../lib/counted.ts';
import { keyFileText, keysFrom } from '../../lib/encryption/keys.ts';
import { RunError } from '../../lib/errors.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { Io } from '../command.ts';
import { CallLog, shownArguments } from './call-log.ts';
import { requireHosts, type Grants } from './grants.ts';
import { ToldFailure } from './told-failure.ts';
import { Trials } from './trials.ts';

/** One call of a tool. */
export interface ToolCall {
  readonly session: McpSession;
  /** Ends the call: the client has cancelled it, it takes too long, or the session is over. */
  readonly signal: AbortSignal;
  /** Number of the call in the log. */
  readonly number: number;
  /** Returns the error of a call that took too long; undefined while it may go on. */
  readonly lateness: () => RunError | undefined;
  /** Requests to APIs that it may send, and those that it has sent. */
  readonly requests: { granted: number; sent: number };
}

/** Facts of a call before it is done. */
interface CallAbout {
  readonly tool: string;
  readonly given: Readonly<Record<string, unknown>>;
  /** It takes no process of its own, and waits for no other call. */
  readonly isHere: boolean;
}

export interface SessionOptions {
  readonly dataFolder: string;
  /** Requests to APIs, of all calls. */
  readonly maxRequests: number;
}

const CALL_MS = 120_000;
/** Requests to APIs of one call. */
const CALL_REQUESTS = 100;
/** Calls that are at work at the same time; others wait. */
const AT_ONCE = 2;
/** Letters of an error in the log for people. */
const SHOWN_LETTERS = 500;

/** A client's session: its bounds, its log, and what it has tried. */
export class McpSession {
  readonly dataFolder: string;
  readonly grants: Grants;
  readonly secrets: Secrets;
  readonly trials = new Trials();
  readonly log: CallLog;
  readonly #signal: AbortSignal;
  readonly #command: readonly [string, ...string[]];
  #requestsLeft: number;
  #calls = 0;
  #atWork = 0;
  readonly #waiting = new Set<() => void>();

  constructor({ dataFolder, maxRequests }: SessionOptions, grants: Grants, io: Io, signal: AbortSignal) {
    this.dataFolder = dataFolder;
    this.grants = grants;
    this.secrets = io.secrets;
    this.log = new CallLog(dataFolder, io);
    this.#signal = signal;
    this.#requestsLeft = maxRequests;
    this.#command = [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
  }

  /** Does the work of a tool, and logs what was asked and how it ended. */
  async call<T>(
    { tool, given, isHere }: CallAbout,
    cancelled: AbortSignal,
    work: (call: ToolCall) => Promise<T>,
  ): Promise<T> {
    const number = ++this.#calls;
    const requests = { granted: 0, sent: 0 };
    const startMs = performance.now();
    const end = (outcome: string, code?: string): void => {
      const ms = Math.round(performance.now() - startMs);
      const { sent } = requests;
      this.log.write(`${tool}: ${outcome}, ${counted(sent, 'request')}, ${ms} ms`, {
        call: number,
        tool,
        arguments: shownArguments(given),
        outcome: code ?? outcome,
        requests: sent,
        ms,
      });
    };
    let late: AbortSignal | undefined;
    const lateness = (): RunError | undefined => (late?.aborted === true ? tooLate() : undefined);
    try {
      const over = AbortSignal.any([cancelled, this.#signal]);
      const done = async (): Promise<T> => {
        // a call that waits for others takes no time of its own
        late = AbortSignal.timeout(CALL_MS);
        const signal = AbortSignal.any([over, late]);
        return await work({ session: this, signal, number, requests, lateness });
      };
      const result = await (isHere ? done() : this.#inTurn(over, done));
      end(cancelled.aborted ? 'cancelled' : 'done');
      return result;
    } catch (error) {
      const thrown = lateness() ?? error;
      const { code, message } = thrown instanceof ToldFailure ? thrown.told : toldError(thrown, this.secrets);
      const why = message.split('\n', 1)[0]?.slice(0, SHOWN_LETTERS).toWellFormed() ?? '';
      end(cancelled.aborted ? 'cancelled' : `failed (${code}): ${why}`, code);
      throw thrown;
    } finally {
      // what it did not send is for later calls
      this.#requestsLeft += requests.granted - requests.sent;
    }
  }

  /** Does a task in a process of its own, and returns the line with its result. */
  async ask(task: BuilderTask, { signal, requests, number }: ToolCall): Promise<Said> {
    const options = { command: this.#command, environment: this.grants.environment, signal };
    for await (const said of askChild(task, options)) {
      if ('sent' in said) {
        requests.sent++;
        const { method, url } = said.sent;
        this.log.write(`  ${method} ${url}`, { call: number, request: `${method} ${url}` });
      } else if (!('step' in said)) return said;
    }
    throw new Error('A process of gex mcp gave no answer.');
  }

  /**
   * Grants requests to a call, and returns how many: others cannot have them until it has ended.
   *
   * @throws {RunError} where there are none left, or no hosts
   */
  requestsFor({ requests }: ToolCall, wanted: number = CALL_REQUESTS): number {
    requireHosts(this.grants);
    if (this.#requestsLeft <= 0)
      throw new RunError(
        'command.invalid',
        'All requests of this session were made, or are those of a call at work.',
        {
          hint: 'Ask again when no other call is at work; else the user may start gex mcp with a larger --max-requests.',
        },
      );
    const granted = Math.min(wanted, CALL_REQUESTS, this.#requestsLeft);
    this.#requestsLeft -= granted;
    requests.granted += granted;
    return granted;
  }

  /** Text of the keys of encrypted values, as a task takes them. */
  keys(): string {
    const keys = keysFrom(process.env);
    return keys.length === 0 ? '' : keyFileText(keys);
  }

  /** Does work when few enough other calls are at work. */
  async #inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    while (this.#atWork >= AT_ONCE) await this.#oneLess(signal);
    this.#atWork++;
    try {
      return await work();
    } finally {
      this.#atWork--;
      const [next] = this.#waiting;
      next?.();
    }
  }

  /** Waits until another call has ended; one that is cancelled waits no longer, and takes nobody's turn. */
  async #oneLess(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = (): void => reject(signal.reason);
    this.#waiting.add(resolve);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await promise;
    } finally {
      this.#waiting.delete(resolve);
      signal.removeEventListener('abort', cancel);
    }
  }
}

function tooLate(): RunError {
  return new RunError(
    'run.interrupted',
    `The call took more than ${CALL_MS / 1000} seconds, and was ended.`,
    {
      hint: 'Ask for less: fewer pages, one row of the configuration.',
    },
  );
}
