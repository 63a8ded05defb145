import { RunError } from '../../../../lib/errors.ts';
import { isKeptMessage, RUN_VARIABLE, type KeepMessage } from './channel.ts';

/** Run with a checkpointer ({@link Keeper}), as its process sees it. */
export interface KeptRun {
  readonly id: string;
  /** Aborted when the runner is gone, or has lost the run. */
  readonly gone: AbortSignal;
  /**
   * Resolves when everything that the process has written is stored. Rejects with a {@link RunError} `run.lost`, or
   * with the reason of the signal.
   */
  readonly keep: (signal: AbortSignal) => Promise<void>;
}

/** The end of a channel; `process` is one when it was started with it. */
export type Channel = Pick<NodeJS.Process, 'channel' | 'on' | 'send'>;

/** Returns the run of this process; undefined for a process without a checkpointer. */
export function keptRun(
  channel: Channel,
  environment: Readonly<Record<string, string | undefined>>,
): KeptRun | undefined {
  const id = environment[RUN_VARIABLE];
  if (id === undefined) return undefined;
  const gone = new AbortController();
  const waiting = new Map<number, { resolve: () => void; reject: (reason: Error) => void }>();
  const lose = (why: string): void => {
    const error = lost(why);
    gone.abort(error);
    for (const { reject } of waiting.values()) reject(error);
  };
  let count = 0;
  if (channel.send === undefined) lose(GONE);
  channel.on('disconnect', () => lose(GONE));
  channel.on('message', (message: unknown) => {
    if (!isKeptMessage(message)) return;
    const { number, refusal } = message;
    if (refusal === undefined) waiting.get(number)?.resolve();
    else lose(refusal);
  });
  /** Lets the process end when no answer is awaited. */
  const rest = (): void => {
    if (waiting.size === 0) channel.channel?.unref();
  };
  rest();
  return {
    id,
    gone: gone.signal,
    keep: async (signal) => {
      gone.signal.throwIfAborted();
      signal.throwIfAborted();
      const message: KeepMessage = { gex: 'keep', number: ++count };
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stop = (): void => reject(signal.reason as Error); // as throwIfAborted throws it
      signal.addEventListener('abort', stop);
      waiting.set(message.number, { resolve, reject });
      channel.channel?.ref();
      channel.send?.(message, (error: Error | null) => {
        if (error !== null) lose(GONE);
      });
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', stop);
        waiting.delete(message.number);
        rest();
      }
    },
  };
}

const GONE = 'The runner of this run is gone.';

function lost(why: string): RunError {
  return new RunError('run.lost', why, {
    audience: 'application',
    hint: 'Another runner takes the run over, and goes on where it was.',
  });
}
