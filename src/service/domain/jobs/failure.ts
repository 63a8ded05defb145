import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import { DatabaseUnavailable, isUnavailable, isConflict } from '../../platform/database/failures.ts';
import { ApiError } from '../api-error.ts';
import type { JobRow } from '../../stores/metadata/tables.ts';
import { TableError } from '../../stores/tables/table-error.ts';
import { detailOf, isDiskFull, toServiceError } from '../service-error.ts';
import { ObjectError } from '../../stores/objects/errors.ts';
import { Interrupted } from '../../stores/queue/endings.ts';

/** Result of a failed job. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exceptionId: string;
  /** Facts beside it, such as the columns that are missing. */
  readonly results?: unknown;
  /** True when nothing is wrong with the request itself: it may be sent again unchanged. */
  readonly isGivenUp: boolean;
}

/**
 * Tells whether the job may succeed when repeated later: a resource that it needs is away, or another job was in its
 * way.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof ObjectError && error.code === 'ServiceUnavailable') return true;
  if (error instanceof DatabaseUnavailable || isUnavailable(error) || isConflict(error) || isDiskFull(error))
    return true;
  return error instanceof Error && isPassing(error.cause);
}

/** An error for the user of a job; what nobody foresaw goes to the log under its id. */
export function describeFailure(
  error: unknown,
  job: Pick<JobRow, 'id' | 'operation'>,
  { env, log }: { readonly env: Env; readonly log: Log },
): Failure {
  const exceptionId = `job-${job.id}-${Buffer.from(env.randomBytes(5)).toString('hex')}`;
  const trouble = toServiceError(error);
  const known =
    trouble === undefined ? knownFailure(error) : { code: trouble.code, message: trouble.message };
  const facts = { exceptionId, job: job.id, operation: job.operation };
  if (known === undefined || trouble !== undefined)
    log.error('Job failed unexpectedly', { ...facts, detail: detailOf(error) });
  else log.debug('Job failed', { ...facts, code: known.code });
  const message = 'An unexpected error happened. Its id is in the log of the service.';
  const isGivenUp = known === undefined || trouble !== undefined || error instanceof Interrupted;
  return { ...(known ?? { code: 'internalError', message }), exceptionId, isGivenUp };
}

function knownFailure(error: unknown): Omit<Failure, 'exceptionId' | 'isGivenUp'> | undefined {
  if (error instanceof TableError) {
    const hasFacts = Object.keys(error.results).length > 0;
    return { code: error.code, message: error.message, ...(hasFacts ? { results: error.results } : {}) };
  }
  if (error instanceof ApiError) return { code: error.code, message: error.message };
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return error.code.startsWith('storage.') ? { code: error.code, message: error.message } : undefined;
}
