import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Env } from '../lib/env.ts';
import type { AnyObject } from '../lib/json/index.ts';
import {
  changedState,
  difference,
  makeHead,
  type RecordingHead,
  type Subject,
} from '../engine/recording/head.ts';
import type { Pushed } from './mapping/mapping-types.ts';
import type { Secrets } from '../lib/secrets.ts';
import { writeFileAtomic } from '../engine/sink/atomic.ts';
import { readState } from '../engine/sink/state.ts';
import type { ReadyRow } from './plan.ts';
import { rowFolder, type RowFolder } from './row-folder.ts';
import { DEFAULT_RESUME_MS, duration, timeText, type ResumeRunOptions } from './row-recording.ts';
import type { RowPlace } from './row-place.ts';
import type { RowResult } from './row-result.ts';

/** Description of a run over several rows: a run with the same description continues where this one was stopped. */
export interface RunOfRows {
  /** Ids, in the order of the runs. */
  readonly rows: readonly (string | undefined)[];
  readonly manner: string;
  readonly resetState: boolean;
  /** The stretch of time that is filled again. */
  readonly period: Subject['period'];
  /** Names the storage that it goes to. */
  readonly storage: string;
}

/** `.gex/rows.json` of the data folder, from the end of the first row of a run over several until all have ended. */
interface RunMark extends RunOfRows {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** `.gex/ended.json` of a row that has ended in such a run. */
interface EndMark {
  /** {@link RunMark.id} */
  readonly run: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Inputs that the row was run with, with the state that it must have since. */
  readonly head: RecordingHead;
  /** False until all is done of a row whose state stays as it was, so that the state cannot tell. */
  readonly isSure: boolean;
  readonly result: KeptResult;
}

type KeptResult = Pick<RowResult, 'tables' | 'rows' | 'jobs' | 'isHeld' | 'pushed'>;

export interface EndedRowsOptions {
  readonly dataFolder: string;
  /** See `RunOptions.id`. */
  readonly id?: string | undefined;
  readonly resume: ResumeRunOptions;
  readonly acceptsDoubt: boolean;
  readonly env: Env;
  readonly secrets: Secrets;
}

/**
 * The rows that have ended in a run over several rows. When the run is stopped and given again, they are not run again:
 * what they asked for is asked for, and what they gave is pushed, once.
 */
export class EndedRows {
  readonly #options: EndedRowsOptions;
  readonly #run: RunMark;

  private constructor(options: EndedRowsOptions, run: RunMark) {
    this.#options = options;
    this.#run = run;
  }

  /** Goes on with the run that was stopped, or begins one. */
  static open(run: RunOfRows, options: EndedRowsOptions): EndedRows {
    const { env, resume } = options;
    const known = readMark(runFile(options.dataFolder)) as RunMark | undefined; // see readMark
    // one row that had ended in another run is run again: there is nothing else to do
    const isOther = run.rows.length < 2 && known?.id !== options.id;
    if (resume.restart !== true && known !== undefined && !isOther && isSame(known, run))
      return new EndedRows(options, known);
    forgetRun(options.dataFolder);
    const id = options.id ?? Buffer.from(env.randomBytes(16)).toString('hex');
    return new EndedRows(options, { id, startedAt: env.now(), ...run });
  }

