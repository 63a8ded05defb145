import type {
  ListedSchedule,
  Schedule,
  ScheduleBriefs,
  ScheduleBriefsQuery,
  ScheduleCalendar,
  ScheduleCreate,
  SchedulesHeld,
  SchedulesHold,
  ScheduleUpdate,
} from '../protocol/schedule.ts';
import type { ApiCore, ApiCall } from './api-core.ts';
import { path } from './encode.ts';
import { deleteOnce } from './repeated.ts';
import { listOf, shaped } from './shape.ts';

/** When a configuration runs by itself. */
export interface Schedules {
  list(): Promise<Schedule[]>;
  detail(id: string): Promise<Schedule>;
  create(schedule: ScheduleCreate): Promise<Schedule>;
  /** Updates a schedule; omitted fields stay. */
  update(id: string, changes: ScheduleUpdate): Promise<Schedule>;
  delete(id: string): Promise<void>;
}

const FIELDS = { id: 'id', cron: 'string', timeZone: 'string' } as const;

const one = (id: string): string => `/${path`${id}`}`;

/** @param base path of the configuration */
export function createSchedules(api: ApiCore, base: string): Schedules {
  const call = async (given: Omit<ApiCall, 'path' | 'scope'>, at = '') =>
    await api.call({ ...given, path: `${base}/schedules${at}`, scope: 'branch' });
  return {
    list: async () => listOf<Schedule>(await call({ method: 'GET' }), 'schedule', FIELDS),
    detail: async (id) => shaped<Schedule>(await call({ method: 'GET' }, one(id)), 'schedule', FIELDS),
    create: async (body) =>
      shaped<Schedule>(await call({ method: 'POST', body, isOnce: true }), 'schedule', FIELDS),
    update: async (id, body) =>
      shaped<Schedule>(await call({ method: 'PUT', body }, one(id)), 'schedule', FIELDS),
    async delete(id) {
      await deleteOnce(call({ method: 'DELETE', isOnce: true }, one(id)));
    },
  };
}

/** Which schedules of all configurations. */
export interface AllSchedulesQuery {
  readonly component?: string | undefined;
  readonly configuration?: string | undefined;
  /** How far ahead their next times are told. Default: 24. */
  readonly hours?: number | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** Schedules of all configurations. */
export interface AllSchedules {
  /** Those first that come next, then those that do not run. */
  list(query?: AllSchedulesQuery): Promise<ListedSchedule[]>;
  /** Lists them page by page, searched and sorted, with what lists show of each. */
  brief(query?: ScheduleBriefsQuery): Promise<ScheduleBriefs>;
  /** Counts the runs that begin by them in the next hours. */
  calendar(query?: { readonly hours?: number | undefined }): Promise<ScheduleCalendar>;
  /** Pauses those that are enabled, all or some; they stay enabled. Returns how many were paused. */
  pause(which?: SchedulesHold): Promise<number>;
  /** Resumes those that are paused; times that passed meanwhile are left out. Returns how many were resumed. */
  resume(which?: SchedulesHold): Promise<number>;
}

export function createAllSchedules(api: ApiCore): AllSchedules {
  const hold = async (what: 'pause' | 'resume', body: SchedulesHold): Promise<number> => {
    const json = await api.call({ method: 'POST', path: `schedules/${what}`, body });
    return shaped<SchedulesHeld>(json, 'schedules', { schedules: 'number' }).schedules;
  };
  return {
    list: async (query = {}) =>
      listOf<ListedSchedule>(
        await api.call({ method: 'GET', path: 'schedules', query: { ...query } }),
        'schedule',
        FIELDS,
      ),
    brief: async (query = {}) =>
      shaped<ScheduleBriefs>(
        await api.call({ method: 'GET', path: 'schedules/brief', query: { ...query } }),
        'schedule briefs',
        { total: 'number', schedules: 'list' },
      ),
    calendar: async (query = {}) =>
      shaped<ScheduleCalendar>(
        await api.call({ method: 'GET', path: 'schedules/calendar', query: { ...query } }),
        'calendar of schedules',
        { hours: 'list' },
      ),
    pause: async (which = {}) => await hold('pause', which),
    resume: async (which = {}) => await hold('resume', which),
  };
}
