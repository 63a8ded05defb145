import { Job } from '../../../storage/protocol/job.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { Answer } from '../answer.ts';
import { accessDenied, badRequest, notFound } from '../../domain/api-error.ts';
import { routesOf, type Route } from '../route.ts';
import { waitForJob } from '../enqueue-job.ts';
import { Cancelled } from '../../stores/queue/endings.ts';
import { describeFailure } from '../../domain/jobs/failure.ts';
import { findJob } from '../../stores/metadata/jobs.ts';
import type { JobRow } from '../../stores/metadata/tables.ts';
import { jobReply } from '../../domain/presenters/job.ts';
import type { Caller } from '../../domain/tokens/caller.ts';

const route = routesOf('Jobs');

/** Milliseconds that a request waits for a cancelled job: most that can end do so at once. */
const WAIT_MS = 1000;

/** Makes the routes that control an enqueued job. */
export function jobControlRoutes(context: DataContext): Route[] {
  const { meta, queue } = context;
  return [
    route('POST', '/jobs/:job/cancel', {
      summary:
        'Ends a job that waits, or one at work where it can be ended; its own token may, and the master token',
      response: Job,
      handle: async ({ params, caller, origin }) => {
        const { id } = await ownJob(params.job, caller);
        const { code, message, exceptionId } = describeFailure(
          new Cancelled(),
          { id, operation: '' },
          context,
        );
        const was = await queue.cancel(id, JSON.stringify({ code, message, exceptionId }));
        if (was === undefined) throw badRequest('storage.jobs.ended', `Job ${id} has ended already.`);
        return await answer(id, origin, was === 'waiting' ? 0 : WAIT_MS);
      },
    }),
    route('POST', '/jobs/:job/retry', {
      summary:
        'Gives a job again that was given up for want of what it needs; its own token may, and the master token',
      response: Job,
      handle: async ({ params, caller, origin }) => {
        const { id } = await ownJob(params.job, caller);
        if ((await queue.retry(id)) === undefined) throw notRetryable(id);
        return await answer(id, origin, 0);
      },
    }),
  ];

  async function ownJob(id: string, caller: Caller): Promise<JobRow> {
    const job = /^\d{1,15}$/.test(id) ? await findJob(meta, Number(id)) : undefined;
    if (job === undefined || job.queue !== 'storage') throw notFound(`Job ${id} not found`);
    if (!caller.isMaster && caller.id !== job.creator_id) throw accessDenied();
    return job;
  }

  async function answer(id: number, origin: string, waitMs: number): Promise<Answer> {
    const job = await waitForJob(context, id, waitMs);
    if (job === undefined) throw notFound(`Job ${id} not found`);
    return new Answer(202, jobReply(job, origin));
  }
}

const notRetryable = (id: number): Error =>
  badRequest(
    'storage.jobs.notGivenUp',
    `Job ${id} was not given up: it has not ended, or with what it was asked for it would end the same way. Ask for it anew.`,
  );
