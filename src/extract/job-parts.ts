import { jsonTextOf, type Json } from '../json/index.ts';
import { compileFilter, type Job } from '../jobs/index.ts';
import { silentLog } from '../log.ts';
import { createFilter, type CompatLevel } from '../records/filter.ts';
import type { RowSource } from './bucket.ts';
import { MissWatch } from './miss-watch.ts';
import { readAnswer, rowsAgain, type PageSourceOptions } from './page-source.ts';
import { Reactor, type ReactorOptions } from './reactor.ts';

export interface JobPartsOptions extends PageSourceOptions, ReactorOptions {
  readonly compatLevel: CompatLevel;
}

/** What all runs of a job share, made when it is first needed. */
export class JobParts {
  readonly #options: JobPartsOptions;
  readonly #sources = new Map<Job, RowSource>();
  readonly #recursion = new Map<Job, (row: Json) => boolean>();
  readonly #reactors = new Map<Job, Reactor>();
  readonly #watches = new Map<Job, MissWatch>();

  constructor(options: JobPartsOptions) {
    this.#options = options;
  }

  /** Says what was looked for in vain, and how often reactions did something; all is then forgotten. */
  warnOfMisses(): void {
    for (const [job, watch] of this.#watches) {
      for (const message of watch.warnings()) this.#options.log.warn(message, { job: job.name });
    }
    this.#watches.clear();
    for (const reactor of this.#reactors.values()) reactor.tellCounts();
  }

  reactor(job: Job): Reactor {
    let reactor = this.#reactors.get(job);
    if (reactor === undefined) this.#reactors.set(job, (reactor = new Reactor(job, this.#options)));
    return reactor;
  }

  recursionFilter(child: Job): (row: Json) => boolean {
    let filter = this.#recursion.get(child);
    if (filter === undefined) {
      const text = child.recursionFilter;
      filter = text === undefined ? () => true : compileFilter(text, `${child.at}.recursionFilter`);
      this.#recursion.set(child, filter);
    }
    return filter;
  }

  source(job: Job): RowSource {
    let source = this.#sources.get(job);
    if (source === undefined) {
      const { responseFilter, responseFilterDelimiter, at } = job;
      const { compatLevel, isExactJson } = this.#options;
      const jsonText = jsonTextOf(isExactJson);
      const filterAt = `${at}.responseFilter`;
      source = {
        filter:
          responseFilter.length === 0
            ? undefined
            : createFilter(responseFilter, responseFilterDelimiter, { compatLevel, jsonText }, filterAt),
        readAgain: (response) =>
          readAnswer(job, job.endpoint, response, { ...this.#options, log: silentLog }),
        rowsAgain: (response) => rowsAgain(job, response, this.#options),
      };
      this.#sources.set(job, source);
    }
    return source;
  }

  watch(job: Job): MissWatch {
    let watch = this.#watches.get(job);
    if (watch === undefined) this.#watches.set(job, (watch = new MissWatch()));
    return watch;
  }
}
