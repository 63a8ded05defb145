import type { Json } from '../../lib/json/value.ts';
import type { Job as ProtocolJob } from '../protocol/index.ts';
import { listOf, shaped } from './shape.ts';

/** A job as it arrives: the failure may be an object or plain text. */
export type Job = Omit<ProtocolJob, 'error'> & {
  readonly error?:
    | null
    | string
    | { readonly code?: string; readonly message?: string; readonly exceptionId?: string };
};

const FIELDS = { status: 'string' } as const;

export function readJob(json: Json | undefined): Job {
  return withNumber(shaped<Job>(json, 'job', FIELDS));
}

export function readJobs(json: Json | undefined): Job[] {
  return listOf<Job>(json, 'job', FIELDS).map(withNumber);
}

/** There may be no id; one that is text is a number here. */
function withNumber(job: Job): Job {
  const id: unknown = job.id;
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? { ...job, id: Number(id) } : job;
}
