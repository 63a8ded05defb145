import type { RequestEvent } from '../http/watch-requests.ts';

import type { WaitEvent } from '../http/wait-event.ts';

export type { RequestEvent } from '../http/watch-requests.ts';
export type { WaitEvent } from '../http/wait-event.ts';
import { reasonText, type Reason } from '../shared/stop-reason.ts';
import type { Json } from '../../lib/json/index.ts';
import type { Position } from '../recording/position.ts';
import { proofText, type Judgement } from '../completeness/index.ts';

/** Listener for the progress of a run; all of it is optional. */
export interface Progress {
  /** The rows of a page were read, and are about to be written. */
  rows?(event: RowsEvent): void;
  /** A page was written. */
  page?(event: PageEvent): void;
  /** A job, or a run of a child, ended. Who listens says so himself; the log then has it for debugging only. */
  end?(event: EndEvent): void;
  /** A request goes out, or its answer came; those of logins are among them. */
  request?(event: RequestEvent): void;
  /** A request waits: for its turn, or to be sent again. */
  wait?(event: WaitEvent): void;
}

export interface RowsEvent {
  /** Position of the request. */
  readonly position: Position;
  /** Name that the table of the job is derived from. */
  readonly dataType: string;
  /** Keys that lead to the rows in the answer; undefined where they do not stand there as one list. */
  readonly at: readonly string[] | undefined;
  readonly count: number;
  /** They are changed, or some left out, before they are written. */
  readonly isChanged: boolean;
  /** The rows, a chunk at a time, decoded when they are asked for. */
  readonly chunks: () => Iterable<readonly Json[]>;
}

export interface PageEvent {
  /** Name of the job. */
  readonly job: string;
  /** 0 for a job, 1 for its children, and so on. */
  readonly level: number;
  /** Page of this run of the job, from 1. */
  readonly page: number;
  readonly rows: number;
  /** Bytes of the body. */
  readonly bytes: number;
}

export interface EndEvent {
  readonly job: string;
  readonly level: number;
  /** Its window of time, where it has one: `2026-01-01 – 2026-02-01`. */
  readonly window?: string | undefined;
  readonly pages: number;
  /** Why it ended; `reasonText` has the words. */
  readonly reason: Reason;
  /** Judgement on the completeness of the pages. */
  readonly judgement?: Judgement | undefined;
}

/**
 * Describes why a job ended, and its completeness: “the page has no rows; complete: `total: 131` is the number of
 * rows”.
 */
export function endText(reason: Reason, judgement: Judgement | undefined): string {
  const why = reasonText(reason);
  if (judgement === undefined || judgement.verdict === 'ended') return why;
  const { verdict, proof } = judgement;
  return proof === undefined ? `${why}; ${verdict}` : `${why}; ${verdict}: ${proofText(proof)}`;
}
