import { Type } from 'typebox';
import {
  Run,
  RunAccept,
  MayRun,
  RunCreate,
  RunEventsQuery,
  RunLog,
  RunLogQuery,
  RunsQuery,
} from '../../../storage/protocol/run.ts';
import { RunProblems, RunProblemsQuery } from '../../../storage/protocol/problems.ts';
import { SourceStates, SourceStatesQuery } from '../../../storage/protocol/source-state.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Context } from '../../domain/context.ts';
import { readProblems } from '../../domain/runs/problems.ts';
import { acceptDoubt } from '../../domain/runs/accept-doubt.ts';
import { mayRun } from '../../domain/runs/may-run.ts';
import { readSourceStates } from '../../domain/runs/source-states.ts';
import { RawJson } from '../../domain/reply.ts';
import { ApiError, badRequest, invalidField, notFound } from '../../domain/api-error.ts';
import { eventStream } from '../event-stream.ts';
import { type Who, routesOf, type Route } from '../route.ts';
import { keyFrom } from '../parsing/configuration.ts';
import { timeOf } from '../parsing/time.ts';
import { checkVersion } from '../../domain/configurations/check-version.ts';
import { listRowIds, requireConfiguration } from '../../domain/configurations/read-configuration.ts';
import { readLog } from '../../stores/metadata/run-log.ts';
import { countRows } from '../../stores/metadata/run-rows.ts';
import { findRun, findUnfinished, listRuns } from '../../stores/metadata/runs.ts';
import { configurationsOf } from '../../stores/metadata/transaction.ts';
import type { ConfigurationKey, RunRow } from '../../stores/metadata/tables.ts';
import { followRun, takePlace } from '../run-events.ts';
import { runReply, wholeRunReply } from '../../domain/presenters/run.ts';
import { authorOf } from '../../domain/tokens/caller.ts';
import { requireAnyComponent, requireComponent } from '../../domain/tokens/permissions.ts';

const route = routesOf('Runs');
const ofConfigurations = routesOf('Configurations');

