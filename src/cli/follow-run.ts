import type { Env } from '../lib/env.ts';
import { RunError, StorageError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Run, RunLogPart, Runs } from '../storage/client/index.ts';
import type { ShowLine } from './log-line.ts';

/** Commands that can be pasted. */
export interface Ways {
  readonly follow: string;
  readonly cancel: string;
}

export interface FollowOptions {
  readonly id: string;
  readonly ways: Ways;
  readonly log: Log;
  readonly show: ShowLine;
  readonly env: Env;
  readonly signal: AbortSignal;
}

/** Between two looks at a log that has nothing new. */
const LOOK_MS = 500;
/** Between two attempts to reach a service that does not answer, at most. */
const AWAY_MS = 15_000;

/**
 * Shows the log of a run until it has ended.
 *
 * @returns the run then
 * @throws {RunError} `run.interrupted` when the signal was aborted: the run goes on
 */
export async function followRun(runs: Pick<Runs, 'detail' | 'log'>, options: FollowOptions): Promise<Run> {
  const { id, ways, log, show, env, signal } = options;
  const detail = async (): Promise<Run> => await answered(async () => await runs.detail(id), options);
  try {
    for (let offset = 0, hasSaid = false; ;) {
      const from = offset;
      const part: RunLogPart = await answered(async () => await runs.log(id, { offset: from }), options);
      // The error at the end of a run is printed by the command.
      for (const line of part.lines) if (line['isEnd'] !== true) show(line);
      offset = part.next;
      if (part.isEnded) return await detail();
      if (part.lines.length > 0) continue;
      if (offset === 0 && !hasSaid) {
        hasSaid = true;
        if ((await detail()).status === 'waiting')
          log.info('It waits for a runner, or for the run of this configuration before it');
      }
      await env.sleep(LOOK_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new RunError('run.interrupted', `The run ${id} goes on in the service.`, {
      cause: error,
      hint: [`Follow it again with: ${ways.follow}`, `End it with: ${ways.cancel}`],
    });
  }
}

/** Asks until there is an answer: the run goes on while the service, or the way to it, is away. */
async function answered<T>(ask: () => Promise<T>, { env, log, signal }: FollowOptions): Promise<T> {
  for (let waitMs = LOOK_MS, isFirst = true; ; waitMs = Math.min(waitMs * 2, AWAY_MS), isFirst = false) {
    try {
      const answer = await ask();
      if (!isFirst) log.info('The service answers again');
      return answer;
    } catch (error) {
      const isUnavailable =
        error instanceof StorageError && ['storage.unreachable', 'storage.failed'].includes(error.code);
      if (!isUnavailable || signal.aborted) throw error;
      if (isFirst) log.warn(`The service is away, and is asked again until it answers: ${error.message}`);
      await env.sleep(waitMs, signal);
    }
  }
}
