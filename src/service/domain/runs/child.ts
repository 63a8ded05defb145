import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { RunCredentials } from './credentials.ts';
import { inheritedEnvironment } from './environment.ts';
import { RUNNER_VARIABLE } from './runner-variable.ts';

/** Milliseconds between the request to end and the end by force. */
const TERM_MS = 10_000;

/** Largest result: it is a few lines for each job, and a longer text is none. */
const MAX_RESULT_BYTES = 32 * 1024 * 1024;

export interface RunChildOptions {
  /** Program, and the arguments before those of `gex`. */
  readonly command: readonly [string, ...string[]];
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly credentials: RunCredentials;
}

export interface RunChild {
  readonly process: ChildProcess;
  readonly stderr: Readable;
  /** Asks it to end, and ends it when it does not. */
  stop(): void;
  /** Resolves when it is gone and all of its output was read. */
  readonly ended: Promise<Ended>;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Output on stdout. */
  readonly result: string;
}

/**
 * Starts `gex run`. It gets its token and keys through a channel, and neither in its arguments nor in its environment:
 * a configuration can take values from there (`$env:NAME`). It ends by itself when the channel closes.
 */
export function startChild({ command, args, environment, credentials }: RunChildOptions): RunChild {
  const [program, ...before] = command;
  const child = spawn(program, [...before, ...args], {
    env: { ...inheritedEnvironment(), ...environment, [RUNNER_VARIABLE]: '1' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('A process was started without pipes.');
  let force: NodeJS.Timeout | undefined;
  const parts: Buffer[] = [];
  let bytes = 0;
  stdout.on('data', (part: Buffer) => {
    bytes += part.length;
    if (bytes <= MAX_RESULT_BYTES) parts.push(part);
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', (error) => (child.pid === undefined ? reject(error) : undefined));
    child.on('close', (code, signal) => {
      clearTimeout(force);
      resolve({ code, signal, result: Buffer.concat(parts).toString() });
    });
  });
  // One that is gone already says so when it closes.
  if (child.pid !== undefined) child.send(credentials, () => undefined);
  return {
    process: child,
    stderr,
    ended,
    stop() {
      if (force !== undefined) return;
      child.kill('SIGTERM');
      force = setTimeout(() => child.kill('SIGKILL'), TERM_MS);
    },
  };
}