/** Makes the routes of the runs of configurations: they are enqueued here, and done by runners. */
export function runRoutes(context: Context): Route[] {
  const { meta, queue } = context;
  return [
    route('POST', '/runs', {
      summary: 'Starts a run of a configuration',
      status: 201,
      body: RunCreate,
      response: Run,
      handle: async ({ body, ...call }) => {
        const { component, configuration, ifRunning = 'wait', ifVersion, ...asked } = body;
        const key = keyFrom(context, call, component, configuration);
        if (asked.to !== undefined && asked.from === undefined)
          throw badRequest('storage.validation', 'to: it needs "from", the time to begin at.');
        const run = await call.transact(configurationsOf(key), async (tx) => {
          const { head, version } = await requireConfiguration(tx, key);
          checkVersion('configuration', head.version, ifVersion);
          const known = asked.rows === undefined ? [] : await listRowIds(tx, key);
          const unknown = asked.rows?.find((row) => !known.includes(row));
          if (unknown !== undefined)
            throw badRequest('storage.validation', `rows: the configuration has no row "${unknown}".`);
          const other = ifRunning === 'refuse' ? await findUnfinished(tx, key) : undefined;
          if (other !== undefined) throw isRunning(key, other);
          return await queue.runs.submit(tx, {
            configuration: key,
            asked,
            version,
            author: authorOf(call.caller),
          });
        });
        queue.wake('runs');
        return wholeRunReply(run);
      },
    }),
    ofConfigurations('GET', '/components/:component/configs/:configuration/run-rights', {
      summary: 'Whether the token may run a configuration as it is, and why not',
      response: MayRun,
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        return { ...(await mayRun(context, call.caller, await requireConfiguration(meta, key))) };
      },
    }),
    route('GET', '/runs', {
      summary: 'Runs, the newest first',
      query: RunsQuery,
      response: Type.Array(Run),
      handle: async ({ query, caller, branch }) => {
        requireAnyComponent(caller);
        const mayAll = caller.isMaster || caller.canManageBuckets;
        const now = await queue.runs.now();
        const ended = (key: 'since' | 'until'): string | undefined =>
          query[key] === undefined ? undefined : isoTime(timeOf(key, query[key], now));
        const runs = await listRuns(meta, {
          branchId: branch.id,
          component: query.component,
          configuration: query.configuration,
          statuses: query.status,
          isLast: query.isLast,
          isBad: query.isBad,
          since: ended('since'),
          until: ended('until'),
          components: mayAll ? undefined : caller.componentAccess,
          limit: query.limit ?? 20,
          offset: query.offset ?? 0,
        });
        const counts = await countRows(
          meta,
          runs.map(({ id }) => id),
        );
        return runs.map((run) => ({ ...runReply(run), rowCount: counts.get(run.id) }));
      },
    }),
    route('GET', '/runs/problems', {
      summary:
        'Runs that went wrong in a range of time, by their causes, and times of schedules that gave no run',
      query: RunProblemsQuery,
      response: RunProblems,
      handle: async ({ query, caller, branch }) => {
        requireAnyComponent(caller);
        const now = await queue.runs.now();
        const until = query.until === undefined ? now + 1 : timeOf('until', query.until, now);
        const since = query.since === undefined ? until - DAY_MS : timeOf('since', query.since, now);
        if (since >= until)
          throw invalidField('storage.validation', 'since', 'The range is empty: "since" is before "until".');
        const mayAll = caller.isMaster || caller.canManageBuckets;
        const range = {
          branchId: branch.id,
          since: isoTime(since),
          until: isoTime(until),
          component: query.component,
          configuration: query.configuration,
          components: mayAll ? undefined : caller.componentAccess,
        };
        return new RawJson(JSON.stringify(await readProblems(meta, range, now)));
      },
    }),
    route('GET', '/runs/sources', {
      summary: 'State of the configurations: failed, late, doubtful, never run or fresh, and paused or not',
      query: SourceStatesQuery,
      response: SourceStates,
      handle: async ({ query, caller, branch }) => {
        requireAnyComponent(caller);
        const mayAll = caller.isMaster || caller.canManageBuckets;
        const components = mayAll ? undefined : caller.componentAccess;
        const place = { branchId: branch.id, components, now: await queue.runs.now() };
        return new RawJson(JSON.stringify(await readSourceStates(meta, place, query)));
      },
    }),
    route('GET', '/runs/:run', {
      summary: 'A run, and what it gave',
      response: Run,
      handle: async ({ params, ...call }) => wholeRunReply(await requireRun(context, call, params.run)),
    }),
    route('GET', '/runs/:run/log', {
      summary: 'The log of a run, from a line on',
      query: RunLogQuery,
      response: RunLog,
      handle: async ({ params, query, ...call }) => {
        const { offset = 0, limit = 1000 } = query;
        // Read before the lines: whatever is written in between is still to come then.
        const run = await requireRun(context, call, params.run);
        const lines = await readLog(meta, run.id, { offset, limit });
        const next = offset + lines.length;
        return {
          lines: lines.map((line) => new RawJson(line)),
          next,
          isEnded: run.ended !== null && next >= run.log_lines,
        };
      },
    }),
    route('GET', '/runs/:run/events', {
      summary: 'A run while it goes on, as a stream of server-sent events: `run`, `log` and `end`',
      query: RunEventsQuery,
      handle: async ({ params, query, request, ...call }) => {
        const run = await requireRun(context, call, params.run);
        const last = request.headers['last-event-id'];
        const offset =
          typeof last === 'string' && /^\d{1,12}$/.test(last) ? Number(last) : (query.offset ?? 0);
        const onEnd = takePlace(call.caller.id);
        return eventStream(context, (signal) => followRun(context, { run: run.id, offset }, signal), {
          onEnd,
        });
      },
    }),
    route('POST', '/runs/:run/accept', {
      summary:
        'Accepts the doubt of a run: another run loads what it held back, and asks the API for nothing; of one that has loaded, the answer is the run itself',
      body: RunAccept,
      response: Run,
      handle: async ({ params, body, ...call }) => {
        const run = await requireRun(context, call, params.run);
        return wholeRunReply(await acceptDoubt(context, call, run, body.because.trim()));
      },
    }),
    route('POST', '/runs/:run/cancel', {
      summary: 'Asks a run to end',
      response: Run,
      handle: async ({ params, ...call }) => {
        const run = await requireRun(context, call, params.run);
        if (!(await queue.runs.cancel(call.transact, run.id)) && run.status !== 'cancelled')
          throw new ApiError(409, 'storage.runs.ended', `The run ${run.id} has ended already.`);
        return wholeRunReply((await findRun(meta, run.id)) ?? run);
      },
    }),
  ];
}

const DAY_MS = 24 * 60 * 60 * 1000;

function isRunning({ configuration_id }: ConfigurationKey, run: number): ApiError {
  return new ApiError(
    409,
    'storage.runs.running',
    `The configuration ${configuration_id} is running: the run ${run} has not ended.`,
    { params: { run } },
  );
}

/** Returns a run of the branch, whose component the caller may use. @throws {ApiError} 404, 403 */
export async function requireRun(
  { meta }: Pick<Context, 'meta'>,
  { branch, caller }: Who,
  id: string,
): Promise<RunRow> {
  const run = /^\d{1,15}$/.test(id) ? await findRun(meta, Number(id)) : undefined;
  if (run === undefined || run.branch_id !== branch.id)
    throw notFound(`Run ${id} not found`, 'storage.runs.notFound');
  requireComponent(caller, run.component_id);
  return run;
}
