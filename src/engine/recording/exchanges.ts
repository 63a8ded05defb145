import type { Env } from '../../lib/env.ts';
import type { ApiRequest, ApiResponse, FileRule } from '../shared/message.ts';
import type { AnyObject } from '../../lib/json/index.ts';
import type { ExchangeMoment } from './exchange.ts';
import type { LimitJson } from './limit.ts';
import type { RunPlace } from './position.ts';
import type { BodyPlace } from './record-file.ts';

/** A request at its place in the run. */
export interface Ask {
  readonly place: RunPlace;
  readonly page: number;
  /** When the run of the job began. */
  readonly began: ExchangeMoment;
  readonly request: ApiRequest;
  /** Names of the response headers that the pagination reads, in lower case. */
  readonly headers: readonly string[];
  readonly signal: AbortSignal;
}

export interface RecordedAnswer {
  readonly response: ApiResponse;
  /** Milliseconds since 1970 when it came, by a clock that stands still while the run is stopped. */
  readonly now: number;
  /** When it was asked for and when it had come, by the clock of this machine; undefined where nobody looked. */
  readonly asked?: { readonly from: number; readonly to: number };
  /** True when it was not asked for, as it was recorded before. */
  readonly isRecorded: boolean;
  /** Location of the exchange in the recording; undefined when nothing is kept. */
  readonly kept: KeptAnswers | undefined;
}

export interface KeptAnswers {
  /** Names the exchange: which one of the recording it is, from 0. */
  readonly number: number;
  readonly body: BodyPlace;
  /** Start of its record in the file. */
  readonly at: number;
}

/** Storage that {@link Exchanges.ask} offers to the sender for bodies that are too large for memory. */
export type BodySpool = Pick<FileRule, 'open' | 'scratch'>;

/** A request to the API, sent when its answer was not recorded. */
export type AskApi = (spool: BodySpool) => Promise<ApiResponse>;

/** Answers the requests of a run: from the API, and what was recorded before from the recording. */
export interface Exchanges {
  /** Returns the beginning of the invocations at this place: the present, or the recorded time. */
  moment(place: RunPlace): ExchangeMoment;
  /** @param send asks the API */
  ask(ask: Ask, send: AskApi): Promise<RecordedAnswer>;
  /** Keeps what followed from an answer. */
  note(kept: KeptAnswers, facts: AnyObject): void;
  /** Drops an answer that could not be used: a resumed run requests it again. */
  drop(place: RunPlace, page: number): void;
  /** Reads a part of a kept body. */
  bytes(at: number, length: number): Uint8Array;
  /** Reads a kept answer again, by {@link KeptAnswers.at}. */
  again(at: number): ApiResponse;
}

/** The exchanges of a whole run. */
export interface Recording extends Exchanges {
  /** Milliseconds since 1970: when the run began, however often it was stopped. */
  readonly startedAt: number;
  /** Aborted when answers cannot be kept any more: nothing more is to be asked for. */
  readonly broken: AbortSignal;
  /** Keeps a change of the number of requests at once. */
  limit(event: LimitJson): void;
  /** Marks the end of all jobs. */
  finish(): void;
  /** Closes the file, which stays. Closing twice is harmless. */
  close(): void;
}

/** Asks the API for everything and keeps nothing, for a look at a configuration. */
export function unrecorded(env: Env): Exchanges {
  return {
    moment: () => ({ now: env.now(), pausedMs: 0 }),
    ask: async (_, send) => ({
      response: await send({}),
      now: env.now(),
      isRecorded: false,
      kept: undefined,
    }),
    note: () => {},
    drop: () => {},
    bytes: nothing,
    again: nothing,
  };
}

function nothing(): never {
  throw new Error('nothing was kept');
}
