import type { Moved } from '../../../platform/health/metrics.ts';
import type { Reply } from '../../reply.ts';
import type { DataContext } from '../../data-context.ts';
import type { Meta } from '../../../stores/metadata/database.ts';
import type { JobRow } from '../../../stores/metadata/tables.ts';
import type { WriteOptions } from '../../../stores/tables/engine.ts';
import type { Thing } from '../../../stores/metadata/transaction.ts';

/**
 * The work of one kind of job. A worker may be killed at any moment and the job be run again, so work that is done
 * already must be found so, and not be done twice.
 *
 * @param signal aborted when the job is cancelled or no longer this worker's; who takes long looks at it now and then,
 *   and rejects with anything
 */
export type Operation = (job: JobRow, context: DataContext, signal: AbortSignal) => Promise<Done>;

export interface Done {
  readonly results: Reply;
  readonly metrics?: Partial<Metrics>;
  /** What is counted of it once it is done. */
  readonly moved?: Moved;
  /** Changes of the metadata, in the transaction that ends the job. An error fails the job. */
  commit?(tx: Meta): Promise<Reply | void>;
  /** What the changes are about; default: any buckets and tables of the job's branch. */
  readonly things?: readonly Thing[];
  /** Takes back what was done outside of the metadata, when the commit failed. */
  undo?(): Promise<void>;
}

export interface Metrics {
  readonly inCompressed: boolean;
  readonly inBytes: number;
  readonly inBytesUncompressed: number;
  readonly outCompressed: boolean;
  readonly outBytes: number;
  readonly outBytesUncompressed: number;
}

/** What a job was given: as the route that asked for it wrote it, which is why its type may be taken for granted. */
export function paramsOf(job: JobRow): unknown {
  return JSON.parse(job.params);
}

/** What the table engine asks before it keeps a change: whether the job is still the one that this worker took. */
export function fenceOf(job: Pick<JobRow, 'fencing' | 'id'>): WriteOptions {
  return { fence: { jobId: job.id, fencing: job.fencing } };
}

/** What the table engine knows a job's import by. */
export function markOf({ id, mark }: Pick<JobRow, 'id' | 'mark'>): string {
  return mark ?? numberOf({ id });
}

/**
 * Tells whether an import is that of the job. A worker of the version before, which may have had it first, goes by the number;
 * one that is taken for the first time has loaded nothing, whatever job had its number when metadata was lost.
 */
export function isMarkOf(job: Pick<JobRow, 'fencing' | 'id' | 'mark'>, mark: string | undefined): boolean {
  return mark === markOf(job) || (job.fencing > 1 && mark === numberOf(job));
}

const numberOf = ({ id }: Pick<JobRow, 'id'>): string => `job ${id}`;
