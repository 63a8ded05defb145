import type { Env } from '../../lib/env.ts';
import { HttpError, RunError } from '../../lib/errors.ts';
import type { ApiResponse } from '../shared/message.ts';
import { encodeExact, type AnyObject } from '../../lib/json/index.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { shellWord } from '../../lib/shell-word.ts';
import {
  ExchangeWriter,
  requestDigest,
  responseOf,
  type ExchangeFacts,
  type ExchangeMoment,
  timesOf,
} from './exchange.ts';
import type { RecordedAnswer, Ask, AskApi, KeptAnswers, Recording, BodySpool } from './exchanges.ts';
import { RecordBuffer } from './format.ts';
import type { RecordingHead } from './head.ts';
import type { LimitJson } from './limit.ts';
import { PartSink, RecordedBody, ScratchSink } from './large.ts';
import { Past } from './past.ts';
import { positionOf, type RunPlace } from './position.ts';
import { RecordFile, type StoredRecord } from './record-file.ts';
import { dropKey, recordedAnswer, type DropJson, type RecordingScan } from './scan.ts';
import { turn } from '../../lib/turn.ts';

export interface RecorderOptions {
  readonly env: Env;
  readonly secrets: Secrets;
}

const NOTHING = new Uint8Array(0);

/** Notes that wait to be written together with the next exchange. */
const MOST_NOTES_BYTES = 1 << 16;

/** Records a run while it goes on. What was recorded before it was stopped is answered from the file. */
export class Recorder implements Recording {
  readonly head: RecordingHead;
  readonly #file: RecordFile;
  readonly #options: RecorderOptions;
  readonly #scanned: RecordingScan | undefined;
  readonly #past: Past | undefined;
  readonly #pausedMs: number;
  readonly #breaking = new AbortController();
  readonly #writer: ExchangeWriter;
  readonly #notes = new RecordBuffer();
  /** In the file. */
  #exchanges: number;
  #scratches = 0;
  /** Nothing was asked for yet since the run goes on. */
  #isAtSeam: boolean;

  private constructor(
    file: RecordFile,
    head: RecordingHead,
    options: RecorderOptions,
    scanned?: RecordingScan,
  ) {
    this.#file = file;
    this.head = head;
    this.#options = options;
    this.#writer = new ExchangeWriter(options.secrets);
    this.#scanned = scanned;
    this.#past = scanned === undefined ? undefined : new Past(file, scanned);
    this.#exchanges = scanned?.exchanges ?? 0;
    this.#isAtSeam = scanned !== undefined;
    this.#pausedMs = scanned === undefined ? 0 : pauseBefore(scanned, options.env.now());
  }

  /** @param path of a file that is made, in place of one that was there */
  static create(path: string, head: RecordingHead, options: RecorderOptions): Recorder {
    const file = RecordFile.create(path);
    file.write('head', JSON.stringify(head));
    return new Recorder(file, head, options);
  }

  /**
   * Goes on with a recording.
   *
   * @param file open for writing; it is closed with the recorder
   * @param restart names of jobs at the top that are asked for again
   */
  static goOn(
    file: RecordFile,
    scanned: RecordingScan,
    restart: readonly string[],
    options: RecorderOptions,
  ): Recorder {
    file.cut(scanned.end);
    file.write('session', JSON.stringify({ at: options.env.now() }));
    const recorder = new Recorder(file, scanned.head, options, scanned);
    for (const job of restart) recorder.#drop({ job });
    return recorder;
  }

  get startedAt(): number {
    return this.head.startedAt;
  }

  get broken(): AbortSignal {
    return this.#breaking.signal;
  }

