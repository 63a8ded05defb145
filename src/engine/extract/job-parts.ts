import type { CallFunction, Contexts } from '../shared/evaluate.ts';
import { bodyBytes } from '../shared/message.ts';
import { getKey, jsonTextOf } from '../../lib/json/index.ts';
import { compileParentFilter, type Job, type ParentFilter } from '../jobs/index.ts';
import { silentLog } from '../../lib/log.ts';
import { createFilter, type CompatLevel } from '../records/filter.ts';
import { compileLook, type RowLook } from '../records/look.ts';
import { compileRowsAt, type RowsAt } from '../records/rows-at.ts';
import { compileSteps, RowWatch, type RowSteps } from '../records/steps/index.ts';
import type { RowSource } from './table-writer.ts';
import { limitedAgain, limitedSteps, type Count, type RowLimits } from './incremental/row-limits.ts';
import { withoutRepeatsAgain, type PageSteps } from './page-steps.ts';
import { UnmatchedPaths } from './miss-watch.ts';
import { readAnswer, rowsAgain, type ArrivedPage, type PageSourceOptions } from './page-source.ts';
import { Repeats } from './repeats.ts';
import { ResponseRules, type ReactorOptions } from './reactor.ts';
import { factsOf, keepFacts } from './row-facts.ts';
import { logRowStats } from './log-row-stats.ts';
import { TextWatch } from './text-watch.ts';

export interface JobPartsOptions extends PageSourceOptions, ReactorOptions {
  readonly compatLevel: CompatLevel;
  /** Makes the functions of the language, by a clock. */
  readonly callAt: (now: () => number) => CallFunction;
  readonly contexts: Contexts;
  /** Milliseconds since 1970: when the run began, for functions in conditions and for links. */
  readonly startedAt: number;
}

/** Settings for the content and the form of a job's rows. */
export interface JobRows {
  readonly rowsAt: RowsAt | undefined;
  readonly steps: RowSteps | undefined;
  readonly look: RowLook;
  readonly watch: RowWatch;
}

/** Parts that all runs of a job share, created at their first use. */
export class JobParts {
  readonly #options: JobPartsOptions;
  readonly #sources = new Map<Job, RowSource>();
  readonly #recursion = new Map<Job, ParentFilter>();
  readonly #reactors = new Map<Job, ResponseRules>();
  readonly #watches = new Map<Job, UnmatchedPaths>();
  readonly #texts = new Map<Job, TextWatch>();
  readonly #rows = new Map<Job, JobRows>();
  readonly #leftOut = new Map<string, number>();
  readonly #limited = new Map<Job, { came: number; kept: number }>();
  #repeats: (readonly [Job, Repeats])[] = [];

  constructor(options: JobPartsOptions) {
    this.#options = options;
  }