  /** Returns the result of a row that has ended in this run; undefined if the row has to run. */
  resultOf(at: RowPlace, { configuration }: ReadyRow, state: AnyObject): RowResult | undefined {
    const { row, folder, log } = at;
    const mark = readMark(folder.ended) as EndMark | undefined; // see readMark
    const stateFile = path.join(folder.out, 'state.json');
    if (mark === undefined || mark.run !== this.#run.id || !mark.isSure || !existsSync(stateFile))
      return undefined;
    const why = this.#whyAgain(mark, { row: row.id, configuration, state });
    const begun = `the run that was begun at ${timeText(this.#run.startedAt)}`;
    if (why !== undefined) {
      log.info(`This row had ended in ${begun}, and runs again: ${why}`);
      return undefined;
    }
    log.info(`This row had ended in ${begun}, which goes on: it is not run again`);
    const id = row.id === undefined ? {} : { id: row.id };
    return { ...id, out: folder.out, state: readState(stateFile, log), ...mark.result };
  }

  /**
   * Records a row that has ended. Called before the output gets its name, and again when more is known of the result.
   *
   * @param subject with the state that the row has when all is done
   * @param isSure false before all is done, where the state that the row has then is the one that it has now
   */
  add(at: RowPlace, subject: Omit<Subject, 'row'>, result: RowResult, isSure: boolean): void {
    const { tables, rows, jobs, isHeld, pushed } = result;
    const mark: EndMark = {
      run: this.#run.id,
      at: this.#options.env.now(),
      head: makeHead({ row: at.row.id, ...subject }, this.#options),
      isSure,
      result: {
        tables,
        rows,
        jobs,
        ...(isHeld === undefined ? {} : { isHeld }),
        ...(pushed === undefined ? {} : { pushed }),
      },
    };
    const file = runFile(this.#options.dataFolder);
    if (!existsSync(file)) writeFileAtomic(file, `${JSON.stringify(this.#run, null, 2)}\n`);
    writeFileAtomic(at.folder.ended, `${JSON.stringify(mark)}\n`);
  }

  /** Ends the run over all rows: the next run begins with the first one, unless it has the same id. */
  finish(): void {
    if (this.#options.id !== undefined) return;
    forgetRun(this.#options.dataFolder);
    for (const id of this.#run.rows) rmSync(rowFolder(this.#options.dataFolder, id).ended, { force: true });
  }

  #whyAgain({ run, at, head, result }: EndMark, subject: Subject): string | undefined {
    const { id, resume, env, acceptsDoubt } = this.#options;
    // in a run with a name it has ended for good, whatever was edited since, and however old that is
    if (run === id) return changedState(head, subject.state);
    const different = difference(head, subject);
    if (different !== undefined) return different;
    if (result.isHeld === true && acceptsDoubt) return 'what it gave was held back, and is to be accepted';
    const ageMs = env.now() - at;
    return ageMs > (resume.withinMs ?? DEFAULT_RESUME_MS) ? `that is ${duration(ageMs)} ago` : undefined;
  }
}

/** Returns the result that a row ended with, and what it was run with, of a run whose data folder it is in. */
export function endOf({ ended }: RowFolder): Pick<EndMark, 'head' | 'result'> | undefined {
  return readMark(ended) as EndMark | undefined; // see readMark
}

/** Marks a row that had ended as pushed to its end, by a run that continues. */
export function confirmEnded({ ended }: RowFolder, pushed: Pushed): void {
  const mark = readMark(ended) as EndMark | undefined; // see readMark
  if (mark === undefined) return;
  const result = { ...mark.result, ...(pushed.tables.length + pushed.files.length === 0 ? {} : { pushed }) };
  writeFileAtomic(ended, `${JSON.stringify({ ...mark, isSure: true, result })}\n`);
}

/** Forgets the run over several rows: if it was stopped, the next one begins with the first row. */
export function forgetRun(dataFolder: string): void {
  rmSync(runFile(dataFolder), { force: true });
}

function runFile(dataFolder: string): string {
  return path.join(path.resolve(dataFolder), '.gex', 'rows.json');
}

function isSame({ rows, manner, resetState, period, storage }: RunOfRows, other: RunOfRows): boolean {
  return (
    JSON.stringify([rows, manner, resetState, period, storage]) ===
    JSON.stringify([other.rows, other.manner, other.resetState, other.period, other.storage])
  );
}

/**
 * Reads a mark, which this program wrote as a whole; one of another version shows that in its head. Undefined when
 * there is none, or it cannot be read: the row then runs again.
 */
function readMark(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
