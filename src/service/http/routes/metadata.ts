import { Type } from 'typebox';
import { MetadataCreate, MetadataItem, TableMetadataCreate } from '../../../storage/protocol/metadata.ts';
import type { Reply } from '../../domain/reply.ts';
import { keyFrom } from '../parsing/configuration.ts';
import type { Context } from '../../domain/context.ts';
import { accessDenied, badRequest, notFound } from '../../domain/api-error.ts';
import { metadataDeleted, metadataSet } from '../../domain/events/of-metadata.ts';
import { doerOf, recordEvent } from '../../domain/events/system-event.ts';
import { requireConfiguration } from '../../domain/configurations/read-configuration.ts';
import {
  configurationOwner,
  deleteMetadata,
  listMetadata,
  saveMetadata,
  type MetadataOwner,
} from '../../stores/metadata/metadata.ts';
import { readPairs, readProvider, readTablePairs } from '../parsing/metadata.ts';
import type { StoredTable } from '../../stores/metadata/stored-tables.ts';
import { requireBucketRow, requireTableRow, splitTableId } from '../../domain/jobs/operations/table-place.ts';
import { requireBucket } from '../../domain/tokens/permissions.ts';
import { type Who, routesOf, type Route } from '../route.ts';
import { metadataReply } from '../../domain/presenters/metadata.ts';
import { ownerOf } from '../../stores/metadata/transaction.ts';

const route = routesOf('Metadata');

/** Owner of the metadata that is read or set. */
interface Target {
  readonly owner: MetadataOwner;
  /** Name of it in errors, such as `bucket "in.c-main"`. */
  readonly called?: string;
  /** True when the provider of the service is reserved there: it describes the types of typed tables. */
  readonly isTyped?: boolean;
}

type Resolve = (
  params: Readonly<Record<string, string>>,
  who: Who,
  access: 'read' | 'write',
) => Promise<Target>;

/** Makes the routes of the metadata of buckets, tables, columns, configurations and branches. */
export function metadataRoutes(context: Context): Route[] {
  const { meta } = context;
  return [
    ...resourceRoutes(context, {
      path: '/buckets/:bucket/metadata',
      what: 'a bucket',
      scope: 'both',
      hasProvider: true,
      resolve: async (params, who, access) =>
        await bucketTarget(context, params['bucket'] ?? '', who, access),
    }),
    ...resourceRoutes(context, {
      path: '/columns/:column/metadata',
      what: 'a column',
      scope: 'both',
      hasProvider: true,
      resolve: async (params, who, access) =>
        await columnTarget(context, params['column'] ?? '', who, access),
    }),
    ...resourceRoutes(context, {
      path: '/components/:component/configs/:configuration/metadata',
      what: 'a configuration',
      scope: 'both',
      hasProvider: false,
      resolve: async (params, who) => {
        const key = keyFrom(context, who, params['component'] ?? '', params['configuration'] ?? '');
        await requireConfiguration(meta, key);
        const owner = configurationOwner(key);
        return { owner: { branch_id: key.branch_id, scope: 'configuration', owner } };
      },
    }),
    ...resourceRoutes(context, {
      path: '/metadata',
      what: 'a branch',
      scope: 'branch',
      hasProvider: false,
      resolve: async (_params, { branch, caller }, access) => {
        if (access === 'write' && !caller.isMaster) throw accessDenied();
        return { owner: { branch_id: branch.id, scope: 'branch', owner: '' } };
      },
    }),
    ...tableRoutes(context),
  ];
}

function resourceRoutes(
  context: Context,
  kind: {
    readonly path: string;
    readonly what: string;
    readonly scope: 'both' | 'branch';
    readonly hasProvider: boolean;
    readonly resolve: Resolve;
  },
): Route[] {
  const { meta, env } = context;
  const { path, what, scope, hasProvider, resolve } = kind;
  const list = async (owner: MetadataOwner): Promise<Reply> =>
    (await listMetadata(meta, owner)).map((row) => metadataReply(row, hasProvider));
  return [
    ...readRoutes(context, { path, what, scope, isForRuns: hasProvider, resolve, list }),
    route('POST', path, {
      isForRuns: hasProvider,
      summary: `Sets metadata of ${what}`,

      scope,
      status: 201,
      body: MetadataCreate,
      response: Type.Array(MetadataItem),
      handle: async ({ params, body, ...who }) => {
        const target = await resolve(params, who, 'write');
        const { owner } = target;
        const provider = hasProvider ? readProvider(body.provider, reservedIn(target)) : 'user';
        const pairs = readPairs(body.metadata);
        await who.transact([ownerOf(owner)], async (tx) => {
          await saveMetadata(tx, env, owner, provider, pairs);
          const event = metadataSet(owner, { provider, pairs });
          await recordEvent(tx, env, doerOf(who.branch.id, who.caller), event);
        });
        return await list(owner);
      },
    }),
  ];
}

