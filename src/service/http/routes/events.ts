import { Type } from 'typebox';
import { EventCreate, EventsQuery } from '../../../storage/protocol/event.ts';
import { encodeExact, isNumber, numberOf, parseExact, type Json } from '../../../lib/json/index.ts';
import { hideSecrets } from '../../../lib/encryption/index.ts';
import { RawJson, type Reply } from '../../domain/reply.ts';
import type { Caller } from '../../domain/tokens/caller.ts';
import { accessDenied, badRequest, invalidField, notFound } from '../../domain/api-error.ts';
import type { Context } from '../../domain/context.ts';
import { nextId } from '../../stores/metadata/counter.ts';
import { newUuid } from '../../stores/metadata/identifier.ts';
import {
  findEvent,
  insertEvent,
  listEvents,
  type EventFilter,
  type EventReader,
  type NewEvent,
} from '../../stores/metadata/events.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { EventRow } from '../../stores/metadata/tables.ts';
import { requireBucket } from '../../domain/tokens/permissions.ts';
import { routesOf, type Call, type Route } from '../route.ts';
import { apiTime } from '../../domain/presenters/time.ts';
import { isoTime } from '../../../lib/iso-time.ts';

const route = routesOf('Events');

/** Largest event, in bytes. */
const MAX_EVENT_BYTES = 200_000;

/** Makes the routes of events: messages of components, and changes of buckets and tables. */
export function eventRoutes(context: Context): Route[] {
  const { meta, env, project } = context;
  const list = async (call: ListCall, only: Partial<EventFilter>): Promise<Reply> => {
    const { sinceId, maxId, ...query } = call.query;
    await context.observer.flush();
    const rows = await listEvents(meta, call.branch.id, {
      ...query,
      sinceId: await positionOf(meta, 'sinceId', sinceId),
      maxId: await positionOf(meta, 'maxId', maxId),
      ...only,
      projectId: project.id,
    });
    return rows.map((row) => eventReply(row, call.origin));
  };
  const listed = { query: EventsQuery, response: Type.Array(Type.Unknown()) } as const;
  return [
    route('POST', '/events', {
      summary: 'Writes an event',
      maxBodyBytes: 4 * MAX_EVENT_BYTES, // as a form
      status: 201,
      body: EventCreate,
      response: Type.Object({ id: Type.String(), uuid: Type.String() }),
      handle: async ({ body, caller, branch, runId, request, origin, transact }) => {
        if (Buffer.byteLength(encodeExact(request.body as Json)) > MAX_EVENT_BYTES)
          throw badRequest('requestTooLarge', 'The event is larger than 200 KB.');
        // Reads that were observed before this event come before it.
        await context.observer.flush();
        const event: NewEvent = {
          uuid: newUuid(env),
          branch_id: branch.id,
          event: `ext.${body.component}.`,
          component: body.component,
          type: body.type ?? 'info',
          message: body.message,
          description: body.description ?? '',
          configuration_id: body.configurationId ?? null,
          run_id: body.runId ?? runId,
          object_type: null,
          object_id: null,
          object_name: null,
          params: jsonText(body.params, 'params'),
          results: jsonText(body.results, 'results'),
          duration: durationOf(body.duration),
          token_id: caller.id,
          token_description: caller.creator_description,
          created: isoTime(env.now()),
        };
        const row = await transact([], async (tx) => {
          const id = await nextId(tx);
          await insertEvent(tx, event, id);
          return { id, ...event };
        });
        return eventReply(row, origin);
      },
    }),
    route('GET', '/events', {
      summary: 'Events, the newest first',
      ...listed,
      handle: async ({ query, caller, branch, origin }) => {
        return await list({ query, branch, origin }, { visibleTo: readerOf(caller) });
      },
    }),
    route('GET', '/events/:event', {
      summary: 'An event',
      response: Type.Unknown(),
      handle: async ({ params, caller, origin }) => {
        const row = await findEvent(meta, params.event);
        if (row === undefined || !mayRead(caller, row)) throw notFound(`Event ${params.event} not found`);
        return eventReply(row, origin);
      },
    }),
    route('GET', '/buckets/:bucket/events', {
      summary: 'Events of a bucket, the newest first',
      ...listed,
      handle: async ({ params, query, caller, branch, origin }) => {
        requireBucket(caller, branch.id, params.bucket, 'read');
        return await list({ query, branch, origin }, { objectType: 'bucket', objectId: params.bucket });
      },
    }),
    route('GET', '/tables/:table/events', {
      summary: 'Events of a table, the newest first',
      ...listed,
      handle: async ({ params, query, caller, branch, origin }) => {
        requireBucket(caller, branch.id, params.table.split('.').slice(0, 2).join('.'), 'read');
        return await list({ query, branch, origin }, { objectType: 'table', objectId: params.table });
      },
    }),
    route('GET', '/tokens/:token/events', {
      summary: 'What a token did, and what was done to it, the newest first',
      ...listed,
      handle: async ({ params, query, caller, branch, origin }) => {
        if (!caller.isMaster && params.token !== String(caller.id)) throw accessDenied();
        const tokenId = /^\d{1,15}$/.test(params.token) ? Number(params.token) : -1;
        return await list({ query, branch, origin }, { ofToken: tokenId });
      },
    }),
  ];
}

