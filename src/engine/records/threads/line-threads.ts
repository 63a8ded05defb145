import type { Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';
import path from 'node:path';
import { RunError } from '../../../lib/errors.ts';
import type { ItemPlan } from '../plan.ts';
import { planData } from './plan-data.ts';
import type { LinesAsked, LinesMade } from './messages.ts';

/** Bytes of rows before a thread is started: a smaller run is done before it would help. */
const START_BYTES = 4 << 20;

/** Bytes of a page that is worth the way to another thread. */
const LEAST_BYTES = 1 << 16;

/** Chunks of a page that may be under way: more would be too much memory. */
const MOST_CHUNKS = 8;

/** Memory for young objects of a thread, in MB: it makes few. */
const YOUNG_MB = 8;

const MOST_THREADS = 4;

export interface LineThreadsOptions {
  /** Threads at most; 0 for none. */
  readonly most: number;
  /** Bytes of rows before the first is started. */
  readonly startBytes?: number;
  readonly leastBytes?: number;
}

/**
 * Returns how many threads there may be: as given, else as `GEX_THREADS` says, else one for each processor but two: that
 * of this thread, and one for what else there is to do. On two a thread was seen to cost time.
 *
 * @throws {RunError} `command.invalid` when the variable is no number
 */
export function threadsOf(given: number | undefined): number {
  const text = process.env['GEX_THREADS'] ?? '';
  if (given === undefined && text !== '' && !/^\d{1,3}$/.test(text))
    throw new RunError('command.invalid', `GEX_THREADS is a number from 0 on, and not “${text}”.`, {
      hint: 'Write GEX_THREADS=0 for none, or leave it out.',
    });
  const others = Math.max(0, process.getBuiltinModule('node:os').availableParallelism() - 2);
  return Math.min(MOST_THREADS, given ?? (text === '' ? others : Number(text)));
}

/** Threads that make the lines of pages while this one asks for the next. They are started when a run is large. */
export class LineThreads {
  readonly #options: Required<LineThreadsOptions>;
  #threads: LineThread[] = [];
  #bytes = 0;
  #isBroken = false;
  #isClosed = false;

  constructor({ most, startBytes = START_BYTES, leastBytes = LEAST_BYTES }: LineThreadsOptions) {
    this.#options = { most, startBytes, leastBytes };
  }

  /**
   * Counts the rows of a page.
   *
   * @param sizes bytes of its chunks
   * @returns whether threads are there for it
   */
  takes(sizes: readonly number[]): boolean {
    const { most, startBytes, leastBytes } = this.#options;
    if (most === 0 || this.#isBroken || this.#isClosed) return false;
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    this.#bytes += bytes;
    if (this.#bytes < startBytes) return false;
    const useful = Math.min(most, Math.max(1, sizes.length));
    this.#start(useful);
    return bytes >= leastBytes && sizes.length <= MOST_CHUNKS && this.#threads.some(({ isReady }) => isReady);
  }

  /** Starts all threads, and waits until they are there. */
  async start(): Promise<void> {
    this.#start(this.#options.most);
    await Promise.all(this.#threads.map(async ({ ready }) => await ready));
  }

  #start(count: number): void {
    while (this.#threads.length < count)
      this.#threads.push(new LineThread(() => (this.#isBroken = !this.#isClosed)));
  }

  /** Makes the lines of chunks, whose bytes are copied; undefined for one that cannot be made so. */
  async make(
    plan: ItemPlan,
    chunks: readonly Omit<LinesAsked, 'plan' | 'data'>[],
  ): Promise<readonly (LinesMade | undefined)[]> {
    const ready = this.#threads.filter(({ isReady }) => isReady);
    return await Promise.all(
      chunks.map(async (chunk, i) => await ready[i % ready.length]?.make(plan, chunk)),
    );
  }

  /** Ends all threads. What is under way is not made. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.splice(0).map(async (thread) => await thread.end()));
  }
}

/** One thread, which is asked in turn. */
class LineThread {
  readonly #worker: Worker;
  readonly #waiting: ((made: LinesMade | undefined) => void)[] = [];
  /** The plan that it has. */
  #plan: ItemPlan | undefined;
  #plans = 0;
  #isReady = false;
  /** Kept when the thread has started, or will never do so. */
  readonly ready: Promise<void>;

  constructor(onBroken: () => void) {
    const { Worker: Thread } = process.getBuiltinModule('node:worker_threads');
    this.#worker = new Thread(workerFile(), {
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const { promise, resolve: started } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#worker.unref();
    this.#worker.on('message', (message: 'ready' | LinesMade | undefined) => {
      if (message === 'ready') {
        this.#isReady = true;
        started();
      } else this.#answer(message);
    });
    const leave = (): void => {
      this.#isReady = false;
      started();
      onBroken();
      while (this.#waiting.length > 0) this.#answer(undefined);
    };
    this.#worker.on('error', leave);
    this.#worker.on('exit', leave);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  async make(plan: ItemPlan, chunk: Omit<LinesAsked, 'plan' | 'data'>): Promise<LinesMade | undefined> {
    if (!this.#isReady) return undefined;
    const isKnown = this.#plan === plan;
    if (!isKnown) this.#plans++;
    this.#plan = plan;
    const bytes = new Uint8Array(chunk.bytes);
    const asked: LinesAsked = {
      ...chunk,
      bytes,
      plan: this.#plans,
      data: isKnown ? undefined : planData(plan),
    };
    this.#worker.ref();
    return await new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#worker.postMessage(asked, [bytes.buffer]);
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #answer(made: LinesMade | undefined): void {
    this.#waiting.shift()?.(made);
    if (this.#waiting.length === 0) this.#worker.unref();
  }
}

/** Returns the file of a thread: beside this one, or where the package has it when this one is a part of a bundle. */
function workerFile(): string {
  const here = fileURLToPath(import.meta.url);
  if (here.endsWith('.ts')) return path.join(path.dirname(here), 'line-worker.ts');
  const root = path.dirname(createRequire(import.meta.url).resolve('generic-extractor/package.json'));
  return path.join(root, 'dist/engine/records/threads/line-worker.js');
}
