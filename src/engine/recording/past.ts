import type { ExchangeJson, ExchangeMoment } from './exchange.ts';
import { beginningOf, keyOf, type Position } from './position.ts';
import type { BodyPlace, RecordFile, StoredRecord } from './record-file.ts';
import { exchangeOf, recordsOf, type RecordingScan } from './scan.ts';

/** An exchange of the past, and where it lies. */
export interface Recorded {
  readonly json: ExchangeJson;
  /** Which exchange of the recording it is, from 0. */
  readonly number: number;
  readonly body: BodyPlace;
  /** Start of its record in the file. */
  readonly at: number;
}

/**
 * Exchanges that were recorded before a run was resumed; each can be taken once. The file is read only as far as
 * needed: because a run sends its requests in nearly the order in which they were recorded, little has to be
 * remembered.
 */
export class Past {
  readonly #file: RecordFile;
  readonly #drops: RecordingScan['drops'];
  readonly #records: Iterator<StoredRecord>;
  readonly #end: number;
  #read = 0;
  /** Exchanges that were read but not taken yet, by position and request. */
  readonly #waiting = new Map<string, { readonly at: number; readonly number: number }>();
  readonly #beginnings = new Map<string, { readonly moment: ExchangeMoment; waiting: number }>();

  constructor(file: RecordFile, { from, end, drops }: RecordingScan) {
    this.#file = file;
    this.#drops = drops;
    this.#end = end;
    this.#records = recordsOf(file, from)[Symbol.iterator]();
  }

  /** Takes the answer to a request at its place; undefined when it was not recorded. */
  take(position: Position, digest: string): Recorded | undefined {
    const wanted = waitingKey(position, digest);
    while (!this.#waiting.has(wanted)) if (!this.#readOn()) return undefined;
    const found = this.#waiting.get(wanted);
    this.#waiting.delete(wanted);
    this.#leave(beginningOf(position));
    const record = found && this.#file.recordAt(found.at);
    if (found === undefined || record === undefined)
      throw new Error('the recording was whole and is not any more');
    return { json: exchangeOf(record), number: found.number, body: record.body, at: record.at };
  }

  /** Returns the recorded beginning of the invocations at this position. */
  moment(position: Position): ExchangeMoment | undefined {
    const wanted = beginningOf(position);
    while (!this.#beginnings.has(wanted)) if (!this.#readOn()) return undefined;
    return this.#beginnings.get(wanted)?.moment;
  }

  /** Reads one exchange more. False at the end. */
  #readOn(): boolean {
    for (let next = this.#records.next(); next.done !== true; next = this.#records.next()) {
      const { kind, at } = next.value;
      if (at >= this.#end) return false;
      if (kind !== 'exchange') continue;
      const number = this.#read++;
      const { position, digest, began, pausedBeforeMs } = exchangeOf(next.value);
      if (this.#drops.has(position, at)) continue;
      const key = waitingKey(position, digest);
      if (!this.#waiting.has(key))
        this.#arrive(beginningOf(position), { now: began, pausedMs: pausedBeforeMs ?? 0 });
      this.#waiting.set(key, { at, number });
      return true;
    }
    return false;
  }

  #arrive(beginning: string, moment: ExchangeMoment): void {
    const known = this.#beginnings.get(beginning);
    if (known === undefined) this.#beginnings.set(beginning, { moment, waiting: 1 });
    else known.waiting++;
  }

  #leave(beginning: string): void {
    const known = this.#beginnings.get(beginning);
    if (known !== undefined && --known.waiting === 0) this.#beginnings.delete(beginning);
  }
}

function waitingKey(position: Position, digest: string): string {
  return `${keyOf(position)} ${digest}`;
}
