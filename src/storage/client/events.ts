import type { EventCreate } from '../protocol/index.ts';
import type { ApiCore } from './api-core.ts';
import { path } from './encode.ts';
import { listOf, shaped } from './shape.ts';

/** Something that happened in the project. */
export interface StorageEvent {
  readonly id: string | number;
  readonly uuid?: string;
  readonly event?: string;
  readonly component?: string;
  readonly message?: string;
  readonly type?: string;
  readonly runId?: string | null;
  readonly created?: string;
  readonly [field: string]: unknown;
}

/** Which events; all that is given has to be true of them. */
export interface EventsQuery {
  /** Only newer ones than this id or UUID. */
  readonly sinceId?: number | string | undefined;
  /** Only older ones. */
  readonly maxId?: number | string | undefined;
  readonly component?: string | undefined;
  readonly configurationId?: string | undefined;
  readonly runId?: string | undefined;
  /** Words of the message and `field:value`, joined by AND, OR, NOT and brackets. */
  readonly q?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** Scope of events: the whole project, or a bucket, table or token. */
export type EventsOf = { readonly bucket: string } | { readonly table: string } | { readonly token: string };

/** Operations on events. */
export interface Events {
  create(event: EventCreate): Promise<{ readonly id: string | number }>;
  /** Newest first. */
  list(query?: EventsQuery, of?: EventsOf): Promise<StorageEvent[]>;
  detail(id: string | number): Promise<StorageEvent>;
}

export function createEvents(api: ApiCore): Events {
  return {
    create: async (body) =>
      shaped(await api.call({ method: 'POST', path: 'events', body, isOnce: true }), 'event', {}),
    list: async (query = {}, of) =>
      listOf<StorageEvent>(
        await api.call({ method: 'GET', path: `${placeOf(of)}events`, query: { ...query } }),
        'event',
        {},
      ),
    detail: async (id) =>
      shaped<StorageEvent>(await api.call({ method: 'GET', path: path`events/${id}` }), 'event', {}),
  };
}

function placeOf(of: EventsOf | undefined): string {
  if (of === undefined) return '';
  if ('bucket' in of) return path`buckets/${of.bucket}/`;
  return 'table' in of ? path`tables/${of.table}/` : path`tokens/${of.token}/`;
}
