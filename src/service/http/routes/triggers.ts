import { Type } from 'typebox';
import { TriggerCreate, TriggerUpdate } from '../../../storage/protocol/event.ts';
import type { Reply } from '../../domain/reply.ts';
import { authorOf, type Caller } from '../../domain/tokens/caller.ts';
import type { Context } from '../../domain/context.ts';
import { accessDenied, badRequest, notFound } from '../../domain/api-error.ts';
import { nextId } from '../../stores/metadata/counter.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { TriggerRow } from '../../stores/metadata/tables.ts';
import { findToken } from '../../stores/metadata/tokens.ts';
import {
  deleteTrigger,
  findTrigger,
  listTriggers,
  saveTrigger,
  type Trigger,
} from '../../stores/metadata/triggers.ts';
import {
  mayActAs,
  mayUseComponent,
  requireBucket,
  requireComponent,
} from '../../domain/tokens/permissions.ts';
import { routesOf, type Route } from '../route.ts';
import { apiTime } from '../../domain/presenters/time.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { TRIGGERS } from '../../stores/metadata/transaction.ts';

const route = routesOf('Triggers');

/**
 * Makes the routes of triggers, by which a configuration is to run when tables change. They are stored; a scheduler
 * runs them.
 */
export function triggerRoutes(context: Context): Route[] {
  const { meta, env } = context;
  return [
    route('GET', '/triggers', {
      summary: 'All triggers',
      query: Type.Object({
        component: Type.Optional(Type.String()),
        configurationId: Type.Optional(Type.String()),
      }),
      response: Type.Array(Type.Unknown()),
      handle: async ({ query, caller }) =>
        (await listTriggers(meta))
          .filter(({ row }) => mayUseComponent(caller, row.component))
          .filter(({ row }) => query.component === undefined || row.component === query.component)
          .filter(
            ({ row }) =>
              query.configurationId === undefined || row.configuration_id === query.configurationId,
          )
          .map(triggerReply),
    }),
    route('GET', '/triggers/:trigger', {
      summary: 'A trigger',
      response: Type.Unknown(),
      handle: async ({ params, caller }) => {
        const trigger = await requireTrigger(meta, params.trigger);
        requireComponent(caller, trigger.row.component);
        return triggerReply(trigger);
      },
    }),
    route('POST', '/triggers', {
      summary: 'Makes a trigger',
      status: 201,
      body: TriggerCreate,
      response: Type.Unknown(),
      handle: async ({ body, caller, branch, transact }) => {
        requireComponent(caller, body.component);
        requireTables(caller, branch.id, body.tableIds);
        await requireRunToken(meta, caller, body.runWithTokenId);
        const trigger: Trigger = {
          row: {
            id: await nextId(meta),
            run_with_token_id: body.runWithTokenId,
            component: body.component,
            configuration_id: body.configurationId,
            cool_down_minutes: body.coolDownPeriodMinutes,
            last_run: null,
            ...authorOf(caller),
            created: isoTime(env.now()),
          },
          tables: body.tableIds,
        };
        return await transact([TRIGGERS], async (tx) => {
          await saveTrigger(tx, trigger);
          return triggerReply(trigger);
        });
      },
    }),
    route('PUT', '/triggers/:trigger', {
      summary: 'Changes a trigger',
      body: TriggerUpdate,
      response: Type.Unknown(),
      handle: async ({ params, body, caller, branch, transact }) => {
        if (body.component !== undefined) requireComponent(caller, body.component);
        requireTables(caller, branch.id, body.tableIds ?? []);
        if (body.runWithTokenId !== undefined) await requireRunToken(meta, caller, body.runWithTokenId);
        return await transact([TRIGGERS], async (tx) => {
          const { row, tables } = await requireTrigger(tx, params.trigger);
          await requireOwnTrigger(tx, caller, row);
          const changed: Trigger = {
            row: {
              ...row,
              run_with_token_id: body.runWithTokenId ?? row.run_with_token_id,
              component: body.component ?? row.component,
              configuration_id: body.configurationId ?? row.configuration_id,
              cool_down_minutes: body.coolDownPeriodMinutes ?? row.cool_down_minutes,
            },
            tables: body.tableIds ?? tables,
          };
          await saveTrigger(tx, changed);
          return triggerReply(changed);
        });
      },
    }),
    route('DELETE', '/triggers/:trigger', {
      summary: 'Deletes a trigger',
      handle: async ({ params, caller, transact }) => {
        const { row } = await requireTrigger(meta, params.trigger);
        await requireOwnTrigger(meta, caller, row);
        await transact([TRIGGERS], async (tx) => await deleteTrigger(tx, row.id));
        return undefined;
      },
    }),
  ];
}

function triggerReply({ row, tables }: Trigger): Record<string, Reply> {
  return {
    id: String(row.id),
    runWithTokenId: row.run_with_token_id,
    component: row.component,
    configurationId: row.configuration_id,
    lastRun: apiTime(row.last_run ?? row.created),
    coolDownPeriodMinutes: row.cool_down_minutes,
    creatorToken: { id: row.creator_id, description: row.creator_description },
    tables: tables.map((tableId) => ({ tableId })),
  };
}

async function requireTrigger(meta: Meta, id: string): Promise<Trigger> {
  const trigger = /^\d{1,15}$/.test(id) ? await findTrigger(meta, Number(id)) : undefined;
  if (trigger === undefined) throw notFound(`Trigger ${id} not found`);
  return trigger;
}

/** Refuses a trigger that runs with more permissions than the caller's: a change would let the caller use them. */
async function requireOwnTrigger(meta: Meta, caller: Caller, row: TriggerRow): Promise<void> {
  requireComponent(caller, row.component);
  const token = await findToken(meta, row.run_with_token_id);
  if (token === undefined ? !caller.isMaster : !mayActAs(caller, token)) throw accessDenied();
}

function requireTables(caller: Caller, branchId: number, tables: readonly string[]): void {
  for (const table of tables) requireBucket(caller, branchId, table.split('.').slice(0, 2).join('.'), 'read');
}

/** Refuses a run with permissions that the caller doesn't have. */
async function requireRunToken(meta: Meta, caller: Caller, id: number): Promise<void> {
  const token = await findToken(meta, id);
  if (token !== undefined && mayActAs(caller, token)) return;
  if (!caller.isMaster) throw accessDenied();
  throw badRequest('storage.validation', `runWithTokenId: the token ${id} was not found.`);
}
