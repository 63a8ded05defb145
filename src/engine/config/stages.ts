import { systemEnv } from '../../lib/env.ts';
import { parseJobs, type Job, type JobWarning } from '../jobs/index.ts';
import { createCaller, strtotime } from '../jobs/functions/index.ts';
import { getKey, toJsonText } from '../../lib/json/index.ts';
import { createPaginator, type PaginationMethod } from '../pagination/index.ts';
import { compileLook } from '../records/look.ts';
import { parseMappings } from '../records/mapping/parse.ts';
import { compileRowsAt } from '../records/rows-at.ts';
import { compileSteps } from '../records/steps/index.ts';
import { checkReactions } from './check-reactions.ts';
import { checkIterationStates } from './iteration-states.ts';
import { replacedTables } from './incremental-output.ts';
import type { ExtractorConfig } from './extractor-config.ts';
import { JobTables } from './job-tables.ts';
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
    const jobs = parseJobs(
      effective.jobs,
      effective.jobsAt,
      warnings,
      config.api.defaultOptions,
      config.api.pagination,
    );
    warnings.push(...replacedTables(jobs, effective));
    for (const warning of warnings) report({ severity: 'warning', ...warning });
    checkReactions(config.api, jobs, createCaller(systemEnv));
    new JobTables().add(jobs, parseMappings(effective.mappings, effective.mappingsAt), effective);
    checkRows(jobs);
    checkPagination(config.api, jobs, methods);
  }
  checkIterationStates(config);
}

/** Functions are looked up, and not called. */
const call = createCaller(systemEnv, { placeholders: true });

function checkRows(jobs: readonly Job[]): void {
  for (const { rowSettings, at, children } of jobs) {
    compileRowsAt(getKey(rowSettings, 'rowsAt'), `${at}.rowsAt`);
    compileSteps(rowSettings, at, () => call);
    compileLook(rowSettings, at, 0);
    checkRows(children);
  }
}

function checkPagination(
  api: ExtractorConfig['api'],
  jobs: readonly Job[],
  methods: readonly PaginationMethod[] | undefined,
): void {
  for (const job of jobs) {
    const { endpoint, endpointCall, method, params, headers, paramsIn, query, body, scroller } = job;
    const { options, at } = paginationOf(job, api);
    // Functions in parameters and headers have no values yet: they are only looked through for places.
    const written = {
      endpoint: endpointCall === undefined ? endpoint : toJsonText(endpointCall),
      method,
      params,
      headers,
      ...(paramsIn === undefined ? {} : { paramsIn }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body }),
    };
    createPaginator(
      options,
      { endpoint, method, params: {}, headers: {}, ...(scroller === undefined ? {} : { scroller }) },
      { parseTime: strtotime, call, written, at, ...(methods === undefined ? {} : { methods }) },
    );
    checkPagination(api, job.children, methods);
  }
}
