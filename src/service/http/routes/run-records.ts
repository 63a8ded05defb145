import {
  isBadRequest,
  RunRequests,
  RunRequestsQuery,
  type RunRequest,
} from '../../../storage/protocol/run-requests.ts';
import { readRequests } from '../../stores/metadata/run-requests.ts';
import { explanationOf, recordingOf } from '../../../storage/protocol/recordings.ts';
import { RunExplanation, RunExplanationQuery } from '../../../storage/protocol/explanation.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { Answer } from '../answer.ts';
import { accessDenied, notFound } from '../../domain/api-error.ts';
import { routesOf, type Route } from '../route.ts';
import type { RunRow } from '../../stores/metadata/tables.ts';
import { ObjectError } from '../../stores/objects/errors.ts';
import { isDamagedRecord } from '../../domain/runs/damaged-record.ts';
import { readExplanation } from '../../domain/runs/explanation.ts';
import type { Caller } from '../../domain/tokens/caller.ts';
import { requireRun } from './runs.ts';

const route = routesOf('Runs');

/** Makes the routes of the requests and answers of runs: runners store them, and they live as long as the runs. */
export function runRecordRoutes(context: DataContext): Route[] {
  const { meta, objects } = context;
  return [
    route('GET', '/runs/:run/explanation', {
      summary: 'What a run asked for, what led from page to page, and why each job ended',
      query: RunExplanationQuery,
      response: RunExplanation,
      handle: async ({ params, query, ...call }) => {
        const run = await requireRun(context, call, params.run);
        const { offset = 0, limit = 100, row, job } = query;
        return await objects
          .read(explanationOf(String(run.id)))
          .then(async (file) => await readExplanation(file, { row, job, offset, limit }))
          .catch(unread(run, 'explanation'));
      },
    }),
    route('GET', '/runs/:run/requests', {
      summary: 'The requests that a run has sent, those that failed among them, also while it goes on',
      query: RunRequestsQuery,
      response: RunRequests,
      handle: async ({ params, query, ...call }) => {
        const { id } = await requireRun(context, call, params.run);
        // Written by a run of this service.
        const all = numbered((await readRequests(meta, id)).map((line) => JSON.parse(line) as RunRequest));
        const bad = all.filter(isBadRequest);
        const { isBad = false, offset = 0, limit = 100 } = query;
        const requests = (isBad ? bad : all).slice(offset, offset + limit);
        return { requests, total: all.length, bad: bad.length, next: offset + requests.length };
      },
    }),
    route('GET', '/runs/:run/recording', {
      summary:
        'The recording of a run, with all answers; for its own token, the master token, and those that manage buckets',
      handle: async ({ params, ...call }) => {
        const run = await requireRun(context, call, params.run);
        if (!maySeeAnswers(call.caller, run)) throw accessDenied();
        const file = await objects.read(recordingOf(String(run.id))).catch(unread(run, 'recording'));
        return new Answer(200, file, {
          'content-type': 'application/zstd',
          'content-disposition': `attachment; filename="run-${run.id}.gexr"`,
        });
      },
    }),
  ];
}

/** Numbers requests through the whole run: each process of it has counted its own from 1. */
function numbered(requests: readonly RunRequest[]): RunRequest[] {
  let [before, last] = [0, 0];
  return requests.map((request) => {
    if (before + request.number <= last) before = last;
    last = before + request.number;
    return { ...request, number: last };
  });
}

/** Tells whether the caller may see the answers: they are more than the log, as they have the rows of every table. */
export function maySeeAnswers(caller: Caller, run: RunRow): boolean {
  return caller.isMaster || caller.canManageBuckets || caller.id === run.creator_id;
}

/** Turns the error of a missing or damaged object into an answer. @throws {ApiError} 404 for both */
function unread(run: RunRow, what: 'explanation' | 'recording'): (error: unknown) => never {
  return (error) => {
    if (isDamagedRecord(error))
      throw notFound(
        `Run ${run.id} has no ${what} that can be read: its file is damaged. Run the source again for another one.`,
        `storage.runs.damaged${NAMES[what]}`,
      );
    if (!(error instanceof ObjectError) || error.code !== 'NoSuchKey') throw error;
    const why =
      run.ended === null
        ? 'it has not ended'
        : 'it could not begin, its process was ended by force, or what it got was too large to be kept';
    throw notFound(`Run ${run.id} has no ${what}: ${why}.`, `storage.runs.no${NAMES[what]}`);
  };
}

const NAMES = { explanation: 'Explanation', recording: 'Recording' } as const;
