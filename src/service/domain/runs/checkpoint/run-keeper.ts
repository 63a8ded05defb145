import type { ChildProcess } from 'node:child_process';
import { systemEnv } from '../../../../lib/env.ts';
import { reasonOf, RunError } from '../../../../lib/errors.ts';
import { keepRecords, recordArgs } from '../run-artifacts.ts';
import { listenToProgress } from '../run-progress.ts';
import type { Keeper, KeeperOptions, RestoredCheckpoint } from './checkpoint-types.ts';
import { isKeepMessage, RUN_VARIABLE, type KeptMessage } from './channel.ts';
import { KeptFolder } from './folder.ts';
import { keysOf, readKept, writeKept, type Kept } from './kept.ts';
import { Places } from './places.ts';
import { restoreFolder } from './restore.ts';
import { putObject } from './store.ts';

const DEFAULTS = { everyMs: 5000, everyPages: 50, segmentBytes: 16 * 1024 * 1024, env: systemEnv };

type KnownOptions = KeeperOptions & typeof DEFAULTS;

/** Milliseconds between two checks whether there is enough to store. */
const LOOK_MS = 500;
/** Milliseconds between two tries, when the object store fails. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** Milliseconds that a runner has for its last checkpoint when it is ended. */
const LAST_MS = 10_000;

/** See {@link Keeper}. */
export class RunKeeper implements Keeper {
  readonly environment: Keeper['environment'];
  readonly args: Keeper['args'];
  readonly #options: KnownOptions;
  readonly #places: Places;
  readonly #folder: KeptFolder;
  readonly #losing = new AbortController();
  readonly #stopping = new AbortController();
  #hasClaimed = false;
  #isWatching = false;
  #objects = 0;
  /** Pages of the process at work. */
  #pages = 0;
  /** Files of the last index. */
  #files: Kept['files'] = {};
  #round: Promise<void> | undefined;
  #nextRound: Promise<void> | undefined;
  #stopAnswering = (): void => {};

