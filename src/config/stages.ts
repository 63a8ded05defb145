import { systemEnv } from '../env.ts';
import { parseJobs, type Job, type JobWarning } from '../jobs/index.ts';
import { createCaller, strtotime } from '../jobs/functions/index.ts';
import { getKey } from '../json/index.ts';
import { createPaginator, type PaginationMethod } from '../pagination/index.ts';
import { parseMappings } from '../records/mapping/parse.ts';
import { compileRowsAt } from '../records/rows-at.ts';
import { compileSteps } from '../records/steps/index.ts';
import { checkReactions } from './check-reactions.ts';
import type { ExtractorConfig } from './extractor-config.ts';
import { paginationOf } from './job-pagination.ts';

export interface StageFinding {
  readonly severity: 'error' | 'warning';
  readonly path: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/**
 * Reads jobs, pagination and mappings as a run would, for what only reading tells: equal ids, placeholders without
 * a value, filters that cannot be read, scrollers that are not there.
 *
 * @throws {ExtractorError} of the stage, at its first mistake
 */
export function checkStages(
  config: ExtractorConfig,
  methods: readonly PaginationMethod[] | undefined,
  report: (finding: StageFinding) => void,
): void {
  for (const effective of config.configs) {
    const warnings: JobWarning[] = [];
    const jobs = parseJobs(effective.jobs, effective.jobsAt, warnings, config.api.defaultOptions);
    for (const warning of warnings) report({ severity: 'warning', ...warning });
    checkReactions(config.api, jobs, createCaller(systemEnv));
    parseMappings(effective.mappings, effective.mappingsAt);
    checkRows(jobs);
    checkPagination(config.api, jobs, methods);
  }
}

/** Functions are looked up, and not called. */
function checkRows(jobs: readonly Job[]): void {
  const call = createCaller(systemEnv, { placeholders: true });
  for (const { rowSettings, at, children } of jobs) {
    compileRowsAt(getKey(rowSettings, 'rowsAt'), `${at}.rowsAt`);
    compileSteps(rowSettings, at, () => call);
    checkRows(children);
  }
}

function checkPagination(
  api: ExtractorConfig['api'],
  jobs: readonly Job[],
  methods: readonly PaginationMethod[] | undefined,
): void {
  for (const job of jobs) {
    const { endpoint, method, scroller } = job;
    const { options, at } = paginationOf(job, api);
    // Parameters and headers are left out: functions in them have no values yet.
    createPaginator(
      options,
      { endpoint, method, params: {}, headers: {}, ...(scroller === undefined ? {} : { scroller }) },
      { parseTime: strtotime, at, ...(methods === undefined ? {} : { methods }) },
    );
    checkPagination(api, job.children, methods);
  }
}