  moment(place: RunPlace): ExchangeMoment {
    const known = this.#past?.moment(positionOf(place, 1));
    return known ?? { now: this.#options.env.now(), pausedMs: this.#pausedMs };
  }

  async ask(ask: Ask, send: AskApi): Promise<RecordedAnswer> {
    const { request, signal } = ask;
    const digest = requestDigest(request, this.#options.secrets);
    const recorded = this.#past?.take(positionOf(ask.place, ask.page), digest);
    if (recorded === undefined) return await this.#live(ask, digest, send);
    await turn();
    signal.throwIfAborted();
    const { json, number, body, at } = recorded;
    const response = responseOf(json, request, { file: this.#file, place: body });
    return { ...timesOf(json), response, isRecorded: true, kept: { number, body, at } };
  }

  note({ number }: KeptAnswers, facts: AnyObject): void {
    if (this.#isNoted(number)) return;
    const text = encodeExact(facts);
    this.#notes.add('note', `{"of":${number}${text === '{}' ? '' : ','}${text.slice(1)}`);
    if (this.#notes.length >= MOST_NOTES_BYTES) this.#flush();
  }

  drop(place: RunPlace, page: number): void {
    this.#drop({ position: positionOf(place, page) });
  }

  bytes(at: number, length: number): Uint8Array {
    return this.#file.bytes(at, length);
  }

  again(at: number): ApiResponse {
    return recordedAnswer(this.#file, at);
  }

  limit({ at, origin, credential, sent, from, to, why }: LimitJson): void {
    const json: LimitJson = {
      at,
      origin,
      ...(credential === undefined ? {} : { credential }),
      sent,
      from,
      to,
      why,
    };
    this.#notes.add('limit', JSON.stringify(json));
  }

  /** Marks the end of all jobs. */
  finish(): void {
    this.#flush();
    this.#file.write('end', JSON.stringify({ at: this.#options.env.now() }));
  }

  /** True when there is no answer to go on with. */
  get isEmpty(): boolean {
    return this.#exchanges === 0;
  }

  /** Closes the file, which stays. Closing twice is harmless. */
  close(): void {
    try {
      this.#flush();
    } catch {
      // the disk is full, perhaps: notes follow from the answers
    }
    this.#file.close();
  }

  /** Requests an answer, and writes it to the file before it is used, so that it is never requested twice. */
  async #live(ask: Ask, digest: string, send: AskApi): Promise<RecordedAnswer> {
    const { env, secrets } = this.#options;
    const { place, page, began, request } = ask;
    const sentAt = env.now();
    let response: ApiResponse;
    try {
      response = await send(this.#spool());
    } catch (error) {
      throw this.#isAtSeam && page > 1 ? refusal(error, place, page) : error;
    }
    const at = env.now();
    this.#isAtSeam = false;
    const { status, url, attempts, large, unpacked } = response;
    if (large !== undefined && !(large instanceof RecordedBody))
      throw new Error('a large body came from elsewhere and cannot be kept');
    const body = large === undefined ? response.body : NOTHING;
    const facts: ExchangeFacts = {
      position: positionOf(place, page),
      digest,
      status,
      url: url === request.url ? undefined : secrets.redactUrl(url),
      began: began.now,
      at,
      ms: at - sentAt,
      attempts,
      large: large?.stored,
      unpacked,
      pausedMs: this.#pausedMs === 0 ? undefined : this.#pausedMs,
      pausedBeforeMs: began.pausedMs === 0 ? undefined : began.pausedMs,
    };
    const written = this.#keep(this.#writer.text(request, response.headers, ask.headers, facts), body);
    return {
      ...timesOf(facts),
      response,
      isRecorded: false,
      kept: { number: this.#exchanges++, body: written.body, at: written.at },
    };
  }

  #spool(): BodySpool {
    return {
      open: () => new PartSink(this.#file, (error) => this.#breaking.abort(error)),
      scratch: () => new ScratchSink(`${this.#file.path}.${process.pid}.${++this.#scratches}.tmp`),
    };
  }

  #keep(json: string, body: Uint8Array): StoredRecord {
    this.broken.throwIfAborted();
    try {
      return this.#file.write('exchange', json, body, this.#notes);
    } catch (error) {
      this.#breaking.abort(error);
      throw error;
    }
  }

  #isNoted(number: number): boolean {
    const { exchanges = 0, unnoted } = this.#scanned ?? {};
    return number < exchanges && unnoted?.has(number) === false;
  }

  #drop(drop: DropJson): void {
    this.#flush();
    const { at } = this.#file.write('drop', JSON.stringify(drop));
    this.#scanned?.drops.add(dropKey(drop), at);
  }

  #flush(): void {
    if (this.#notes.length > 0) this.#file.append(this.#notes);
  }
}

/** Converts an error of the API that refuses to continue its earlier answers; any other error stays as it is. */
function refusal(error: unknown, { step: { job } }: RunPlace, page: number): unknown {
  if (!(error instanceof HttpError)) return error;
  const { status } = error.details;
  if (typeof status !== 'number' || status < 400 || status > 499) return error;
  const from = `The run was to go on after page ${page - 1} of “${job}”, and the API refused that.`;
  const hint = `What it gave to go on with may have expired. Begin this job anew with --restart-job ${shellWord(job)}, or all with --restart.`;
  return new RunError('run.refused', `${from} ${error.message}`, {
    cause: error,
    where: error.where,
    details: error.details,
    hint: status === 401 || status === 403 ? `${error.hint ?? ''} ${hint}`.trim() : hint,
  });
}

function pauseBefore({ last }: RecordingScan, now: number): number {
  if (last === undefined) return 0;
  return Math.max(0, now - (last.at - (last.pausedMs ?? 0)));
}
