import type { QueueState } from '../../platform/health/prometheus.ts';
import type { Meta } from './database.ts';

/** How many jobs wait and run, in all processes. */
export async function readQueueState(meta: Meta, now: number): Promise<QueueState> {
  const rows = await meta
    .selectFrom('jobs')
    .select(({ fn }) => [
      'status',
      fn.countAll<number | string>().as('count'),
      fn.min('created').as('oldest'),
    ])
    .where('queue', '=', 'storage')
    .where('status', 'in', ['waiting', 'processing'])
    .groupBy('status')
    .execute();
  const of = (status: string): (typeof rows)[number] | undefined => rows.find((row) => row.status === status);
  const oldest = of('waiting')?.oldest;
  return {
    // A count is a text where the database has larger numbers than this language.
    waiting: Number(of('waiting')?.count ?? 0),
    running: Number(of('processing')?.count ?? 0),
    oldestWaitingSeconds: oldest === undefined ? 0 : Math.max(0, now - Date.parse(oldest)) / 1000,
  };
}
