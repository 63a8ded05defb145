import type { ApiResponse } from '../shared/message.ts';
import { responseOf, type ExchangeJson } from './exchange.ts';
import { FORMAT_VERSION } from './format.ts';
import type { RecordingHead } from './head.ts';
import { keyOf, type Position, type PositionStep } from './position.ts';
import type { RecordFile, StoredRecord } from './record-file.ts';

/** Summary of a recording, from one pass over all of it. Its size does not depend on the exchanges. */
export interface RecordingScan {
  readonly head: RecordingHead;
  /** Start of the exchanges. */
  readonly from: number;
  /** End of the last whole record; the rest behind it is of a write that was cut. */
  readonly end: number;
  readonly exchanges: number;
  /** The exchange that came last. */
  readonly last: ExchangeJson | undefined;
  /** Position with the highest page, among the exchanges of the last job at the top. */
  readonly furthest: Position | undefined;
  /** Names of the jobs at the top that have exchanges. */
  readonly jobs: ReadonlySet<string>;
  /** Exchanges without a note, by their number. */
  readonly unnoted: ReadonlySet<number>;
  readonly drops: Drops;
  /** All jobs had ended. */
  readonly isFinished: boolean;
}

/** Exchanges that are not to be used any more: what was recorded before the drop, and not what came behind it. */
export class Drops {
  readonly #places = new Map<string, number>();

  /** @param key of a position, or a job at the top by name */
  add(key: string, at: number): void {
    this.#places.set(key, at);
  }

  has(position: Position, at: number): boolean {
    if (this.#places.size === 0) return false;
    const [top] = position;
    const last = Math.max(
      this.#places.get(keyOf(position)) ?? -1,
      this.#places.get(jobKey(top?.job ?? '')) ?? -1,
    );
    return at < last;
  }
}

/** The JSON of a `drop`: one exchange, or all of a job at the top. */
export type DropJson = { readonly position: Position } | { readonly job: string };

export function dropKey(drop: DropJson): string {
  return 'job' in drop ? jobKey(drop.job) : keyOf(drop.position);
}

function jobKey(job: string): string {
  return `job ${job}`;
}

/**
 * Looks at the whole file, check sums included. Undefined when it has no head that this version can read.
 *
 * @param at where its head is, in a file of several recordings
 */
export function scan(file: RecordFile, at = 0): RecordingScan | undefined {
  const first = file.recordAt(at);
  const head = first?.kind === 'head' ? headOf(first) : undefined;
  if (first === undefined || head === undefined) return undefined;
  const unnoted = new Set<number>();
  const drops = new Drops();
  const jobs = new Set<string>();
  let exchanges = 0;
  let last: ExchangeJson | undefined;
  let furthest: Position | undefined;
  let isFinished = false;
  let end = first.end;
  for (const record of recordsOf(file, first.end)) {
    if ((record.kind === 'exchange' || record.kind === 'part') && !file.isBodyWhole(record)) break;
    // parts behind the last answer are of one that did not come to its end
    if (record.kind === 'part') continue;
    if (record.kind === 'limit') {
      end = record.end;
      continue;
    }
    if (record.kind === 'exchange') {
      last = exchangeOf(record);
      furthest = further(furthest, last.position);
      unnoted.add(exchanges++);
      const [top] = last.position;
      if (top !== undefined) jobs.add(top.job);
    } else if (record.kind === 'note') unnoted.delete((JSON.parse(record.json) as NoteJson).of);
    else if (record.kind === 'drop') drops.add(dropKey(JSON.parse(record.json) as DropJson), record.at); // as the writer made it
    isFinished = record.kind === 'end';
    end = record.end;
  }
  return { head, from: first.end, end, exchanges, last, furthest, jobs, unnoted, drops, isFinished };
}

/** Yields the records from a place up to the next head, or the end of the complete ones. */
export function* recordsOf(file: RecordFile, from: number): Generator<StoredRecord> {
  for (let record = file.recordAt(from); record !== undefined; record = file.recordAt(record.end)) {
    if (record.kind === 'head') return;
    yield record;
  }
}

export function exchangeOf(record: StoredRecord): ExchangeJson {
  return JSON.parse(record.json) as ExchangeJson; // its check sum is that of what the writer made
}

/** Returns the answer in a record that begins at a place. */
export function recordedAnswer(file: RecordFile, at: number): ApiResponse {
  const record = file.recordAt(at);
  if (record?.kind !== 'exchange') throw new Error(`the recording has no answer at ${at}`);
  return responseOf(exchangeOf(record), { url: '' }, { file, place: record.body });
}

/** JSON of a note on an exchange. */
export interface NoteJson {
  /** The number of the exchange, from 0. */
  readonly of: number;
}

function headOf(record: StoredRecord): RecordingHead | undefined {
  const head = JSON.parse(record.json) as RecordingHead; // see above; of another version when the next line says so
  return head.format === FORMAT_VERSION ? head : undefined;
}

/** Returns the page for the order of positions; the steps of an export come before its pages. */
function pageOf({ page, export: step }: PositionStep): number {
  return step === undefined ? page : 0;
}

function further(known: Position | undefined, position: Position): Position {
  const [a, b] = [known?.[0], position[0]];
  if (a === undefined || b === undefined || known === undefined) return position;
  const order = [
    (b.iteration ?? 0) - (a.iteration ?? 0),
    b.index - a.index,
    (b.over ?? 0) - (a.over ?? 0) || (b.window ?? 0) - (a.window ?? 0),
    pageOf(b) - pageOf(a),
  ];
  return (order.find((difference) => difference !== 0) ?? 0) > 0 ? position : known;
}