  constructor(given: KeeperOptions) {
    const options = { ...DEFAULTS, ...given };
    this.#options = options;
    this.#places = new Places(options.run);
    this.#folder = new KeptFolder(options.folder);
    this.environment = { [RUN_VARIABLE]: options.run };
    this.args = recordArgs(this.#folder.folder);
  }

  get lost(): AbortSignal {
    return this.#losing.signal;
  }

  async restore(): Promise<RestoredCheckpoint> {
    const { store, attempt, run, log } = this.#options;
    const { attempts, by } = await this.#places.claims(store);
    if (!this.#hasClaimed && (attempts.some((each) => each >= attempt) || by !== undefined)) throw taken();
    await store.write(this.#places.claim(attempt), EMPTY, { encrypted: store.hasEncryption });
    this.#hasClaimed = true;
    // behind the claim: every attempt that stored something since has seen it
    const own = await this.#latest(this.#places, attempts);
    const found = own ?? (await this.#other());
    const { files, bytes } = await restoreFolder(this.#folder.folder, found?.files ?? {}, { store, log });
    if (own === undefined) return { attempt: undefined, bytes };
    this.#files = files;
    this.#folder.know(files);
    log.info(`Run ${run} is taken over from attempt ${own.attempt}`, { bytes });
    return { attempt: own.attempt, bytes };
  }

  start(child: ChildProcess): void {
    const answer = (message: unknown): void => {
      if (isKeepMessage(message)) void this.#answer(child, message.number);
    };
    this.#stopAnswering();
    child.on('message', answer);
    this.#pages = 0;
    listenToProgress(child, ({ pages }) => (this.#pages = pages));
    this.#stopAnswering = () => void child.off('message', answer);
    if (!this.#isWatching) void this.#watch();
    this.#isWatching = true;
  }

  async stop(end: 'ended' | 'handedOn' | 'lost'): Promise<void> {
    const { env, log, run } = this.#options;
    this.#stopAnswering();
    this.#stopping.abort();
    if (end === 'lost' || this.lost.aborted) return;
    const done = new AbortController();
    const tooLate = async (): Promise<void> => {
      await env.sleep(LAST_MS, done.signal);
      throw new Error(`it took longer than ${LAST_MS / 1000} seconds`);
    };
    try {
      const last = this.#keepAll();
      await (end === 'handedOn' ? Promise.race([last, tooLate()]) : last);
      if (end !== 'ended') return;
      await this.#requireHeld(); // nothing else may have been left to keep
      const { store, keptBytes } = this.#options;
      await keepRecords({ store, run, folder: this.#folder.folder, log, keptBytes });
    } catch (error) {
      log.warn(`The last of run ${run} could not be kept: ${reasonOf(error)}`);
    } finally {
      done.abort();
    }
  }

  /** Returns the newest checkpoint of the earlier attempts. */
  async #latest(
    places: Places,
    attempts: readonly number[],
  ): Promise<{ readonly attempt: number; readonly files: Kept['files'] } | undefined> {
    for (const attempt of attempts.toReversed()) {
      const files = await readKept(this.#options.store, places.index(attempt));
      if (files !== undefined) return { attempt, files };
    }
    return undefined;
  }

  /** Returns the checkpoint of the run that this one continues. It belongs to this one from now on. */
  async #other(): Promise<{ readonly files: Kept['files'] } | undefined> {
    const { store, run, continues, log } = this.#options;
    if (continues === undefined) return undefined;
    const places = new Places(continues);
    const { by } = await places.claims(store);
    if (by !== undefined && by !== run) {
      log.info(`Run ${run} starts over: another run has already continued run ${continues}`);
      return undefined;
    }
    await store.write(places.continued(run), EMPTY, { encrypted: store.hasEncryption });
    const { attempts } = await places.claims(store);
    return await this.#latest(places, attempts);
  }

  async #answer(child: ChildProcess, number: number): Promise<void> {
    const refusal = await this.#keepAtLast().then(
      () => undefined,
      (error: unknown) => reasonOf(error),
    );
    const message: KeptMessage = { gex: 'kept', number, ...(refusal === undefined ? {} : { refusal }) };
    child.send(message, () => {
      // one that has ended needs no answer
    });
  }

  /** Tries until it is done, or not needed any more. */
  async #keepAtLast(): Promise<void> {
    const { env, log } = this.#options;
    const over = AbortSignal.any([this.lost, this.#stopping.signal]);
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        this.lost.throwIfAborted();
        return await this.#keepAll();
      } catch (error) {
        over.throwIfAborted();
        log.warn(`The run waits, as nothing can be kept: ${reasonOf(error)}`);
        await env.sleep(waitMs, over);
      }
    }
  }

  async #watch(): Promise<void> {
    const { env, log, everyMs, everyPages, segmentBytes } = this.#options;
    const over = AbortSignal.any([this.lost, this.#stopping.signal]);
    let isFailing = false;
    let pages = 0;
    for (let last = env.now(); !over.aborted;) {
      await env.sleep(Math.min(LOOK_MS, everyMs), over).catch(() => undefined);
      if (over.aborted) return;
      const isEarly = env.now() - last < everyMs && Math.abs(this.#pages - pages) < everyPages;
      if (isEarly && this.#folder.newBytes < segmentBytes) continue;
      last = env.now();
      pages = this.#pages;
      try {
        await this.#keepAll();
        isFailing = false;
      } catch (error) {
        if (!over.aborted && !isFailing) log.warn(`The checkpoint of the run failed: ${reasonOf(error)}`);
        isFailing = true;
      }
    }
  }

  /** Stores everything that was written before the call. */
  async #keepAll(): Promise<void> {
    const before = this.#round;
    this.#nextRound ??= (async () => {
      await before?.catch(() => undefined);
      this.#nextRound = undefined;
      this.#round = this.#keep();
      await this.#round;
    })();
    await this.#nextRound;
  }

  async #keep(): Promise<void> {
    const { store, attempt, segmentBytes } = this.#options;
    let isChecked = false;
    const put = async (bytes: Uint8Array): Promise<string> => {
      // one that was stopped for a while, and comes back, leaves nothing
      if (!isChecked) await this.#requireHeld();
      isChecked = true;
      const key = this.#places.object(attempt, ++this.#objects);
      await putObject(store, key, bytes);
      return key;
    };
    const files = await this.#folder.keep({ put, segmentBytes });
    if (isSame(files, this.#files)) return;
    await writeKept(store, this.#places.index(attempt), files);
    const before = this.#files;
    this.#files = files;
    // behind the index: an attempt that has claimed the run since may not have read it
    await this.#requireHeld();
    const used = new Set(Object.values(files).flatMap(keysOf));
    const unused = Object.values(before)
      .flatMap(keysOf)
      .filter((key) => !used.has(key));
    // what stays because of a failure goes with all that is kept
    if (unused.length > 0) await store.delete(unused).catch(() => undefined);
  }

  /** Releases the run when another attempt, or another run, has claimed it. */
  async #requireHeld(): Promise<void> {
    const { store, attempt } = this.#options;
    const { attempts, by } = await this.#places.claims(store);
    if (by !== undefined || attempts.some((each) => each > attempt)) this.#losing.abort(taken());
    this.lost.throwIfAborted();
  }
}

const EMPTY = new Uint8Array(0);

function isSame(files: Kept['files'], before: Kept['files']): boolean {
  const names = Object.keys(files);
  return names.length === Object.keys(before).length && names.every((name) => files[name] === before[name]);
}

function taken(): RunError {
  return new RunError('run.lost', 'Another attempt has taken this run over.', {
    audience: 'application',
    hint: 'Nothing is to be done: it goes on where this one was.',
  });
}
