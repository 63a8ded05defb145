import { Job } from '../../protocol/job.ts';
import type { Context } from '../context.ts';
import { notFound } from '../errors.ts';
import { findJob } from '../meta/jobs.ts';
import { route, type Route } from '../route.ts';
import { jobReply } from '../shapes/job.ts';

/** Jobs (storage 1.4). */
export function jobRoutes(context: Context): Route[] {
  return [
    route({
      method: 'GET',
      path: '/jobs/:job',
      summary: 'A job',
      tag: 'Jobs',
      response: Job,
      handle: async ({ params, origin }) => {
        const job = /^\d{1,15}$/.test(params.job)
          ? await findJob(context.meta, Number(params.job))
          : undefined;
        if (job === undefined) throw notFound(`Job ${params.job} not found`);
        return jobReply(job, origin);
      },
    }),
  ];
}
