import type { ChildProcess } from 'node:child_process';
import type { Env } from '../../../../lib/env.ts';
import type { Log } from '../../../../lib/log.ts';
import type { KeptStore } from './store.ts';

/**
 * Keeps what a run leaves in its data folder where another machine finds it, so that a run whose runner is killed is
 * taken over where it was, into an empty folder. A runner does this, in this order:
 *
 * 1. It gives the run's token a new secret and keeps its id: by the id the service knows what an earlier attempt asked
 *    for, and the old secret ends whatever is left of that attempt. A run that goes on with another one gets the id of
 *    that one's token, for the same reason.
 * 2. It restores the folder, which is made anew.
 * 3. It starts `gex run --data FOLDER …` with {@link Keeper.args}, {@link Keeper.environment} and a channel:
 *    `stdio: ['ignore', 'pipe', 'pipe', 'ipc']`; and gives the child to {@link Keeper.start}. The child changes nothing in
 *    the storage before what it depends on is kept. It ends by itself when the runner is gone.
 * 4. It ends the child when {@link Keeper.lost} is aborted.
 * 5. It stops the keeper when the child has exited, and writes down how the run ended only then.
 * 6. When that is written down and the run has succeeded, it trims what is kept to what can be looked at.
 *
 * A later attempt is given the options of the first one, but for `--restart`, and but for `--restart-job` when an own
 * attempt had left something.
 */
export interface Keeper {
  /** Aborted when another attempt has taken the run over, or another run has: the child is to be ended. */
  readonly lost: AbortSignal;
  /** For `gex run`, besides what the run is. */
  readonly args: readonly string[];
  /** For the process of `gex run`, besides its own. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Claims the run for this attempt, and brings back what an earlier one left, or the run that this one goes on with.
   *
   * @throws {RunError} `run.lost` when a later attempt has the run; `recording.invalid` when what may have been pushed in
   * part cannot be brought back. And what the object store throws
   */
  restore(): Promise<Restored>;
  /** Begins to keep what the child writes. It may be called again, when a child has ended and another one is started. */
  start(child: ChildProcess): void;
  /**
   * Keeps what is left, and ends. It does not fail: what cannot be kept is said in the log.
   *
   * @param end `handedOn`: another attempt is to take the run over; `lost`: it has been taken away, so nothing is kept
   */
  stop(end: 'ended' | 'handedOn' | 'lost'): Promise<void>;
}

export interface KeeperOptions {
  readonly store: KeptStore;
  /** Id of the run. */
  readonly run: string;
  /** Which attempt this is, from 1; every one that takes the run over has a higher number. */
  readonly attempt: number;
  /** The data folder of this attempt alone: a process of an earlier one may still be at work in its own. */
  readonly folder: string;
  readonly log: Log;
  /**
   * Id of the last run of the same configuration and rows, when it failed: this one goes on with it, when it has nothing
   * itself. Undefined for a run that is to begin anew.
   */
  readonly continues?: string | undefined;
  /** Milliseconds after which what was written is kept at the latest. Default: 5 seconds. */
  readonly everyMs?: number;
  /** Pages after which it is kept at once. Default: 50. */
  readonly everyPages?: number;
  /** Bytes after which it is kept at once. Default: 16 MB. */
  readonly segmentBytes?: number;
  /** Bytes that the compressed recording of a run that has ended may have to be kept. Default: 100 MB. */
  readonly keptBytes?: number;
  readonly env?: Env;
}

/** What was brought back. */
export interface Restored {
  /** Which attempt of this run had left it; undefined when there was nothing, or another run has left it. */
  readonly attempt: number | undefined;
  readonly bytes: number;
}
