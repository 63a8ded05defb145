import { inheritedEnvironment } from '../runs/environment.ts';
import { RUNNER_VARIABLE } from '../runs/runner-variable.ts';
import type { BuilderTask, Said } from './builder-types.ts';

export interface BuilderChildOptions {
  /** Program, and the arguments before those of `gex`. */
  readonly command: readonly [string, ...string[]];
  /** Environment variables of the process, besides the inherited ones. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Ends the process. */
  readonly signal: AbortSignal;
  /** Called when the process is gone, however it ended. */
  readonly onOver?: (() => void) | undefined;
}

/** Subcommand of the command line in a process that the service has started. */
export const WORKSHOP_COMMAND = 'workshop';

/** Milliseconds between the request to end and the end by force. */
const TERM_MS = 3000;

/**
 * Runs a task in a process of its own: answers of unknown APIs are not parsed in the process of the service. The task
 * goes to its stdin, since arguments and environments can be seen.
 *
 * @throws {Error} when the process ended without an answer; the reason of the signal
 */
export async function* askChild(
  asked: BuilderTask,
  { command, environment, signal, onOver }: BuilderChildOptions,
): AsyncGenerator<Said, void> {
  signal.throwIfAborted();
  const [program, ...before] = command;
  // loaded when it is needed: each start of the command reads this file, and hardly any starts another process
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { createInterface } = process.getBuiltinModule('node:readline');
  const child = spawn(program, [...before, WORKSHOP_COMMAND], {
    env: { ...inheritedEnvironment(), ...environment, [RUNNER_VARIABLE]: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let trace = '';
  let force: NodeJS.Timeout | undefined;
  const stop = (): void => {
    child.kill('SIGTERM');
    force ??= setTimeout(() => child.kill('SIGKILL'), TERM_MS);
  };
  signal.addEventListener('abort', stop, { once: true });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  // Asked for below, when all lines were read.
  closed.catch(() => undefined);
  child.stderr.on('data', (part: Buffer) => (trace = `${trace}${part.toString()}`.slice(-2000)));
  // One that is gone already says so when it closes.
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(asked));
  try {
    // Written by the process that was started here, line by line.
    for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line) as Said;
    const code = await closed;
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`A process of the workshop ended with ${code}: ${trace}`);
  } finally {
    signal.removeEventListener('abort', stop);
    if (child.exitCode === null && child.signalCode === null) stop();
    const over = (): void => {
      clearTimeout(force);
      onOver?.();
    };
    void closed.then(over, over);
  }
}
