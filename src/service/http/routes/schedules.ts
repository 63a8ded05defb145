import { Type } from 'typebox';
import {
  ListedSchedule,
  Schedule,
  ScheduleBriefs,
  ScheduleBriefsQuery,
  ScheduleCalendar,
  ScheduleCalendarQuery,
  ScheduleCreate,
  SchedulesHeld,
  SchedulesHold,
  SchedulesQuery,
  ScheduleUpdate,
} from '../../../storage/protocol/schedule.ts';
import type { Context } from '../../domain/context.ts';
import { RawJson, type Reply } from '../../domain/reply.ts';
import { badRequest, notFound } from '../../domain/api-error.ts';
import { routesOf, type Route, type Who } from '../route.ts';
import { keyFrom } from '../parsing/configuration.ts';
import { checkVersion } from '../../domain/configurations/check-version.ts';
import { listRowIds, requireConfiguration } from '../../domain/configurations/read-configuration.ts';
import { nextId } from '../../stores/metadata/counter.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import {
  deleteSchedule,
  findSchedule,
  insertSchedule,
  lastRuns,
  listHeld,
  listSchedules,
  pauseSchedules,
  updateSchedule,
  type ScheduleFilter,
} from '../../stores/metadata/schedules.ts';
import type { ConfigurationKey, ScheduleRow } from '../../stores/metadata/tables.ts';
import { branchOf, configurationsOf } from '../../stores/metadata/transaction.ts';
import { readScheduleBriefs } from '../../domain/schedules/briefs.ts';
import { readCalendar } from '../../domain/schedules/calendar.ts';
import { checkTiming, nextTime, type Timing } from '../../domain/schedules/cron.ts';
import { readSchedules } from '../../domain/schedules/list.ts';
import { requireAnyComponent } from '../../domain/tokens/permissions.ts';
import { scheduleReply } from '../../domain/presenters/run.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { authorOf, type Caller } from '../../domain/tokens/caller.ts';

const route = routesOf('Schedules');
const all = '/components/:component/configs/:configuration/schedules';
const one = `${all}/:schedule` as const;

/** Makes the routes of schedules, by which configurations run on their own. */
export function scheduleRoutes(context: Context): Route[] {
  const { meta, env, queue } = context;
  const replies = async (schedules: readonly ScheduleRow[]): Promise<Reply[]> => {
    const last = await lastRuns(meta, schedules);
    return schedules.map((schedule) => scheduleReply(schedule, last.get(schedule.id)));
  };
  const reply = async (schedule: ScheduleRow): Promise<Reply> => (await replies([schedule]))[0] ?? null;
  return [
    route('GET', '/schedules', {
      summary: 'The schedules of all configurations, with what they wait for and their next times',
      query: SchedulesQuery,
      response: Type.Array(ListedSchedule),
      handle: async ({ query, ...who }) => {
        const { limit = 100, offset = 0, hours = 24, ...of } = query;
        const until = (await queue.runs.now()) + hours * HOUR_MS;
        return await readSchedules(meta, { ...filterOf(who, of), limit, offset, until });
      },
    }),
    route('GET', '/schedules/brief', {
      summary: 'The schedules of all configurations page by page, with what lists show of each',
      query: ScheduleBriefsQuery,
      response: ScheduleBriefs,
      handle: async ({ query, ...who }) =>
        new RawJson(JSON.stringify(await readScheduleBriefs(meta, filterOf(who, {}), query))),
    }),
    route('GET', '/schedules/calendar', {
      summary: 'The next hours, with the runs that begin in each by schedules',
      query: ScheduleCalendarQuery,
      response: ScheduleCalendar,
      handle: async ({ query, ...who }) => {
        const asked = { now: await queue.runs.now(), hours: query.hours ?? 24 };
        return new RawJson(JSON.stringify(await readCalendar(meta, filterOf(who, {}), asked)));
      },
    }),
    route('POST', '/schedules/pause', {
      summary: 'Pauses all schedules that are enabled, or those of a component or a configuration',
      body: SchedulesHold,
      response: SchedulesHeld,
      handle: async ({ body, transact, ...who }) => {
        const filter = filterOf(who, body);
        return await transact([branchOf(who.branch.id)], async (tx) => ({
          schedules: await pauseSchedules(tx, filter),
        }));
      },
    }),
    route('POST', '/schedules/resume', {
      summary: 'Resumes schedules that are paused; times that passed meanwhile are left out',
      body: SchedulesHold,
      response: SchedulesHeld,
      handle: async ({ body, transact, ...who }) => {
        const filter = filterOf(who, body);
        const now = await queue.runs.now();
        return await transact([branchOf(who.branch.id)], async (tx) => {
          const held = await listHeld(tx, filter, true);
          for (const { id, cron, time_zone, is_enabled, last_occurrence } of held)
            await updateSchedule(tx, id, {
              is_paused: 0,
              next_occurrence: next(
                { cron, timeZone: time_zone },
                { now, isEnabled: is_enabled === 1, last: last_occurrence },
              ),
            });
          return { schedules: held.length };
        });
      },
    }),
    route('GET', all, {
      summary: 'The schedules of a configuration',
      response: Type.Array(Schedule),
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        await requireConfiguration(meta, key);
        return await replies(await listSchedules(meta, key));
      },
    }),
    route('POST', all, {
      summary: 'Makes a schedule',
      status: 201,
      body: ScheduleCreate,
      response: Schedule,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const { cron, timeZone = 'UTC', rows = [], isEnabled = true } = body;
        checkTiming({ cron, timeZone });
        const now = await queue.runs.now();
        const schedule = await call.transact(configurationsOf(key), async (tx) => {
          const { head } = await requireConfiguration(tx, key);
          await requireRows(tx, key, rows);
          const id = await nextId(tx);
          const made: ScheduleRow = {
            id,
            ...key,
            cron,
            time_zone: timeZone,
            rows: JSON.stringify(rows),
            is_enabled: isEnabled ? 1 : 0,
            is_paused: 0,
            // The author of a schedule approves the current version, as the starter of a run does.
            approved_version: head.version,
            approved_id: id,
            next_occurrence: next({ cron, timeZone }, { now, isEnabled }),
            last_occurrence: null,
            created: isoTime(env.now()),
            ...authorOf(call.caller),
          };
          await insertSchedule(tx, made);
          return made;
        });
        return scheduleReply(schedule);
      },
    }),
    route('GET', one, {
      summary: 'A schedule',
      response: Schedule,
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        return await reply(await requireSchedule(meta, key, params.schedule));
      },
    }),
    route('PUT', one, {
      summary: 'Changes a schedule; what is left out stays',
      body: ScheduleUpdate,
      response: Schedule,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const now = await queue.runs.now();
        const schedule = await call.transact(configurationsOf(key), async (tx) => {
          const { head } = await requireConfiguration(tx, key);
          const known = await requireSchedule(tx, key, params.schedule);
          checkVersion('configuration', head.version, body.ifVersion);
          const timing = { cron: body.cron ?? known.cron, timeZone: body.timeZone ?? known.time_zone };
          const isEnabled = body.isEnabled ?? known.is_enabled === 1;
          checkTiming(timing);
          if (body.rows !== undefined) await requireRows(tx, key, body.rows);
          const changes = {
            cron: timing.cron,
            time_zone: timing.timeZone,
            rows: body.rows === undefined ? known.rows : JSON.stringify(body.rows),
            is_enabled: isEnabled ? (1 as const) : (0 as const),
            next_occurrence: next(timing, {
              now,
              isEnabled: isEnabled && known.is_paused === 0,
              last: known.last_occurrence,
            }),
            ...(await approvalOf(tx, known, { caller: call.caller, version: body.ifVersion })),
            ...authorOf(call.caller),
          };
          await updateSchedule(tx, known.id, changes);
          return { ...known, ...changes };
        });
        return await reply(schedule);
      },
    }),
    route('DELETE', one, {
      summary: 'Deletes a schedule',
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const { id } = await requireSchedule(meta, key, params.schedule);
        await deleteSchedule(meta, id);
        return undefined;
      },
    }),
  ];
}

