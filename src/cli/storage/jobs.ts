import type { Job } from '../../storage/client/index.ts';
import { valued, type Command } from '../command.ts';
import { formatTable } from '../format.ts';
import { formatJson } from '../../lib/json/format-json.ts';
import { countArg } from '../shared.ts';
import { facts, time } from './facts.ts';
import { numberWord } from './id-word.ts';
import { storageCommand } from './storage-command.ts';

const jobWord = { name: 'id', describe: 'Number of the job', isRequired: true } as const;

export const jobCommands: readonly Command[] = [
  storageCommand({
    name: 'list',
    describe: 'List jobs, the newest first',
    options: {
      status: {
        type: 'list',
        value: 'STATUS',
        choices: ['waiting', 'processing', 'success', 'error'],
        describe: 'Only those that are waiting, processing, success or error; may be given several times',
      },
      limit: valued('N', 'At most so many; 20 by default'),
    },
    examples: [['gex storage jobs list --status error', 'Those that failed']],
    async run({ args, client, show }) {
      const limit = countArg(args, 'limit');
      const statuses = args.list('status');
      const jobs = await client.jobs.list({
        ...(limit === undefined ? {} : { limit }),
        ...(statuses.length === 0 ? {} : { storage_job_status: statuses }),
      });
      show(jobs, () => (jobs.length === 0 ? 'There are no such jobs.' : describeJobs(jobs)));
    },
  }),
  storageCommand({
    name: 'show',
    describe: 'Show a job, with what it did or why it failed',
    words: [jobWord],
    examples: [['gex storage jobs show 1042', 'One job']],
    async run({ args, client, show }) {
      const job = await client.jobs.detail(numberWord(args, 'id'));
      show(job, () => describeJob(job));
    },
  }),
  storageCommand({
    name: 'wait',
    describe: 'Wait until a job has ended; one that failed is an error',
    words: [jobWord],
    options: {
      timeout: valued('SECONDS', 'Give up after so long; the job goes on'),
    },
    examples: [['gex storage jobs wait 1042 --timeout 600', 'Ten minutes at most']],
    async run({ args, client, line, show }) {
      const seconds = countArg(args, 'timeout');
      const timeoutMs = seconds === undefined ? undefined : seconds * 1000;
      const job = await client.jobs.wait(numberWord(args, 'id'), {
        timeoutMs,
        ...line.wait,
      });
      show(job, () => describeJob(job));
    },
  }),
  storageCommand({
    name: 'cancel',
    describe: 'End a job that waits, or ask one at work to end',
    words: [jobWord],
    examples: [['gex storage jobs cancel 1042', 'A load that is not wanted any more']],
    async run({ args, client, show }) {
      const job = await client.jobs.cancel(numberWord(args, 'id'));
      show(job, () => describeJob(job));
    },
  }),
  storageCommand({
    name: 'retry',
    describe: 'Give a job again that was given up for want of what it needs, such as the object store',
    words: [jobWord],
    examples: [['gex storage jobs retry 1042', 'What failed while the object store was away']],
    async run({ args, client, show }) {
      const job = await client.jobs.retry(numberWord(args, 'id'));
      show(job, () => describeJob(job));
    },
  }),
];

function describeJobs(jobs: readonly Job[]): string {
  return formatTable(
    ['job', 'operation', 'table', 'status', 'created', 'seconds'],
    jobs.map((job) => [
      String(job.id),
      job.operationName,
      job.tableId ?? '',
      job.status,
      time(job.createdTime),
      seconds(job),
    ]),
    ['seconds'],
  );
}

function describeJob(job: Job): string {
  const { error, results } = job;
  return facts([
    ['job', String(job.id)],
    ['operation', job.operationName],
    ['table', job.tableId ?? ''],
    ['status', job.status],
    ['error', typeof error === 'string' ? error : (error?.message ?? '')],
    ['created', time(job.createdTime)],
    ['started', time(job.startTime)],
    ['ended', time(job.endTime)],
    ['seconds', seconds(job)],
    ['by', job.creatorToken.description],
    ['results', results === null || results === undefined ? '' : formatJson(results)],
  ]);
}

function seconds({ startTime, endTime }: Job): string {
  if (startTime === null || endTime === null) return '';
  const ms = Date.parse(time(endTime)) - Date.parse(time(startTime));
  return Number.isNaN(ms) ? '' : String(ms / 1000);
}
