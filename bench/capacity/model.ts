/**
 * A queueing model of the service: runs arrive at random, wait for a runner, ask an API page by page, push, and wait for a
 * worker that loads their tables. All times are milliseconds.
 */

export const PARTS = ['api', 'runner', 'worker', 'database', 'store', 'around'] as const;
/** Spender of processor time; `around` is the clients and the API that is asked, where they are on the same machine. */
export type Part = (typeof PARTS)[number];
export type Spent = Readonly<Record<Part, number>>;

/** Costs of a run of one page, and of each further page. */
export interface RunCosts {
  readonly run: Spent;
  readonly page: Spent;
  /** Time that a run waits for other things than processors and its API: the disk, the network, looks by the clock. */
  readonly idleMs: number;
  /** Processor time of all processes in a second without work. */
  readonly standing: Spent;
}

export interface Traffic {
  readonly runsPerDay: number;
  readonly pages: number;
  /** Until the API answers. */
  readonly latencyMs: number;
}

export interface Layout {
  /** Processors of each machine. */
  readonly cores: readonly number[];
  /** The machines that a part is on, by their place in `cores`; its work is spread over them evenly. */
  readonly places: Readonly<Record<Part, readonly number[]>>;
  /** Runs at a time, over all runners. */
  readonly runs: number;
  /** Loads at a time, over all workers. */
  readonly loads: number;
  /** How long a commit keeps all others out; 0 where commits go on beside each other. */
  readonly commitMs: number;
}

export interface Outcome {
  readonly arrived: number;
  readonly ended: number;
  /** From the request to the end of the run, of those that ended. */
  readonly medianMs: number;
  readonly p95Ms: number;
  /** The same until a runner began. */
  readonly waitP95Ms: number;
  /** The share of time that something was busy, by its name, the busiest first. */
  readonly busy: readonly (readonly [name: string, share: number])[];
}

/** The longest that one piece of work keeps a processor while others wait for it. */
const SLICE_MS = 20;

type Step =
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'work'; readonly part: Part; readonly ms: number }
  | { readonly kind: 'take'; readonly from: Place }
  | { readonly kind: 'give'; readonly from: Place };
type Place = 'commit' | 'loads' | 'runs';

/** @param random numbers from 0 to 1, such as those of {@link randomFrom} */
export function simulate(
  traffic: Traffic,
  layout: Layout,
  costs: RunCosts,
  { seconds, random }: { readonly seconds: number; readonly random: () => number },
): Outcome {
  const clock = createClock();
  const standing = (machine: number): number =>
    PARTS.reduce((sum, part) => {
      const places = layout.places[part];
      return places.includes(machine) ? sum + costs.standing[part] / places.length : sum;
    }, 0);
  const machines = layout.cores.map((cores, i) =>
    // Processes without work take their share of every second.
    createStation(clock, `machine ${i + 1}`, cores, 1 / Math.max(0.05, 1 - standing(i) / 1000 / cores)),
  );
  const stations = {
    runs: createStation(clock, 'runners', layout.runs),
    loads: createStation(clock, 'workers', layout.loads),
    commit: createStation(clock, 'commits', 1),
  };
  const turns = new Map<Part, number>();
  const machineOf = (part: Part): Station => {
    const turn = (turns.get(part) ?? 0) + 1;
    turns.set(part, turn);
    const places = layout.places[part];
    const machine = machines[places[turn % places.length] ?? 0];
    if (machine === undefined) throw new Error(`There is no machine for ${part}.`);
    return machine;
  };

  const waits: number[] = [];
  const times: number[] = [];
  let arrived = 0;
  const begin = (): void => {
    arrived++;
    const asked = clock.now();
    const steps = stepsOf(traffic, layout, costs, () => waits.push(clock.now() - asked));
    const machine = new Map<Part, Station>();
    const go = (): void => {
      for (;;) {
        const { value: step, done } = steps.next();
        if (done === true) {
          times.push(clock.now() - asked);
          return;
        }
        if (step.kind === 'give') {
          stations[step.from].give();
          continue;
        }
        if (step.kind === 'take') stations[step.from].take(go);
        else if (step.kind === 'pause') clock.after(step.ms, go);
        else {
          // A run stays with its runner; its requests go to whichever process is next.
          const on = machine.get(step.part) ?? machineOf(step.part);
          if (step.part === 'runner') machine.set(step.part, on);
          on.work(step.ms, go);
        }
        return;
      }
    };
    go();
  };
  const meanMs = 86_400_000 / traffic.runsPerDay;
  const endMs = seconds * 1000;
  const arrive = (): void => {
    begin();
    clock.after(-Math.log(1 - random()) * meanMs, arrive);
  };
  clock.after(-Math.log(1 - random()) * meanMs, arrive);
  clock.runUntil(endMs);
  times.sort((a, b) => a - b);
  waits.sort((a, b) => a - b);
  return {
    arrived,
    ended: times.length,
    medianMs: at(times, 0.5),
    p95Ms: at(times, 0.95),
    waitP95Ms: at(waits, 0.95),
    busy: [...machines, ...Object.values(stations)]
      .map((station) => [station.name, station.busyMs() / endMs / station.places] as const)
      .toSorted(([, one], [, other]) => other - one),
  };
}

