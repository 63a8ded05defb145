import type { Job, JobWarning } from '../jobs/index.ts';
import { getKey } from '../../lib/json/index.ts';
import type { EffectiveConfig } from './extractor-config.ts';

/** Warns of jobs that load only new rows, while the tables of the last run are replaced by these. */
export function replacedTables(jobs: readonly Job[], effective: EffectiveConfig): readonly JobWarning[] {
  if (effective.incrementalOutput) return [];
  const isUnsaid = getKey(effective.node, 'incrementalOutput') === undefined;
  const first = firstReplaced(jobs, isUnsaid);
  if (first === undefined) return [];
  return [
    {
      path: `${first.at}.incremental`,
      message: `“${first.name}” gives only what is new, and without “incrementalOutput” each run puts that in place of the whole table`,
      hint: isUnsaid
        ? 'Give the job a “primaryKey”; or write "incrementalOutput": true into “config”.'
        : 'Write "incrementalOutput": true into “config”, and give the table a primary key.',
    },
  ];
}

/** @param isUnsaid a job with a primary key merges its rows, as nothing else is said */
function firstReplaced(jobs: readonly Job[], isUnsaid: boolean): Job | undefined {
  for (const job of jobs) {
    const isMerged = isUnsaid && job.incremental !== undefined && job.primaryKey !== undefined;
    if (isMerged) continue; // with all that is below it
    const found = job.incremental === undefined ? firstReplaced(job.children, isUnsaid) : job;
    if (found !== undefined) return found;
  }
  return undefined;
}
