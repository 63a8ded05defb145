import type { Job, JobWarning } from '../jobs/index.ts';
import type { EffectiveConfig } from './extractor-config.ts';

/** Jobs that give only what is new, where the tables of the last run are replaced by it. */
export function replacedTables(jobs: readonly Job[], effective: EffectiveConfig): readonly JobWarning[] {
  if (effective.incrementalOutput) return [];
  const first = firstWithState(jobs);
  if (first === undefined) return [];
  return [
    {
      path: `${first.at}.incremental`,
      message: `“${first.name}” gives only what is new, and without “incrementalOutput” each run puts that in place of the whole table`,
      hint: 'Write "incrementalOutput": true into “config”, and give the table a primary key.',
    },
  ];
}

function firstWithState(jobs: readonly Job[]): Job | undefined {
  for (const job of jobs) {
    const found = job.incremental === undefined ? firstWithState(job.children) : job;
    if (found !== undefined) return found;
  }
  return undefined;
}
