import { ChunkLines, type OpenTable } from '../chunk-lines.ts';
import { RawEmitter } from '../emit-raw.ts';
import { seenCells, type ItemPlan } from '../plan.ts';
import type { LinesAsked, LinesMade } from './messages.ts';
import { planFrom, tablesOf } from './plan-data.ts';

/** A table is not open yet: who has the structure opens it. */
class NotOpen extends Error {}

/** Makes the lines of chunks by plans that come with them. */
export class LinesHere {
  readonly #plans = new Map<number, readonly ItemPlan[]>();
  readonly #lines: ChunkLines;
  readonly #emitter: RawEmitter;
  #opened: number[] = [];
  #asked: LinesAsked | undefined;

  constructor() {
    this.#lines = new ChunkLines(
      (plan) => this.#open(plan),
      () => this.#asked?.alias,
    );
    this.#emitter = new RawEmitter(this.#lines);
  }

  /** Makes lines; undefined where the rows do not fit the plan, or are the first of a table. */
  make(asked: LinesAsked): LinesMade | undefined {
    const { plan, data, bytes, rows, look, place, wanted } = asked;
    this.#asked = asked;
    // a new plan takes the place of those before it
    if (data !== undefined) {
      this.#plans.clear();
      this.#lines.reset();
      this.#plans.set(plan, tablesOf(planFrom(data)));
    }
    const plans = this.#plans.get(plan) ?? [];
    const [root] = plans;
    if (root === undefined) return undefined;
    const raw = { bytes, start: 0, end: bytes.length, rows };
    const cells = look.types === true ? plans.map(({ row }) => seenCells(row)) : [];
    for (const row of cells) for (const cell of row) cell?.forget();
    try {
      do {
        this.#opened = [];
        const seen = this.#emitter.rows(root, raw, { extra: {}, look }, place, wanted);
        if (seen !== undefined) {
          const values = cells.map((row) => row.map((cell) => cell?.firsts ?? []));
          return { opened: this.#opened, batches: this.#batches(), seen: seen.places, values };
        }
      } while (this.#emitter.isToRepeat);
    } catch (error) {
      if (!(error instanceof NotOpen)) throw error;
    }
    return undefined;
  }

  #open(plan: ItemPlan): OpenTable {
    const number = this.#numberOf(plan);
    const table = this.#asked?.tables[number];
    if (table === undefined) throw new NotOpen();
    this.#opened.push(number);
    const { name, cells, entries } = table;
    return { name, plan, pageExtras: { cells, entries } };
  }

  #numberOf(plan: ItemPlan): number {
    return this.#plans.get(this.#asked?.plan ?? -1)?.indexOf(plan) ?? -1;
  }

  #batches(): LinesMade['batches'] {
    return [...this.#lines.batches()].map(({ table, bytes, rows }) => ({
      table: this.#numberOf(table.plan),
      bytes: new Uint8Array(bytes),
      rows,
    }));
  }
}