function readRoutes(
  context: Context,
  kind: {
    readonly path: string;
    readonly what: string;
    readonly scope: 'both' | 'branch';
    readonly isForRuns: boolean;
    readonly resolve: Resolve;
    readonly list: (owner: MetadataOwner) => Promise<Reply>;
  },
): Route[] {
  const { path, what, scope, isForRuns, resolve, list } = kind;
  return [
    route('GET', path, {
      isForRuns,
      summary: `The metadata of ${what}`,

      scope,
      response: Type.Array(MetadataItem),
      handle: async ({ params, ...who }) => await list((await resolve(params, who, 'read')).owner),
    }),
    route('DELETE', `${path}/:metadata`, {
      summary: `Deletes one metadata of ${what}`,

      scope,
      handle: async ({ params, ...who }) => {
        const { owner, called } = await resolve(params, who, 'write');
        const id = params['metadata'] ?? '';
        if (!/^\d+$/.test(id)) throw badRequest('APPLICATION_ERROR', 'The id of metadata must be a number.');
        const isFound = await who.transact([ownerOf(owner)], async (tx) => {
          if (id.length > 15 || !(await deleteMetadata(tx, owner, Number(id)))) return false;
          const doer = doerOf(who.branch.id, who.caller);
          await recordEvent(tx, context.env, doer, metadataDeleted(owner, id));
          return true;
        });
        if (!isFound) throw notFound(notFoundText(id, called), 'storage.metadata.notFound');
        return undefined;
      },
    }),
  ];
}

/**
 * Makes the routes of a table, which also accept metadata of its columns; JSON is answered with both, a form with the
 * table's list.
 */
function tableRoutes(context: Context): Route[] {
  const { meta, env } = context;
  const path = '/tables/:table/metadata';
  const resolve: Resolve = async (params, who, access) =>
    await tableTarget(context, params['table'] ?? '', who, access);
  const list = async (owner: MetadataOwner): Promise<Reply[]> =>
    (await listMetadata(meta, owner)).map((row) => metadataReply(row, true));
  return [
    ...readRoutes(context, { path, what: 'a table', scope: 'both', isForRuns: true, resolve, list }),
    route('POST', path, {
      isForRuns: true,
      summary: 'Sets metadata of a table and of its columns',
      status: 201,
      body: TableMetadataCreate,
      handle: async ({ params, body, isForm, ...who }) => {
        const target = await resolve(params, who, 'write');
        const { owner } = target;
        const provider = readProvider(body.provider, reservedIn(target));
        const { pairs, columns } = readTablePairs(body);
        const named: Record<string, Reply> = {};
        await who.transact([ownerOf(owner)], async (tx) => {
          await saveMetadata(tx, env, owner, provider, pairs);
          const table = await requireTableRow(tx, context, owner.branch_id, owner.owner);
          for (const [column, items] of columns) {
            requireColumn(table, column);
            const columnsOwner = ownerOfColumn(table, column);
            await saveMetadata(tx, env, columnsOwner, provider, items);
            named[column] = (await listMetadata(tx, columnsOwner)).map((row) => metadataReply(row, true));
          }
          const event = metadataSet(owner, { provider, pairs, columns: [...columns.keys()] });
          await recordEvent(tx, env, doerOf(who.branch.id, who.caller), event);
        });
        if (isForm) return await list(owner);
        return { metadata: await list(owner), columnsMetadata: columns.size === 0 ? [] : named };
      },
    }),
  ];
}

/**
 * Tells whether a provider is reserved: the service uses its own for what it describes itself, buckets and typed
 * tables.
 */
const reservedIn =
  ({ isTyped }: Target) =>
  (provider: string): boolean =>
    provider === 'storage' && isTyped !== false;

const notFoundText = (id: string, called: string | undefined): string =>
  called === undefined
    ? 'The supplied metadata ID was not found'
    : `Metadata "${id}" not found for ${called}.`;

async function bucketTarget(
  context: Context,
  id: string,
  { caller, branch }: Who,
  access: 'read' | 'write',
): Promise<Target> {
  requireBucket(caller, branch.id, id, access);
  await requireBucketRow(context.meta, context, branch.id, id);
  return { owner: { branch_id: branch.id, scope: 'bucket', owner: id }, called: `bucket "${id}"` };
}

async function tableTarget(
  context: Context,
  id: string,
  { caller, branch }: Who,
  access: 'read' | 'write',
): Promise<Target> {
  requireBucket(caller, branch.id, splitTableId(id).bucket, access);
  const { is_typed } = await requireTableRow(context.meta, context, branch.id, id);
  const owner = { branch_id: branch.id, scope: 'table', owner: id } as const;
  return { owner, called: `table "${id}"`, isTyped: is_typed === 1 };
}

/** Finds a column, which is named `<table id>.<column>`; names of columns have no dots. */
async function columnTarget(
  context: Context,
  id: string,
  { caller, branch }: Who,
  access: 'read' | 'write',
): Promise<Target> {
  const at = Math.max(id.lastIndexOf('.'), 0);
  const [tableId, name] = [id.slice(0, at), id.slice(at + 1)];
  requireBucket(caller, branch.id, splitTableId(tableId).bucket, access);
  const table = await requireTableRow(context.meta, context, branch.id, tableId);
  if (!hasColumn(table, name)) throw notFound(noColumn(table, name), 'storage.columns.notFound');
  return { owner: ownerOfColumn(table, name), called: `column "${id}"`, isTyped: table.is_typed === 1 };
}

const hasColumn = (table: StoredTable, name: string): boolean =>
  table.columns.some((column) => column.name === name);

const noColumn = (table: StoredTable, name: string): string =>
  `The column "${name}" was not found in the table "${table.id}".`;

function requireColumn(table: StoredTable, name: string): void {
  if (!hasColumn(table, name)) throw badRequest('storage.metadata.invalidParameter', noColumn(table, name));
}

const ownerOfColumn = (table: StoredTable, name: string): MetadataOwner => ({
  branch_id: table.branch_id,
  scope: 'column',
  owner: `${table.id}.${name}`,
});
