import { sql, type SqlBool } from 'kysely';
import { badRequest } from '../errors.ts';
import type { Meta } from './database.ts';
import type { EventRow } from './tables.ts';

export interface EventFilter {
  readonly sinceId?: number | undefined;
  readonly maxId?: number | undefined;
  readonly component?: string | undefined;
  readonly configurationId?: string | undefined;
  readonly runId?: string | undefined;
  readonly objectType?: string;
  readonly objectId?: string;
  readonly tokenId?: number;
  /** Words of the message, or `field:value` of {@link QUERY_FIELDS}. */
  readonly q?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** Only what this token wrote, and what is about these components; undefined: everything. */
  readonly visibleTo?: EventReader | undefined;
}

export interface EventReader {
  readonly id: number;
  readonly componentAccess: readonly string[];
}

const QUERY_FIELDS = {
  component: 'component',
  configurationId: 'configuration_id',
  event: 'event',
  message: 'message',
  objectId: 'object_id',
  objectType: 'object_type',
  runId: 'run_id',
  type: 'type',
} as const;

export async function insertEvent(meta: Meta, event: EventRow): Promise<void> {
  await meta.insertInto('events').values(event).execute();
}

export async function findEvent(meta: Meta, id: number): Promise<EventRow | undefined> {
  return await meta.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Events, the newest first. */
export async function listEvents(meta: Meta, branchId: number, filter: EventFilter): Promise<EventRow[]> {
  let query = meta.selectFrom('events').selectAll().where('branch_id', '=', branchId);
  if (filter.sinceId !== undefined) query = query.where('id', '>', filter.sinceId);
  if (filter.maxId !== undefined) query = query.where('id', '<', filter.maxId);
  if (filter.component !== undefined) query = query.where('component', '=', filter.component);
  if (filter.configurationId !== undefined)
    query = query.where('configuration_id', '=', filter.configurationId);
  // A run's events are those of its children too: ids of children are `parent.child`.
  const { runId } = filter;
  if (runId !== undefined) {
    query = query.where((where) =>
      where.or([
        where('run_id', '=', runId),
        sql<SqlBool>`run_id like ${`${literally(runId)}.%`} escape '\\'`,
      ]),
    );
  }
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
  if (filter.tokenId !== undefined) query = query.where('token_id', '=', filter.tokenId);
  for (const { field, text } of termsOf(filter.q ?? '')) {
    query =
      field === 'message'
        ? query.where(sql<SqlBool>`lower(message) like lower(${`%${literally(text)}%`}) escape '\\'`)
        : query.where(field, '=', text);
  }
  return await query
    .orderBy('id', 'desc')
    .limit(filter.limit ?? 100)
    .offset(filter.offset ?? 0)
    .execute();
}

/** Text in a pattern that stands for itself. */
const literally = (text: string): string => text.replaceAll(/[\\%_]/g, '\\$&');

type QueryColumn = (typeof QUERY_FIELDS)[keyof typeof QUERY_FIELDS];

/** Every term is a level of the expression that the database reads, and it takes a thousand. */
const MAX_TERMS = 100;

function termsOf(q: string): { field: QueryColumn; text: string }[] {
  const terms = q.split(/\s+/).filter((term) => term !== '' && term !== 'AND');
  if (terms.length > MAX_TERMS)
    throw badRequest('query.syntax', `The query has more than ${MAX_TERMS} words.`);
  return terms.map((term) => {
    const [, name = '', text = ''] = /^(\w+):"?([^"]*)"?$/.exec(term) ?? [];
    const field = Object.hasOwn(QUERY_FIELDS, name)
      ? QUERY_FIELDS[name as keyof typeof QUERY_FIELDS]
      : undefined;
    return field === undefined ? { field: 'message', text: term } : { field, text };
  });
}
