import type { ChildProcess } from 'node:child_process';
import type { Env } from '../../../../lib/env.ts';
import type { Log } from '../../../../lib/log.ts';
import type { KeptStore } from './store.ts';

/**
 * Checkpointer: stores the data folder of a run where another machine finds it, so that a run whose runner is killed
 * continues from there, in an empty folder. A runner does this, in this order:
 *
 * 1. It gives the run's token a new secret and keeps its id: by the id the service knows the requests of an earlier
 *    attempt, and the old secret stops working, so that processes left of that attempt can do nothing. A run that
 *    continues another one gets the id of that one's token, for the same reason.
 * 2. It restores the folder, which is made again.
 * 3. It starts `gex run --data FOLDER …` with {@link Keeper.args}, {@link Keeper.environment} and a channel:
 *    `stdio: ['ignore', 'pipe', 'pipe', 'ipc']`; and passes the child to {@link Keeper.start}. The child changes
 *    nothing in the storage before the data that the change depends on is stored. It ends by itself when the runner is
 *    gone.
 * 4. It ends the child when {@link Keeper.lost} is aborted.
 * 5. It stops the checkpointer when the child has exited, and stores the end of the run only then.
 * 6. When that is stored and the run has succeeded, it reduces the checkpoint to the artifacts for users.
 *
 * A later attempt gets the options of the first one, except `--restart`, and except `--restart-job` when an own
 * attempt had left a checkpoint.
 */
export interface Keeper {
  /** Aborted when another attempt has taken the run over, or another run has: the child is to be ended. */
  readonly lost: AbortSignal;
  /** Arguments for `gex run`, besides those of the run. */
  readonly args: readonly string[];
  /** Environment variables for the process of `gex run`, besides its own. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Claims the run for this attempt, and restores the checkpoint of an earlier one, or of the run that this one
   * continues.
   *
   * @throws {RunError} `run.lost` when a later attempt has the run; `recording.invalid` when an output that may have
   * been pushed in part cannot be restored. And the errors of the object store
   */
  restore(): Promise<RestoredCheckpoint>;
  /**
   * Begins to store the output of the child. May be called again, when a child has ended and another one is started.
   */
  start(child: ChildProcess): void;
  /**
   * Stores the rest, and ends. It does not fail: data that cannot be stored is reported in the log.
   *
   * @param end `handedOn`: another attempt is to continue the run; `lost`: the run has been claimed by another, so
   * nothing is stored
   */
  stop(end: 'ended' | 'handedOn' | 'lost'): Promise<void>;
}

export interface KeeperOptions {
  readonly store: KeptStore;
  /** Id of the run. */
  readonly run: string;
  /** Number of this attempt, from 1; every later one has a higher number. */
  readonly attempt: number;
  /** The data folder of this attempt alone: a process of an earlier one may still be at work in its own. */
  readonly folder: string;
  readonly log: Log;
  /**
   * Id of the last run of the same configuration and rows, when it failed: this one continues it, when it has no
   * checkpoint itself. Undefined for a run that starts from the beginning.
   */
  readonly continues?: string | undefined;
  /** Milliseconds after which new data is stored at the latest. Default: 5 seconds. */
  readonly everyMs?: number;
  /** Pages after which new data is stored at once. Default: 50. */
  readonly everyPages?: number;
  /** Bytes after which new data is stored at once. Default: 16 MB. */
  readonly segmentBytes?: number;
  /** Bytes that the compressed recording of a run that has ended may have to be kept. Default: 100 MB. */
  readonly keptBytes?: number;
  readonly env?: Env;
}

/** Result of a restore. */
export interface RestoredCheckpoint {
  /** Attempt of this run that left the checkpoint; undefined when there was none, or another run has left it. */
  readonly attempt: number | undefined;
  readonly bytes: number;
}
