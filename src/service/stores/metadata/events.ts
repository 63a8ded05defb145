import { idOfInserted } from './counter.ts';
import type { Meta } from './database.ts';
import { parseEventQuery } from './event-query.ts';
import type { EventRow } from './tables.ts';

export interface EventFilter {
  readonly sinceId?: number | undefined;
  readonly maxId?: number | undefined;
  readonly component?: string | undefined;
  readonly configurationId?: string | undefined;
  readonly runId?: string | undefined;
  readonly objectType?: string;
  readonly objectId?: string;
  /** Id of a token: only events that it caused, or that are about it. */
  readonly ofToken?: number;
  /** See {@link parseEventQuery}. */
  readonly q?: string | undefined;
  readonly projectId: number;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** Only what this token wrote, and what is about these components; undefined: everything. */
  readonly visibleTo?: EventReader | undefined;
}

export interface EventReader {
  readonly id: number;
  readonly componentAccess: readonly string[];
}

/** An event before it has its number, which says when it was written. */
export type NewEvent = Omit<EventRow, 'id'>;

/** @param given its number, for a caller that has to know it */
export async function insertEvent(meta: Meta, event: NewEvent, given?: number): Promise<void> {
  const id = given ?? (await idOfInserted(meta));
  await meta
    .insertInto('events')
    .values({ ...event, id })
    .execute();
}

/** Removes all but the newest events of a kind. */
export async function keepNewest(
  meta: Meta,
  of: { readonly branchId: number; readonly event: string; readonly count: number },
): Promise<void> {
  const kind = { branch_id: of.branchId, event: of.event };
  const last = await meta
    .selectFrom('events')
    .select('id')
    .where((where) => where.and(kind))
    .orderBy('id', 'desc')
    .offset(of.count)
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return;
  await meta
    .deleteFrom('events')
    .where((where) => where.and(kind))
    .where('id', '<=', last.id)
    .execute();
}

/** The event of an id or a UUID. */
export async function findEvent(meta: Meta, id: string): Promise<EventRow | undefined> {
  const all = meta.selectFrom('events').selectAll();
  if (/^\d{1,15}$/.test(id)) return await all.where('id', '=', Number(id)).executeTakeFirst();
  return await all.where('uuid', '=', id.toLowerCase()).executeTakeFirst();
}

/** Events, the newest first. */
export async function listEvents(meta: Meta, branchId: number, filter: EventFilter): Promise<EventRow[]> {
  let query = meta.selectFrom('events').selectAll().where('branch_id', '=', branchId);
  if (filter.sinceId !== undefined) query = query.where('id', '>', filter.sinceId);
  if (filter.maxId !== undefined) query = query.where('id', '<', filter.maxId);
  if (filter.component !== undefined) query = query.where('component', '=', filter.component);
  if (filter.configurationId !== undefined)
    query = query.where('configuration_id', '=', filter.configurationId);
  if (filter.runId !== undefined) query = query.where('id', 'in', idsOfRun(meta, branchId, filter.runId));
  const reader = filter.visibleTo;
  if (reader !== undefined) {
    const { id, componentAccess: components } = reader;
    query = query.where((where) =>
      where.or([
        where('token_id', '=', id),
        ...(components.length === 0 ? [] : [where('component', 'in', components)]),
      ]),
    );
  }
  if (filter.objectType !== undefined) query = query.where('object_type', '=', filter.objectType);
  if (filter.objectId !== undefined) query = query.where('object_id', '=', filter.objectId);
  if (filter.ofToken !== undefined)
    query = query.where('id', 'in', idsOfToken(meta, branchId, filter.ofToken));
  const condition = parseEventQuery(filter.q ?? '', filter.projectId);
  if (condition !== undefined) query = query.where(condition);
  return await query
    .orderBy('id', 'desc')
    .limit(filter.limit ?? 100)
    .offset(filter.offset ?? 0)
    .execute();
}

/**
 * A run's events are those of its children too: ids of children are `parent.child`, and `/` comes after the dot. Apart
 * from the rest of the query, so that both halves are found by their index.
 */
function idsOfRun(meta: Meta, branchId: number, runId: string) {
  const ids = meta.selectFrom('events').select('id').where('branch_id', '=', branchId);
  return ids
    .where('run_id', '=', runId)
    .unionAll(ids.where('run_id', '>=', `${runId}.`).where('run_id', '<', `${runId}/`));
}

function idsOfToken(meta: Meta, branchId: number, token: number) {
  const ids = meta.selectFrom('events').select('id').where('branch_id', '=', branchId);
  return ids
    .where('token_id', '=', token)
    .unionAll(ids.where('object_id', '=', String(token)).where('object_type', '=', 'token'));
}
