import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { whenDatabaseIsBack } from '../../platform/database/retry-policy.ts';
import { appendRequests } from '../../stores/metadata/run-requests.ts';
import type { HeldRun } from '../../stores/metadata/run-leases.ts';

export interface RunRequestOptions {
  readonly meta: Meta;
  /** Run as it was claimed. */
  readonly run: HeldRun;
  readonly env: Env;
  readonly log: Log;
}

/**
 * Writes down the requests of a run as its process tells of them, a piece after the other. Without them the run goes on
 * all the same. What waits for a database that is away has a bound: a process tells of some thousand requests at most.
 */
export class RunRequestWriter {
  readonly #options: RunRequestOptions;
  #told: string[] = [];
  /** Requests that may be written, or may not: they go again as the piece that they were. */
  #piece: readonly string[] = [];
  #writing = Promise.resolve();

  constructor(options: RunRequestOptions) {
    this.#options = options;
  }

  /** Takes requests, each as JSON without a line break. */
  add(requests: readonly string[]): void {
    this.#told.push(...requests);
  }

  /** Writes all that was told; where that fails, it goes with what is written next. */
  async write(): Promise<void> {
    await this.#behindOthers(async (work) => await work());
  }

  /** Writes all that was told, and waits for a database that is away: a run that has ended takes no more. */
  async end(): Promise<void> {
    await this.#behindOthers(async (work) => await whenDatabaseIsBack(this.#options.env, work));
  }

  /** A run may end as soon as this is done: it is also done with what was begun before. */
  async #behindOthers(doing: (work: () => Promise<void>) => Promise<void>): Promise<void> {
    const { run, log } = this.#options;
    this.#writing = this.#writing.then(async () => {
      await doing(async () => await this.#writeAll()).catch((error: unknown) =>
        log.warn('Run requests could not be stored', { run: run.id, detail: String(error) }),
      );
    });
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { meta, run } = this.#options;
    for (;;) {
      if (this.#piece.length === 0) this.#piece = this.#told.splice(0);
      if (this.#piece.length === 0) return;
      await appendRequests(meta, run, this.#piece);
      this.#piece = [];
    }
  }
}
