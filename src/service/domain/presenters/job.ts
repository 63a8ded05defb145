import { RawJson, type Reply } from '../reply.ts';
import type { JobRow } from '../../stores/metadata/tables.ts';
import { apiTime } from './time.ts';

/** A job. `error` is there only when it failed. */
export function jobReply(job: JobRow, origin: string): Record<string, Reply> {
  return {
    id: job.id,
    status: job.status,
    url: `${origin}/v2/storage/jobs/${job.id}`,
    tableId: job.table_id,
    operationName: job.operation,
    operationParams: new RawJson(job.params),
    createdTime: apiTime(job.created),
    startTime: apiTime(job.started),
    endTime: apiTime(job.ended),
    runId: job.run_id,
    results: job.results === null ? null : new RawJson(job.results),
    ...(job.error === null ? {} : { error: new RawJson(job.error) }),
    creatorToken: { id: String(job.creator_id), description: job.creator_description },
    metrics: new RawJson(job.metrics),
  };
}