  /** Says what was looked for in vain, and how often reactions did something; all is then forgotten. */
  warnOfMisses(): void {
    for (const [job, watch] of [...this.#watches, ...this.#texts]) {
      for (const message of watch.warnings()) this.#options.log.warn(message, { job: job.name });
    }
    this.#watches.clear();
    this.#texts.clear();
    for (const reactor of this.#reactors.values()) reactor.tellCounts();
    this.#tellRepeats();
    this.#tellLimited();
    for (const [job, rows] of this.#rows) {
      logRowStats(job, rows, this.#options.log);
      if (rows.watch.leftOut > 0)
        this.#leftOut.set(job.at, (this.#leftOut.get(job.at) ?? 0) + rows.watch.leftOut);
    }
    this.#rows.clear();
  }

  #tellRepeats(): void {
    const counts = new Map<Job, number>();
    for (const [job, { leftOut }] of this.#repeats) counts.set(job, (counts.get(job) ?? 0) + leftOut);
    this.#repeats = [];
    for (const [{ name }, rows] of counts) {
      if (rows === 0) continue;
      const what =
        rows === 1
          ? '1 row came again where the job began anew, and is'
          : `${rows} rows came again where the job began anew, and are`;
      this.#options.log.info(`${what} left out`, { job: name });
    }
  }

  #tellLimited(): void {
    for (const [{ name }, { came, kept }] of this.#limited) {
      if (kept === came) continue;
      const why = 'older than the state, or not in the period that was asked for';
      this.#options.log.info(`${came - kept} of ${came} rows left out: ${why}`, { job: name });
    }
    this.#limited.clear();
  }

  #countLimited(job: Job): Count {
    return (came, kept) => {
      const counts = this.#limited.get(job) ?? { came: 0, kept: 0 };
      this.#limited.set(job, { came: counts.came + came, kept: counts.kept + kept });
    };
  }

  /** Creates the detector of repeated rows for one run of the job. */
  repeats(job: Job): Repeats {
    const repeats = new Repeats();
    this.#repeats.push([job, repeats]);
    return repeats;
  }

  reactor(job: Job): ResponseRules {
    let reactor = this.#reactors.get(job);
    if (reactor === undefined) this.#reactors.set(job, (reactor = new ResponseRules(job, this.#options)));
    return reactor;
  }

  /** Rows of the jobs so far that their conditions left out, by the JSON path of the job. */
  get leftOut(): ReadonlyMap<string, number> {
    return this.#leftOut;
  }

  /** @throws {RecordError} when the settings of the rows cannot be used */
  rows(job: Job): JobRows {
    let rows = this.#rows.get(job);
    if (rows === undefined) {
      const { rowSettings, at } = job;
      rows = {
        rowsAt: compileRowsAt(getKey(rowSettings, 'rowsAt'), `${at}.rowsAt`),
        steps: compileSteps(rowSettings, at, this.#options.callAt),
        look: compileLook(rowSettings, at, this.#options.startedAt),
        watch: new RowWatch(),
      };
      this.#rows.set(job, rows);
    }
    return rows;
  }

  /**
   * Returns the steps for the rows of a page.
   *
   * @param limits what the state of the job lets through, before all else
   */
  pageSteps(
    job: Job,
    { request, number, answer, page }: ArrivedPage,
    contexts: () => Contexts,
    limits?: RowLimits,
  ): PageSteps | undefined {
    const { steps, watch } = this.rows(job);
    const count = this.#countLimited(job);
    if (steps === undefined) return limitedSteps(job, limits, undefined, this.#options.contexts, count);
    const { headers, status, url } = answer.response;
    const { secrets, contexts: common } = this.#options;
    const facts = keepFacts(steps, {
      now: answer.now,
      status,
      url: secrets.redactUrl(url),
      page: number,
      rows: page.rows,
      bytes: bodyBytes(answer.response),
      headers,
      request,
      contexts,
    });
    const known = factsOf(facts, () => page.response(), common);
    const [counted, again] = [steps.of(known, watch), steps.of(known)];
    const own: PageSteps = { facts, change: (rows, isSeen) => (isSeen ? again(rows) : counted(rows)) };
    return limitedSteps(job, limits, own, common, count);
  }

  recursionFilter(child: Job): ParentFilter {
    let filter = this.#recursion.get(child);
    if (filter === undefined) {
      const given = child.recursionFilter;
      filter =
        given === undefined
          ? () => true
          : compileParentFilter(
              given,
              `${child.at}.recursionFilter`,
              this.#options.callAt(() => this.#options.startedAt),
            );
      this.#recursion.set(child, filter);
    }
    return filter;
  }

  source(job: Job): RowSource {
    let source = this.#sources.get(job);
    if (source === undefined) {
      const { responseFilter, responseFilterDelimiter, at } = job;
      const { compatLevel, isExactJson, contexts } = this.#options;
      const { rowsAt, steps, look } = this.rows(job);
      const jsonText = jsonTextOf(isExactJson);
      const filterAt = `${at}.responseFilter`;
      source = {
        filter:
          responseFilter.length === 0
            ? undefined
            : createFilter(responseFilter, responseFilterDelimiter, { compatLevel, jsonText }, filterAt),
        look,
        readAgain: (response) =>
          readAnswer({ job, rowsAt }, job.endpoint, response, { ...this.#options, log: silentLog }),
        rowsAgain: (response) => rowsAgain({ job, rowsAt }, response, this.#options),
        changeAgain: withoutRepeatsAgain(
          limitedAgain(
            job,
            steps && ((kept, response) => steps.of(factsOf(kept, response, contexts))),
            contexts,
          ),
        ),
      };
      this.#sources.set(job, source);
    }
    return source;
  }

  texts(job: Job): TextWatch {
    let texts = this.#texts.get(job);
    if (texts === undefined) this.#texts.set(job, (texts = new TextWatch()));
    return texts;
  }

  watch(job: Job): UnmatchedPaths {
    let watch = this.#watches.get(job);
    if (watch === undefined) this.#watches.set(job, (watch = new UnmatchedPaths()));
    return watch;
  }
}
