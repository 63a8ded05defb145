import type { Evaluate } from '../shared/evaluate.ts';
import { childRuns, Groups, joined, type Group, type Job, type JobInvocation } from '../jobs/index.ts';
import type { Json } from '../../lib/json/index.ts';
import type { ExchangeMoment } from '../recording/exchange.ts';
import { positionOf, type Position, type RunPlace } from '../recording/position.ts';
import type { PageContent } from './content.ts';
import { GroupWatch } from './group-watch.ts';
import type { JobParts } from './job-parts.ts';
import type { PageSourceOptions } from './page-source.ts';
import type { BegunInvocation } from './run-starter.ts';
import { planRuns, type PlannedRun, type WindowPlanOptions } from './run-windows.ts';
import type { Witnesses } from './witnesses.ts';

export interface ChildStartsOptions extends WindowPlanOptions {
  readonly exchanges: PageSourceOptions['exchanges'];
  /** For placeholders, where one more function is known. */
  readonly evaluatePlaceholderAt: (now: () => number) => Evaluate;
  /** Pages of each job, `--limit`. */
  readonly limit?: number | undefined;
  readonly sample?: SampleBounds | undefined;
  readonly witnesses?: Witnesses;
}

/** Bounds of a trial besides its pages; each window then has the pages of the limit. */
export interface SampleBounds {
  /** Windows of each job. */
  readonly windows: number;
  /** Rows of a page that start children. */
  readonly rows: number;
}

/** A run of a child that a row, or a group of rows, starts. */
export interface ChildStart {
  readonly job: Job;
  readonly planned: PlannedRun;
  readonly began: () => ExchangeMoment;
}

/** The run whose rows start others. */
type Parent = Pick<BegunInvocation, 'job' | 'run' | 'place' | 'state'>;

/** Which runs of its children the rows of a page start. */
export class ChildStarts {
  readonly #options: ChildStartsOptions;
  readonly #parts: JobParts;

  constructor(options: ChildStartsOptions, parts: JobParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Yields the starts of a page, one after another: each child in order, and for each the rows in order. */
  *of({ job, run, place, state }: Parent, page: number, content: PageContent): Generator<ChildStart> {
    const above = positionOf(place, page);
    for (const [index, child] of job.children.entries()) {
      if (child.group !== undefined) {
        yield* this.#grouped(child, child.group, { index, above, run, state, content });
        continue;
      }
      let row = 0;
      let started = 0;
      for (const chunk of content.chunks()) {
        for (const value of chunk) {
          if (started === this.#options.sample?.rows) break;
          if (state !== undefined && !state.writes(value)) {
            row++;
            continue;
          }
          const step = { job: child.name, index, row: row++ };
          if (content.isLeftOut(value)) continue;
          const placeOf = (number: number): RunPlace => ({ above, step: { ...step, run: number } });
          const began = beginning(this.#options.exchanges, placeOf(0));
          const runs = this.#childRunsOf(child, value, run, began);
          if (runs.length > 0) started++;
          for (const [number, each] of runs.entries())
            for (const planned of this.#planChild(child, each, placeOf(number)))
              yield { job: child, planned, began };
        }
      }
    }
  }

  /** Yields the starts of a child, one for each group of the rows of a page. */
  *#grouped(
    child: Job,
    group: Group,
    {
      index,
      above,
      run,
      state,
      content,
    }: Pick<Parent, 'run' | 'state'> & { index: number; above: Position; content: PageContent },
  ): Generator<ChildStart> {
    let number = 0;
    const placeOf = (one: number): RunPlace => ({
      above,
      step: { job: child.name, index, row: 0, run: one },
    });
    // all groups of a page share a moment: which rows are in which of them is not known before
    const began = beginning(this.#options.exchanges, placeOf(0));
    const starts = function* (this: ChildStarts, values: readonly Json[]): Generator<ChildStart> {
      const parameter = { name: group.name, value: joined(values, group) };
      const parameters = [...run.parameters.filter(({ name }) => name !== group.name), parameter];
      // no row is that of the group
      const own: JobInvocation = { ...run, parameters, rows: [{}, ...run.rows] };
      for (const planned of this.#planChild(child, own, placeOf(number++)))
        yield { job: child, planned: { ...planned, group: new GroupWatch(group, values) }, began };
    }.bind(this);
    const groups = new Groups(group);
    for (const chunk of content.chunks()) {
      for (const row of chunk) {
        if (state !== undefined && !state.writes(row)) continue;
        const runs = this.#childRunsOf(child, row, run, began).map(({ parameters }) => parameters);
        for (const values of groups.add(runs)) yield* starts(values);
      }
    }
    for (const values of groups.rest()) yield* starts(values);
  }

  /** Plans the windows of a child; in a trial no more than the pages of the limit: each has one at least. */
  #planChild(child: Job, run: JobInvocation, place: RunPlace): readonly PlannedRun[] {
    const planned = planRuns(child, { run, place }, this.#options);
    const { limit } = this.#options;
    if (limit === undefined || planned.length <= limit) return planned;
    skipRuns(child, planned.slice(limit), this.#options);
    return planned.slice(0, limit);
  }

  #childRunsOf(child: Job, row: Json, run: JobInvocation, began: () => ExchangeMoment): JobInvocation[] {
    const isWanted = this.#parts.recursionFilter(child);
    if (!isWanted(row, this.#options.contexts)) return [];
    const rows = [row, ...run.rows];
    const evaluate = this.#options.evaluatePlaceholderAt(() => began().now);
    return childRuns(child, rows, run.parameters, evaluate).map((parameters) => ({
      ...(run.own === undefined ? {} : { own: run.own }),
      parameters,
      rows,
    }));
  }
}

/** Returns the beginning of all runs that one row, or a job at the top, starts; it is read only when needed. */
export function beginning(exchanges: ChildStartsOptions['exchanges'], place: RunPlace): () => ExchangeMoment {
  let moment: ExchangeMoment | undefined;
  return () => (moment ??= exchanges.moment(place));
}

/** Runs that are not begun any more: what they are about was not seen. */
export function skipRuns(
  job: Job,
  planned: readonly PlannedRun[],
  { limit = 0, witnesses }: Pick<ChildStartsOptions, 'limit' | 'witnesses'>,
): void {
  witnesses?.skip(job, planned.length, limit);
  for (const { state } of planned) state?.progress.skip();
}
