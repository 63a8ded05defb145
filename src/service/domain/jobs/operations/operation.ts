import type { Static, TSchema } from 'typebox';
import { Errors } from 'typebox/value';
import type { Moved } from '../../../platform/health/metrics.ts';
import type { Reply } from '../../reply.ts';
import type { DataContext } from '../../data-context.ts';
import type { Meta } from '../../../stores/metadata/database.ts';
import type { Turn } from '../../../stores/metadata/leases.ts';
import type { JobRow } from '../../../stores/metadata/tables.ts';
import type { TableWriteOptions } from '../../../stores/tables/engine.ts';
import type { Thing } from '../../../stores/metadata/transaction.ts';

/** Kind of storage job: its name in the API, the parameters that its jobs store, and the handler of its jobs. */
export interface JobKind<Name extends string = string, Params extends TSchema = TSchema> {
  readonly name: Name;
  readonly params: Params;
  readonly run: Operation;
}

/** Defines a kind of storage job; a job whose parameters do not fit fails before its handler is called. */
export function defineOperation<const Name extends string, Params extends TSchema>({
  name,
  params,
  run,
}: Pick<JobKind<Name, Params>, 'name' | 'params'> & {
  readonly run: (
    params: Static<Params>,
    job: JobRow,
    context: DataContext,
    signal: AbortSignal,
  ) => Promise<Done>;
}): JobKind<Name, Params> {
  return {
    name,
    params,
    run: async (job, context, signal) => await run(paramsOf(job, params), job, context, signal),
  };
}

/** Reads the parameters of a job, as the route that enqueued it wrote them. @throws for others */
export function paramsOf<Params extends TSchema>(job: JobRow, schema: Params): Static<Params> {
  const params: unknown = JSON.parse(job.params);
  const [wrong] = Errors(schema, params);
  if (wrong === undefined) return params as Static<Params>; // it was checked
  throw new Error(
    `The parameters of job ${job.id} (${job.operation}) are not those of this version: params${wrong.instancePath} ${wrong.message}.`,
  );
}

/**
 * Work of one kind of job. A worker may be killed at any moment and the job be run again, so completed work must be
 * detected, and not be done twice.
 *
 * @param signal aborted when the job is cancelled or no longer this worker's; long work checks it now and then, and
 * rejects with anything
 */
export type Operation = (job: JobRow, context: DataContext, signal: AbortSignal) => Promise<Done>;

export interface Done {
  readonly results: Reply;
  readonly metrics?: Partial<JobMetrics>;
  /** Numbers for the metrics once it is done. */
  readonly moved?: Moved;
  /** Changes of the metadata, in the transaction that ends the job. An error fails the job. */
  commit?(tx: Meta): Promise<Reply | void>;
  /** Lock keys of the changes; default: any buckets and tables of the job's branch. */
  readonly things?: readonly Thing[];
  /** Reverts changes outside of the metadata, when the commit failed. */
  undo?(): Promise<void>;
}

export interface JobMetrics {
  readonly inCompressed: boolean;
  readonly inBytes: number;
  readonly inBytesUncompressed: number;
  readonly outCompressed: boolean;
  readonly outBytes: number;
  readonly outBytesUncompressed: number;
}

/**
 * Returns the check of the table engine before it commits a change, whether this worker still has the lease of the job;
 * and the run that asked for the change.
 */
export function fenceOf({ id, fencing, worker, run_id }: Pick<JobRow, 'run_id'> & Turn): TableWriteOptions {
  return {
    fence: { jobId: id, fencing, worker },
    ...(run_id === null ? {} : { origin: { run: run_id } }),
  };
}

/** Returns the mark by which the table engine knows the import of a job. */
export function markOf({ id, mark }: Pick<JobRow, 'id' | 'mark'>): string {
  return mark ?? numberOf({ id });
}

/**
 * Tells whether an import is that of the job. A worker of the version before, which may have had it first, uses the
 * number; a job that is claimed for the first time has loaded nothing, whatever job had its number when metadata was
 * lost.
 */
export function isMarkOf(job: Pick<JobRow, 'fencing' | 'id' | 'mark'>, mark: string | undefined): boolean {
  return mark === markOf(job) || (job.fencing > 1 && mark === numberOf(job));
}

const numberOf = ({ id }: Pick<JobRow, 'id'>): string => `job ${id}`;
