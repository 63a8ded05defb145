import type { Schedule, ScheduleCreate, ScheduleUpdate } from '../protocol/schedule.ts';
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
