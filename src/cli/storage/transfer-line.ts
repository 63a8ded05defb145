import type { Env } from '../../lib/env.ts';
import type { Job, OnProgress, WaitOptions } from '../../storage/client/index.ts';
import type { Io } from '../command.ts';
import { formatBytes } from '../format.ts';

const LIVE_MS = 100;

/** One line on a terminal that shows how far a transfer or a job is. */
export interface TransferLine {
  readonly progress: OnProgress;
  /** For whatever waits for a job: it is shown, and ends with the command. */
  readonly wait: Pick<WaitOptions, 'onPoll' | 'signal'>;
  readonly end: () => void;
}

export function createTransferLine(io: Io, env: Env): TransferLine {
  let startedMs = env.now();
  let saidMs = 0;
  let what = '';
  const say = (about: string, text: (seconds: number) => string): void => {
    if (!io.isTerminal) return;
    const nowMs = env.now();
    if (about !== what) [what, startedMs] = [about, nowMs];
    if (nowMs - saidMs < LIVE_MS) return;
    saidMs = nowMs;
    io.live(`${about}: ${text(Math.max(nowMs - startedMs, 1) / 1000)}`);
  };
  return {
    progress: ({ direction, name, bytes, totalBytes }) =>
      say(`${direction}ing ${name}`, (seconds) => {
        const of = totalBytes === undefined ? '' : ` of ${formatBytes(totalBytes)}`;
        return `${formatBytes(bytes)}${of}, ${formatBytes(bytes / seconds)}/s`;
      }),
    wait: {
      signal: io.signal,
      onPoll: (job: Job) =>
        say(`job ${job.id} (${job.operationName})`, (seconds) => `${job.status}, ${Math.round(seconds)} s`),
    },
    end() {
      if (io.isTerminal) io.live('');
    },
  };
}