function* stepsOf(
  { pages, latencyMs }: Traffic,
  { commitMs }: Layout,
  { run, page, idleMs }: RunCosts,
  begun: () => void,
): Generator<Step, undefined> {
  yield { kind: 'take', from: 'runs' };
  begun();
  yield { kind: 'work', part: 'runner', ms: run.runner };
  yield { kind: 'pause', ms: latencyMs };
  for (let n = 1; n < pages; n++) {
    for (const part of PARTS) if (page[part] > 0) yield { kind: 'work', part, ms: page[part] };
    yield { kind: 'pause', ms: latencyMs };
  }
  for (const part of ['api', 'around', 'store'] as const) yield { kind: 'work', part, ms: run[part] };
  yield { kind: 'take', from: 'loads' };
  yield { kind: 'work', part: 'worker', ms: run.worker };
  yield { kind: 'work', part: 'database', ms: run.database };
  if (commitMs > 0) {
    yield { kind: 'take', from: 'commit' };
    yield { kind: 'pause', ms: commitMs };
    yield { kind: 'give', from: 'commit' };
  }
  yield { kind: 'give', from: 'loads' };
  yield { kind: 'pause', ms: Math.max(0, idleMs - commitMs) };
  yield { kind: 'give', from: 'runs' };
}

/** Processor time of all parts. */
export function sumOf(spent: Spent): number {
  return PARTS.reduce((sum, part) => sum + spent[part], 0);
}

/** The same numbers for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Places that are had one after the other, in the order in which they were asked for. */
interface Station {
  readonly name: string;
  readonly places: number;
  /** Milliseconds that places were taken, summed over all of them. */
  busyMs(): number;
  take(then: () => void): void;
  give(): void;
  /** Takes a place for a piece of work, in turns with others that wait. */
  work(ms: number, then: () => void): void;
}

function createStation(clock: Clock, name: string, places: number, slowness = 1): Station {
  let free = places;
  let busy = 0;
  let since = 0;
  const waiting: (() => void)[] = [];
  let first = 0;
  const count = (): void => {
    busy += (places - free) * (clock.now() - since);
    since = clock.now();
  };
  const station: Station = {
    name,
    places,
    busyMs() {
      count();
      return busy;
    },
    take(then) {
      if (free === 0) {
        waiting.push(then);
        return;
      }
      count();
      free--;
      then();
    },
    give() {
      const next = waiting[first];
      if (next === undefined) {
        count();
        free++;
        return;
      }
      // A shift of a long list would move all of it.
      if (++first > 1000) {
        waiting.splice(0, first);
        first = 0;
      }
      next();
    },
    work(ms, then) {
      const slice = Math.min(SLICE_MS, ms);
      station.take(() =>
        clock.after(slice * slowness, () => {
          station.give();
          if (ms > slice) station.work(ms - slice, then);
          else then();
        }),
      );
    },
  };
  return station;
}

interface Clock {
  now(): number;
  after(ms: number, then: () => void): void;
  runUntil(ms: number): void;
}

/** Does what was asked for in the order of its times: a binary heap. */
function createClock(): Clock {
  const heap: { at: number; then: () => void }[] = [];
  let now = 0;
  const isBefore = (one: number, other: number): boolean =>
    (heap[one]?.at ?? Infinity) < (heap[other]?.at ?? Infinity);
  const swap = (one: number, other: number): void => {
    const [a, b] = [heap[one], heap[other]];
    if (a !== undefined && b !== undefined) [heap[one], heap[other]] = [b, a];
  };
  return {
    now: () => now,
    after(ms, then) {
      let at = heap.push({ at: now + ms, then }) - 1;
      for (let up = (at - 1) >> 1; at > 0 && isBefore(at, up); up = (at - 1) >> 1) {
        swap(at, up);
        at = up;
      }
    },
    runUntil(end) {
      for (let next = heap[0]; next !== undefined && next.at <= end; next = heap[0]) {
        const last = heap.pop();
        if (last !== undefined && heap.length > 0) {
          heap[0] = last;
          for (let at = 0; ;) {
            const least = [2 * at + 1, 2 * at + 2].reduce((a, b) => (isBefore(b, a) ? b : a), at);
            if (least === at) break;
            swap(at, least);
            at = least;
          }
        }
        now = next.at;
        next.then();
      }
      now = end;
    },
  };
}

/** The value that this share of them is below. */
export function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
