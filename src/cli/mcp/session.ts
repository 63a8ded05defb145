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
  /** Requests that it has sent to APIs. */
  readonly requests: { sent: number };
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
  readonly #waiting: (() => void)[] = [];

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
    tool: string,
    given: Readonly<Record<string, unknown>>,
    cancelled: AbortSignal,
    work: (call: ToolCall) => Promise<T>,
  ): Promise<T> {
    const number = ++this.#calls;
    const late = AbortSignal.timeout(CALL_MS);
    const call: ToolCall = {
      session: this,
      signal: AbortSignal.any([cancelled, late, this.#signal]),
      requests: { sent: 0 },
    };
    const startMs = performance.now();
    const end = (outcome: string, code?: string): void => {
      const ms = Math.round(performance.now() - startMs);
      const { sent } = call.requests;
      this.log.write(`${tool}: ${outcome}, ${counted(sent, 'request')}, ${ms} ms`, {
        call: number,
        tool,
        arguments: shownArguments(given),
        outcome: code ?? outcome,
        requests: sent,
        ms,
      });
    };
    await this.#enter(call.signal);
    try {
      const result = await work(call);
      end('done');
      return result;
    } catch (error) {
      const thrown = late.aborted ? tooLate() : error;
      const { code, message } = thrown instanceof ToldFailure ? thrown.told : toldError(thrown, this.secrets);
      end(cancelled.aborted ? 'cancelled' : `failed (${code}): ${message.split('\n', 1)[0] ?? ''}`, code);
      throw thrown;
    } finally {
      this.#leave();
    }
  }

  /** Does a task in a process of its own, and returns the line with its result. */
  async ask(task: BuilderTask, { signal, requests }: ToolCall): Promise<Said> {
    const options = { command: this.#command, environment: this.grants.environment, signal };
    for await (const said of askChild(task, options)) {
      if ('sent' in said) {
        requests.sent++;
        this.#requestsLeft--;
        const { method, url } = said.sent;
        this.log.write(`  ${method} ${url}`, { call: this.#calls, request: `${method} ${url}` });
      } else if (!('step' in said)) return said;
    }
    throw new Error('A process of gex mcp gave no answer.');
  }

  /** Returns how many requests a call may make. @throws {RunError} where there are none left, or no hosts */
  requestsFor(wanted: number = CALL_REQUESTS): number {
    requireHosts(this.grants);
    if (this.#requestsLeft <= 0)
      throw new RunError('command.invalid', 'All requests of this session were made.', {
        hint: 'The user may start gex mcp with a larger --max-requests.',
      });
    return Math.min(wanted, CALL_REQUESTS, this.#requestsLeft);
  }

  /** Text of the keys of encrypted values, as a task takes them. */
  keys(): string {
    const keys = keysFrom(process.env);
    return keys.length === 0 ? '' : keyFileText(keys);
  }

  async #enter(signal: AbortSignal): Promise<void> {
    while (this.#atWork >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    signal.throwIfAborted();
    this.#atWork++;
  }

  #leave(): void {
    this.#atWork--;
    this.#waiting.shift()?.();
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
