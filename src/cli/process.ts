import { RunError } from '../lib/errors.ts';

export interface Interruption {
  readonly signal: AbortSignal;
  /** Returns 130 after Ctrl-C, 143 after SIGTERM; undefined without an interruption. */
  exitCode(): number | undefined;
  /** Listens no longer. */
  dispose(): void;
}

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Listens for signals: the first one ends the work in an orderly way, a second one ends the process at once. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  let code: number | undefined;
  const on = (name: keyof typeof CODES) => (): void => {
    if (code !== undefined) process.exit(CODES[name]);
    code = CODES[name];
    controller.abort(
      new RunError('run.interrupted', 'The run was interrupted.', {
        hint: 'Rows that had ended are complete. Give the command again: it goes on where it was.',
      }),
    );
  };
  const listeners = { SIGINT: on('SIGINT'), SIGTERM: on('SIGTERM') };
  process.on('SIGINT', listeners.SIGINT);
  process.on('SIGTERM', listeners.SIGTERM);
  return {
    signal: controller.signal,
    exitCode: () => code,
    dispose() {
      process.off('SIGINT', listeners.SIGINT);
      process.off('SIGTERM', listeners.SIGTERM);
    },
  };
}

/** Lets a stream of this process end early: whoever read it has gone (`gex run | head`), and that is no error. */
export function quietOnEpipe(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
