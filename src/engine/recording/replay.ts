import { RunError } from '../../lib/errors.ts';
import type { ApiRequest, ApiResponse } from '../shared/message.ts';
import type { Secrets } from '../../lib/secrets.ts';
import {
  requestDigest,
  responseOf,
  shownRequest,
  timesOf,
  type ExchangeMoment,
  type ExchangeRequest,
} from './exchange.ts';
import type { RecordedAnswer, Ask, Recording } from './exchanges.ts';
import { beginningOf, keyOf, positionOf, type RunPlace } from './position.ts';
import type { RecordFile } from './record-file.ts';
import { exchangeOf, recordedAnswer, recordsOf, type RecordingScan } from './scan.ts';

/**
 * Plays a recording again: every request is answered from it, and none goes to the API. A request is looked for at its
 * place first, then anywhere, as jobs may have moved since; equal requests get their answers in the order of then.
 */
export class Replay implements Recording {
  readonly startedAt: number;
  readonly broken: AbortSignal = new AbortController().signal;
  readonly #file: RecordFile;
  readonly #scanned: RecordingScan;
  readonly #secrets: Secrets;
  /** By the digest of the request: what is left of it, in order. */
  readonly #answers = new Map<string, Candidate[]>();
  readonly #moments = new Map<string, ExchangeMoment>();
  /** Answers in which secrets of the configuration are masked. */
  readonly masked: number = 0;

  /** @param file closed with the replay */
  constructor(file: RecordFile, scanned: RecordingScan, secrets: Secrets) {
    this.#file = file;
    this.#scanned = scanned;
    this.#secrets = secrets;
    this.startedAt = scanned.head.startedAt;
    let count = 0;
    for (const record of this.#records()) {
      const { position, digest, began, pausedBeforeMs, isMasked } = exchangeOf(record);
      if (isMasked === true) this.masked++;
      const number = count++;
      const known = this.#answers.get(digest);
      const candidate = {
        key: keyOf(position),
        at: record.at,
        number,
        isUsed: false,
        isBad: scanned.drops.has(position, record.at),
      };
      if (known === undefined) this.#answers.set(digest, [candidate]);
      else known.push(candidate);
      this.#moments.set(beginningOf(position), { now: began, pausedMs: pausedBeforeMs ?? 0 });
    }
  }

  moment(place: RunPlace): ExchangeMoment {
    return this.#moments.get(beginningOf(positionOf(place, 1))) ?? { now: this.startedAt, pausedMs: 0 };
  }

  async ask({ place, page, request, signal }: Ask): Promise<RecordedAnswer> {
    const found = this.#find(keyOf(positionOf(place, page)), requestDigest(request, this.#secrets));
    const record = found === undefined ? undefined : this.#file.recordAt(found.at);
    if (found === undefined || record === undefined) throw this.#missing(request, place, page);
    found.isUsed = true;
    await new Promise<void>((resolve) => setImmediate(resolve)); // signals come through
    signal.throwIfAborted();
    const json = exchangeOf(record);
    const { body } = record;
    const response = responseOf(json, request, { file: this.#file, place: body });
    return {
      ...timesOf(json),
      response,
      isRecorded: true,
      kept: { number: found.number, body, at: record.at },
    };
  }

  note(): void {}

  limit(): void {}

  drop(): void {}

  bytes(at: number, length: number): Uint8Array {
    return this.#file.bytes(at, length);
  }

  again(at: number): ApiResponse {
    return recordedAnswer(this.#file, at);
  }

  finish(): void {}

  close(): void {
    this.#file.close();
  }

  #find(key: string, digest: string): Candidate | undefined {
    const candidates = this.#answers.get(digest) ?? [];
    const open = candidates.filter(({ isUsed }) => !isUsed);
    const here = open.filter((candidate) => candidate.key === key);
    return here.find(isGood) ?? here[0] ?? open.find(isGood) ?? candidates.findLast(isGood);
  }

  #missing(request: ApiRequest, { step: { job } }: RunPlace, page: number): RunError {
    const wanted = shownRequest(request, this.#secrets);
    let nearest: { readonly text: string; readonly far: number } | undefined;
    for (const record of this.#records()) {
      const { request: known, position } = exchangeOf(record);
      const far = distance(lineOf(known), lineOf(wanted));
      const step = position.at(-1);
      if (nearest === undefined || far < nearest.far)
        nearest = { text: `${lineOf(known)} (page ${step?.page ?? 1} of “${step?.job ?? ''}”)`, far };
    }
    const other =
      nearest === undefined ? 'It has no answers at all.' : `The nearest that it has is ${nearest.text}.`;
    return new RunError('replay.missing', `The recording has no answer to ${lineOf(wanted)}. ${other}`, {
      where: { job, page },
      hint: 'The configuration asks for something else than it did when it was recorded: run it without --replay, or change that back.',
    });
  }

  #records(): ReturnType<typeof exchangesOf> {
    return exchangesOf(this.#file, this.#scanned);
  }
}

interface Candidate {
  /** Key of its position. */
  readonly key: string;
  readonly at: number;
  /** Which exchange of the recording it is, from 0. */
  readonly number: number;
  isUsed: boolean;
  /** It could not be used, and perhaps was asked for again. */
  readonly isBad: boolean;
}

const isGood = ({ isBad }: Candidate): boolean => !isBad;

function* exchangesOf(file: RecordFile, { from, end }: RecordingScan): ReturnType<typeof recordsOf> {
  for (const record of recordsOf(file, from)) {
    if (record.at >= end) return;
    if (record.kind === 'exchange') yield record;
  }
}

const SHOWN = 300;

function lineOf({ method, url, body }: ExchangeRequest): string {
  const line = `${method} ${url}${body === undefined ? '' : ` with ${body}`}`;
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}

/** Characters between the beginning and the end that two texts have in common. */
function distance(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return Math.max(a.length, b.length) - head - tail;
}
