import { Type } from 'typebox';
import { ulid } from 'ulid';
import { EventCreate, EventsQuery } from '../../protocol/event.ts';
import { encodeExact, isNumber, numberOf, parseExact, type Json } from '../../../json/index.ts';
import { hideSecrets } from '../../../encryption/index.ts';
import { RawJson, type Reply } from '../answer.ts';
import type { Caller } from '../caller.ts';
import { accessDenied, badRequest, notFound } from '../errors.ts';
import type { Context } from '../context.ts';
import { nextId } from '../meta/counter.ts';
import { findEvent, insertEvent, listEvents, type EventReader } from '../meta/events.ts';
import type { EventRow } from '../meta/tables.ts';
import { requireBucket } from '../permissions.ts';
import { route, type Route } from '../route.ts';
import { apiTime, isoTime } from '../time.ts';

const tag = 'Events';

/** Largest event, in bytes (storage 10.1). */
const MAX_EVENT_BYTES = 200_000;

/** Events: what components say, and what happened to buckets and tables (storage 1.8). */
export function eventRoutes(context: Context): Route[] {
  const { meta, env } = context;
  const listed = { tag, query: EventsQuery, response: Type.Array(Type.Unknown()) } as const;
  return [
    route({
      method: 'POST',
      path: '/events',
      summary: 'Writes an event',
      tag,
      status: 201,
      body: EventCreate,
      response: Type.Object({ id: Type.String(), uuid: Type.String() }),
      handle: async ({ body, caller, branch, runId, request, origin }) => {
        if (Buffer.byteLength(encodeExact(request.body as Json)) > MAX_EVENT_BYTES) {
          throw badRequest('requestTooLarge', 'The event is larger than 200 KB.');
        }
        const row: EventRow = {
          id: await nextId(meta),
          uuid: ulid(env.now()),
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
          params: jsonText(body.params, 'params'),
          results: jsonText(body.results, 'results'),
          duration: durationOf(body.duration),
          token_id: caller.id,
          token_description: caller.creator_description,
          created: isoTime(env.now()),
        };
        await insertEvent(meta, row);
        return eventReply(row, origin);
      },
    }),
    route({
      method: 'GET',
      path: '/events',
      summary: 'Events, the newest first',
      ...listed,
      handle: async ({ query, caller, branch, origin }) => {
        const filter = { ...query, visibleTo: readerOf(caller) };
        return (await listEvents(meta, branch.id, filter)).map((row) => eventReply(row, origin));
      },
    }),
    route({
      method: 'GET',
      path: '/events/:event',
      summary: 'An event',
      tag,
      response: Type.Unknown(),
      handle: async ({ params, caller, origin }) => {
        const row = /^\d{1,15}$/.test(params.event) ? await findEvent(meta, Number(params.event)) : undefined;
        if (row === undefined || !mayRead(caller, row)) throw notFound(`Event ${params.event} not found`);
        return eventReply(row, origin);
      },
    }),
    route({
      method: 'GET',
      path: '/buckets/:bucket/events',
      summary: 'Events of a bucket, the newest first',
      ...listed,
      handle: async ({ params, query, caller, branch, origin }) => {
        requireBucket(caller, params.bucket, 'read');
        const filter = { ...query, objectType: 'bucket', objectId: params.bucket };
        return (await listEvents(meta, branch.id, filter)).map((row) => eventReply(row, origin));
      },
    }),
    route({
      method: 'GET',
      path: '/tables/:table/events',
      summary: 'Events of a table, the newest first',
      ...listed,
      handle: async ({ params, query, caller, branch, origin }) => {
        requireBucket(caller, params.table.split('.').slice(0, 2).join('.'), 'read');
        const filter = { ...query, objectType: 'table', objectId: params.table };
        return (await listEvents(meta, branch.id, filter)).map((row) => eventReply(row, origin));
      },
    }),
    route({
      method: 'GET',
      path: '/tokens/:token/events',
      summary: 'Events that a token caused, the newest first',
      ...listed,
      handle: async ({ params, query, caller, branch, origin }) => {
        if (!caller.isMaster && params.token !== String(caller.id)) throw accessDenied();
        const tokenId = /^\d{1,15}$/.test(params.token) ? Number(params.token) : -1;
        return (await listEvents(meta, branch.id, { ...query, tokenId })).map((row) =>
          eventReply(row, origin),
        );
      },
    }),
  ];
}

/** What a token without wide rights may read of the events: its own, and those of its components. */
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
    objectName: row.object_id,
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

/** JSON, or text that holds it; plain values of `#` keys are hidden. @throws {ApiError} 400 `malformedRequest` */
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
