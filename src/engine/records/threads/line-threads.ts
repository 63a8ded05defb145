import type { Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';
import path from 'node:path';
import { RunError } from '../../../lib/errors.ts';
import type { ItemPlan } from '../plan.ts';
import { LinesHere } from './lines-here.ts';
import { planData } from './plan-data.ts';
import type { LineMakers, LinesAsked, LinesMade, RowsAsked, WorkerMessage } from './messages.ts';

/** Bytes of rows in pages that are worth it before a thread is started: a smaller run is done before it would help. */
const START_BYTES = 2 << 20;

/** Bytes of a page that is worth the way to another thread. */
const LEAST_BYTES = 1 << 16;

/** Bytes of a page that may be under way: more would be too much memory. */
const MOST_BYTES = 8 << 20;

/** Bytes of a page for each thread. */
const SHARE_BYTES = 1 << 17;

/** Parts that a thread is given before the first of them is made, so that it need not wait for the next one. */
const AHEAD = 2;

/** Memory of parts is a multiple of so many bytes, so that it has room for the next one, too. */
const ROUND_BYTES = 1 << 14;

/** Memory for young objects of a thread, in MB: it makes few. */
const YOUNG_MB = 8;

const MOST_THREADS = 4;

export interface LineThreadsOptions {
  /** Threads at most; 0 for none. */
  readonly most: number;
  /** Bytes of rows before the first is started. */
  readonly startBytes?: number;
  readonly leastBytes?: number;
  /** Parts that a thread is given before the first of them is made; with 0 all are left to {@link LineThreads.help}. */
  readonly ahead?: number;
}

/**
 * Returns how many threads there may be: as given, else as `GEX_THREADS` says, else one for each processor but that of
 * this thread.
 *
 * @throws {RunError} `command.invalid` when the variable is no number
 */
export function threadsOf(given: number | undefined): number {
  const text = process.env['GEX_THREADS'] ?? '';
  if (given === undefined && text !== '' && !/^\d{1,3}$/.test(text))
    throw new RunError('command.invalid', `GEX_THREADS is a number from 0 on, and not “${text}”.`, {
      hint: 'Write GEX_THREADS=0 for none, or leave it out.',
    });
  const others = process.getBuiltinModule('node:os').availableParallelism() - 1;
  return Math.min(MOST_THREADS, given ?? (text === '' ? others : Number(text)));
}

interface Task {
  readonly plan: ItemPlan;
  readonly part: RowsAsked;
  readonly done: (made: LinesMade | undefined) => void;
}

/**
 * Threads that make the lines of pages while this one asks for the next, which makes some of them, too, where it would
 * wait for them. They are started when a run is large.
 */
export class LineThreads implements LineMakers {
  readonly #options: Required<LineThreadsOptions>;
  #threads: LineThread[] = [];
  /** Parts that no thread was given yet. */
  #tasks: Task[] = [];
  readonly #here = new LinesHere();
  readonly #plans = new GivenPlans();
  #bytes = 0;
  #isBroken = false;
  #isClosed = false;

  constructor({
    most,
    startBytes = START_BYTES,
    leastBytes = LEAST_BYTES,
    ahead = AHEAD,
  }: LineThreadsOptions) {
    this.#options = { most, startBytes, leastBytes, ahead };
  }

  takes(bytes: number): 'none' | 'practice' | 'all' {
    const { most, startBytes, leastBytes } = this.#options;
    if (most === 0 || this.#isBroken || this.#isClosed) return 'none';
    // a run of other pages would have threads for nothing
    if (bytes < leastBytes || bytes > MOST_BYTES) return 'none';
    this.#bytes += bytes;
    if (this.#bytes < startBytes) return 'none';
    this.#start(Math.min(most, Math.ceil(bytes / SHARE_BYTES)));
    if (this.#threads.some(({ isReady }) => isReady)) return 'all';
    return this.#threads.some(({ isNew }) => isNew) ? 'practice' : 'none';
  }

  /** Starts all threads, and waits until they are there; they need no practice then. */
  async start(): Promise<void> {
    this.#start(this.#options.most);
    await Promise.all(this.#threads.map(async (thread) => await thread.start()));
  }

  #start(count: number): void {
    while (this.#threads.length < count)
      this.#threads.push(new LineThread({ onFree: () => this.#give(), onBroken: () => this.#break() }));
  }

  practise(plan: ItemPlan, part: RowsAsked): void {
    for (const thread of this.#threads) if (thread.isNew) thread.practise(plan, part);
  }

  async make(plan: ItemPlan, parts: readonly RowsAsked[]): Promise<readonly (LinesMade | undefined)[]> {
    const made = parts.map(
      async (part) =>
        await new Promise<LinesMade | undefined>((done) => void this.#tasks.push({ plan, part, done })),
    );
    this.#give();
    const [first] = parts;
    if (first !== undefined) this.practise(plan, first);
    return await Promise.all(made);
  }

  /** Makes the lines of one part here, for who would wait for them; false where threads have them all. */
  help(): boolean {
    const task = this.#tasks.shift();
    if (task === undefined) return false;
    const { plan, part, done } = task;
    let made: LinesMade | undefined;
    try {
      made = this.#here.make(this.#plans.asked(plan, part));
    } finally {
      done(made);
    }
    return true;
  }

  /** Gives parts to threads that have little to do. */
  #give(): void {
    for (let given = 0; given < this.#options.ahead; given++)
      for (const thread of this.#threads) {
        if (!thread.isReady || thread.waiting > given) continue;
        const task = this.#tasks.shift();
        if (task === undefined) return;
        thread.make(task);
      }
  }

  #break(): void {
    this.#isBroken = !this.#isClosed;
    for (const { done } of this.#tasks.splice(0)) done(undefined);
  }

  /** Ends all threads. What is under way is not made. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.splice(0).map(async (thread) => await thread.end()));
  }
}

/** Plans that were given to one maker of lines, which keeps the last of them. */
class GivenPlans {
  #plan: ItemPlan | undefined;
  #count = 0;

  asked(plan: ItemPlan, part: RowsAsked): LinesAsked {
    const isKnown = this.#plan === plan;
    if (!isKnown) this.#count++;
    this.#plan = plan;
    return { ...part, plan: this.#count, data: isKnown ? undefined : planData(plan) };
  }
}

interface LineThreadEvents {
  /** A part was made. */
  readonly onFree: () => void;
  /** The thread has ended. */
  readonly onBroken: () => void;
}

/** One thread, which is asked in turn. */
class LineThread {
  readonly #worker: Worker;
  readonly #waiting: Task['done'][] = [];
  readonly #plans = new GivenPlans();
  /** Memory of parts that were made. */
  readonly #spare: Uint8Array[] = [];
  #state: 'starting' | 'new' | 'practising' | 'ready' | 'ended' = 'starting';
  /** Kept when the thread has started, or will never do so. */
  readonly #started: Promise<void>;

  constructor({ onFree, onBroken }: LineThreadEvents) {
    const { Worker: Thread } = process.getBuiltinModule('node:worker_threads');
    this.#worker = new Thread(workerFile(), {
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const { promise, resolve: started } = Promise.withResolvers<void>();
    this.#started = promise;
    this.#worker.unref();
    this.#worker.on('message', (message: WorkerMessage) => {
      if (message === 'started') {
        this.#state = 'new';
        started();
      } else if (message === 'practised') this.#state = 'ready';
      else {
        if (this.#spare.length < AHEAD) this.#spare.push(message.bytes);
        this.#answer(message.made);
        onFree();
      }
    });
    const leave = (): void => {
      this.#state = 'ended';
      started();
      while (this.#waiting.length > 0) this.#answer(undefined);
      onBroken();
    };
    this.#worker.on('error', leave);
    this.#worker.on('exit', leave);
  }

  get isReady(): boolean {
    return this.#state === 'ready';
  }

  /** It has started, and made nothing yet. */
  get isNew(): boolean {
    return this.#state === 'new';
  }

  async start(): Promise<void> {
    await this.#started;
    if (this.#state === 'new') this.#state = 'ready';
  }

  /** Makes the lines of a part for nothing: the first ones take many times as long, as nothing is compiled yet. */
  practise(plan: ItemPlan, part: RowsAsked): void {
    this.#state = 'practising';
    this.#ask(plan, part, true);
  }

  /** Parts that it was given and has not made. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Makes the lines of a part, whose bytes are copied. */
  make({ plan, part, done }: Task): void {
    this.#worker.ref();
    this.#waiting.push(done);
    this.#ask(plan, part, false);
  }

  #ask(plan: ItemPlan, part: RowsAsked, isPractice: boolean): void {
    const bytes = this.#copy(part.bytes);
    const asked: LinesAsked = this.#plans.asked(plan, { ...part, bytes });
    this.#worker.postMessage(isPractice ? { ...asked, isPractice } : asked, [bytes.buffer]);
  }

  /** Copies bytes into memory of their own, which was used before if it is large enough. */
  #copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const { length } = bytes;
    const memory = this.#spare.pop()?.buffer;
    const copy =
      memory instanceof ArrayBuffer && memory.byteLength >= length
        ? new Uint8Array(memory, 0, length)
        : new Uint8Array(new ArrayBuffer(Math.ceil(length / ROUND_BYTES) * ROUND_BYTES), 0, length);
    copy.set(bytes);
    return copy;
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
