import { systemEnv } from '../../../src/lib/env.ts';
import { JobError } from '../../../src/lib/errors.ts';
import { createEvaluator } from '../../../src/engine/jobs/functions/index.ts';
import { parseJobs, type Job } from '../../../src/engine/jobs/index.ts';
import { parseExact, type Json } from '../../../src/lib/json/index.ts';

/** JSON path of the jobs in these tests. */
export const AT = 'config.jobs';

export const evaluate = createEvaluator(systemEnv);
/** The evaluator of placeholders, which knows more functions. */
export const evaluatePlaceholder = createEvaluator(systemEnv, { placeholders: true });

export function jobs(node: Json): readonly Job[] {
  return parseJobs(node, AT);
}

/** The first job of a list. */
export function job(node: Json): Job {
  return first(jobs([node]));
}

/** A child of a job without further settings. */
export function child(node: Json): Job {
  return first(job({ endpoint: 'users', children: [node] }).children);
}

export function first<T>(list: readonly T[]): T {
  const [item] = list;
  if (item === undefined) throw new Error('The list is empty');
  return item;
}

/** The error that a function throws: path, message and hint. */
export function failure(run: () => unknown): {
  path: string | undefined;
  message: string;
  hint: string | undefined;
} {
  try {
    run();
  } catch (error) {
    if (!(error instanceof JobError)) throw error;
    return { path: error.where.path, message: error.message, hint: error.hint };
  }
  throw new Error('Nothing was thrown');
}

export { parseExact as json };