type ListCall = Pick<Call<unknown, EventsQuery, unknown>, 'branch' | 'origin' | 'query'>;

/** Returns the number of the event that lists begin or end at: its id, or that of its UUID. */
async function positionOf(meta: Meta, field: string, id: string | undefined): Promise<number | undefined> {
  if (id === undefined || id === '') return undefined;
  if (/^\d{1,15}$/.test(id)) return Number(id);
  const event = await findEvent(meta, id);
  if (event !== undefined) return event.id;
  throw invalidField('storage.validation', field, `There is no event "${id}".`);
}

/** Returns the restriction of a token without wide permissions: its own events, and those of its components. */
function readerOf(caller: Caller): EventReader | undefined {
  return caller.isMaster || caller.canManageBuckets ? undefined : caller;
}

function mayRead(caller: Caller, row: EventRow): boolean {
  const reader = readerOf(caller);
  return reader === undefined || row.token_id === reader.id || reader.componentAccess.includes(row.component);
}

function eventReply(row: EventRow, origin: string): Record<string, Reply> {
  return {
    id: String(row.id),
    uuid: row.uuid,
    event: row.event,
    component: row.component,
    message: row.message,
    description: row.description,
    type: row.type,
    runId: row.run_id,
    created: apiTime(row.created),
    configurationId: row.configuration_id,
    objectId: row.object_id,
    objectName: row.object_name ?? row.object_id,
    objectType: row.object_type,
    params: new RawJson(row.params),
    results: new RawJson(row.results),
    performance: row.duration === null ? [] : { duration: row.duration },
    token: { id: row.token_id, name: row.token_description },
    idBranch: row.branch_id,
    uri: `${origin}/v2/storage/events/${row.id}`,
    attachments: [],
  };
}

/** Reads JSON, or text that holds it; plain values of `#` keys are hidden. @throws {ApiError} 400 `malformedRequest` */
function jsonText(value: unknown, field: string): string {
  if (value === undefined || value === '') return '[]';
  if (typeof value !== 'string') return hideSecrets(encodeExact(value as Json));
  try {
    return hideSecrets(encodeExact(parseExact(value)));
  } catch {
    throw badRequest('malformedRequest', `The field ${field} is not valid JSON.`);
  }
}

function durationOf(value: unknown): number | null {
  if (value === undefined || value === '') return null;
  // Bodies are JSON, also those of forms.
  const given = value as Json;
  const seconds = isNumber(given) ? numberOf(given) : typeof given === 'string' ? Number(given) : Number.NaN;
  if (Number.isFinite(seconds)) return seconds;
  throw badRequest('malformedRequest', 'The field duration is not a number.');
}