const HOUR_MS = 60 * 60 * 1000;

/** Returns the filter of schedules of which the caller may use the component. @throws {ApiError} 400, 403 */
function filterOf(
  { caller, branch }: Who,
  { component, configuration }: Pick<ScheduleFilter, 'component' | 'configuration'>,
): ScheduleFilter {
  requireAnyComponent(caller);
  if (configuration !== undefined && component === undefined)
    throw badRequest('storage.validation', 'configuration: it needs "component", whose configuration it is.');
  const mayAll = caller.isMaster || caller.canManageBuckets;
  const components = mayAll ? undefined : caller.componentAccess;
  return { branchId: branch.id, component, configuration, components };
}

async function requireSchedule(meta: Meta, key: ConfigurationKey, id: string): Promise<ScheduleRow> {
  await requireConfiguration(meta, key);
  const found = /^\d{1,15}$/.test(id) ? await findSchedule(meta, key, Number(id)) : undefined;
  if (found === undefined) throw notFound(`Schedule ${id} not found`, 'storage.schedules.notFound');
  return found;
}

/**
 * Returns the approval of a schedule. A caller who has not approved a version answers for none: an approval by
 * another token is not the caller's.
 */
async function approvalOf(
  tx: Meta,
  known: ScheduleRow,
  { caller, version }: { readonly caller: Caller; readonly version: number | undefined },
): Promise<Pick<ScheduleRow, 'approved_id' | 'approved_version'>> {
  if (version !== undefined) return { approved_version: version, approved_id: await nextId(tx) };
  const { approved_version, approved_id, creator_id } = known;
  if (creator_id === caller.creator_id) return { approved_version, approved_id };
  return { approved_version: null, approved_id: null };
}

async function requireRows(meta: Meta, key: ConfigurationKey, rows: readonly string[]): Promise<void> {
  const known = rows.length === 0 ? [] : await listRowIds(meta, key);
  const unknown = rows.find((row) => !known.includes(row));
  if (unknown !== undefined)
    throw badRequest('storage.validation', `rows: the configuration has no row "${unknown}".`);
}

/** Returns the next time of a schedule; null for one that is switched off. */
function next(
  timing: Timing,
  { now, isEnabled, last = null }: { now: number; isEnabled: boolean; last?: string | null },
): string | null {
  // A clock that was set back repeats no time.
  const after = Math.max(now, last === null ? 0 : Date.parse(last));
  const time = isEnabled ? nextTime(timing, after) : undefined;
  return time === undefined ? null : isoTime(time);
}
