import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';

/**
 * Keeps what a run leaves in its data folder where another machine finds it, so that a run whose runner is killed is
 * taken over where it was, into an empty folder. A runner does
 * this, in this order:
 *
 * 1. It gives the run's token a new secret and keeps its id: by the id the service knows what an earlier attempt asked
 *    for, and the old secret ends whatever is left of that attempt.
 * 2. It restores the folder.
 * 3. It starts `gex run --data FOLDER …` with {@link Keeper.args}, {@link Keeper.environment} and a channel:
 *    `stdio: ['ignore', 'pipe', 'pipe', 'ipc']`; and gives the child to {@link Keeper.start}. The child changes nothing in
 *    the storage before what it depends on is kept. It ends by itself when the runner is gone.
 * 4. It ends the child when {@link Keeper.lost} is aborted.
 * 5. It stops the keeper when the child has exited, before it tells anybody how the run ended.
 *
 * A later attempt is given the options of the first one, but for `--restart` and `--restart-job`.
 */
export interface Keeper {
  /** Aborted when another attempt has taken the run over, or nothing can be kept any more: the child is to be ended. */
  readonly lost: AbortSignal;
  /** For `gex run`, besides what the run is. */
  readonly args: readonly string[];
  /** For the process of `gex run`, besides its own. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Claims the run for this attempt, and brings back what an earlier one left, or the run that this one goes on with.
   *
   * @throws {StorageError} when the object store fails, or a later attempt has the run
   */
  restore(): Promise<Restored>;
  /** Begins to keep what the child writes. */
  start(child: ChildProcess): void;
  /**
   * Keeps what is left, and ends. What only a later attempt would need is removed when the run succeeded.
   *
   * @param end `ended`: the run has failed or was cancelled, and a new run may go on with it. `handedOn`: another attempt
   * is to take it over.
   */
  stop(end: 'ended' | 'handedOn' | 'succeeded'): Promise<void>;
}

export interface KeeperOptions {
  readonly store: KeptStore;
  /** Id of the run. */
  readonly run: string;
  /** Which attempt this is, from 1; every one that takes the run over has a higher number. */
  readonly attempt: number;
  /** The data folder of the run. */
  readonly folder: string;
  /** Id of an earlier run of the same configuration that failed: this one goes on with it, when it has nothing itself. */
  readonly continues?: string | undefined;
  /** Milliseconds after which what was written is kept at the latest. Default: 30 seconds. */
  readonly everyMs?: number;
  /** Bytes after which it is kept at once. Default: 16 MB. */
  readonly segmentBytes?: number;
}

/** What was brought back. */
export interface Restored {
  /** Which attempt had left it; undefined when there was nothing. */
  readonly attempt: number | undefined;
  readonly bytes: number;
}

/** What is needed of an object store; that of the service is one. Keys begin with `recordings/`. */
export interface KeptStore {
  readonly hasEncryption: boolean;
  read(key: string): Promise<Readable>;
  write(key: string, body: Readable | Uint8Array, options: { readonly encrypted: boolean }): Promise<unknown>;
  list(prefix: string): AsyncIterable<{ readonly key: string; readonly bytes: number }>;
  delete(keys: readonly string[]): Promise<void>;
  deletePrefix(prefix: string): Promise<void>;
}

/** Opens the keeper of one attempt. */
export type OpenKeeper = (options: KeeperOptions) => Keeper;

/** Removes all that is kept of a run. */
export type RemoveKept = (store: KeptStore, run: string) => Promise<void>;

/**
 * The recording of a run that has ended, or of what it has come to, as `gex run --record` writes it; `gex explain FILE`
 * takes it. Undefined when nothing is kept.
 */
export type ReadRecording = (store: KeptStore, run: string) => Promise<Readable | undefined>;
