import { Type } from 'typebox';
import { MetadataCreate, MetadataItem, TableMetadataCreate } from '../../protocol/metadata.ts';
import type { Reply } from '../answer.ts';
import { keyFrom } from '../configuration-input.ts';
import type { Context } from '../context.ts';
import { accessDenied, badRequest, notFound } from '../errors.ts';
import { requireConfiguration } from '../meta/configurations/read.ts';
import {
  configurationOwner,
  deleteMetadata,
  listMetadata,
  saveMetadata,
  type MetadataOwner,
} from '../meta/metadata.ts';
import { readColumnPairs, readPairs, readProvider } from '../metadata-input.ts';
import type { StoredTable } from '../meta/stored-tables.ts';
import { requireBucketRow, requireTableRow, splitTableId } from '../operations/table-place.ts';
import { requireBucket } from '../permissions.ts';
import { route, type Call, type Route } from '../route.ts';
import { metadataReply } from '../shapes/metadata.ts';

const tag = 'Metadata';

type Who = Pick<Call<unknown, unknown, unknown>, 'branch' | 'caller'>;
type Resolve = (
  params: Readonly<Record<string, string>>,
  who: Who,
  access: 'read' | 'write',
) => Promise<MetadataOwner>;

/** Metadata of buckets, tables, columns, configurations and branches (storage 1.6). */
export function metadataRoutes(context: Context): Route[] {
  const { meta } = context;
  return [
    ...resourceRoutes(context, {
      path: '/buckets/:bucket/metadata',
      what: 'a bucket',
      scope: 'both',
      hasProvider: true,
      resolve: async (params, who, access) => await bucketOwner(context, params['bucket'] ?? '', who, access),
    }),
    ...resourceRoutes(context, {
      path: '/columns/:column/metadata',
      what: 'a column',
      scope: 'both',
      hasProvider: true,
      resolve: async (params, who, access) => await columnOwner(context, params['column'] ?? '', who, access),
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
        return { branch_id: key.branch_id, scope: 'configuration', owner };
      },
    }),
    ...resourceRoutes(context, {
      path: '/metadata',
      what: 'a branch',
      scope: 'branch',
      hasProvider: false,
      resolve: async (_params, { branch, caller }, access) => {
        if (access === 'write' && !caller.isMaster) throw accessDenied();
        return { branch_id: branch.id, scope: 'branch', owner: '' };
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
    ...readRoutes(context, { path, what, scope, resolve, list }),
    route({
      method: 'POST',
      path,
      summary: `Sets metadata of ${what}`,
      tag,
      scope,
      status: 201,
      body: MetadataCreate,
      response: Type.Array(MetadataItem),
      handle: async ({ params, body, ...who }) => {
        const owner = await resolve(params, who, 'write');
        const provider = hasProvider ? readProvider(body.provider) : 'user';
        const pairs = readPairs(body.metadata);
        await meta.transaction().execute((tx) => saveMetadata(tx, env, owner, provider, pairs));
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
    readonly resolve: Resolve;
    readonly list: (owner: MetadataOwner) => Promise<Reply>;
  },
): Route[] {
  const { path, what, scope, resolve, list } = kind;
  return [
    route({
      method: 'GET',
      path,
      summary: `The metadata of ${what}`,
      tag,
      scope,
      response: Type.Array(MetadataItem),
      handle: async ({ params, ...who }) => await list(await resolve(params, who, 'read')),
    }),
    route({
      method: 'DELETE',
      path: `${path}/:metadata`,
      summary: `Deletes one metadata of ${what}`,
      tag,
      scope,
      handle: async ({ params, ...who }) => {
        const owner = await resolve(params, who, 'write');
        const id = params['metadata'] ?? '';
        const isFound = /^\d{1,15}$/.test(id) && (await deleteMetadata(context.meta, owner, Number(id)));
        if (!isFound) throw notFound(`Metadata with id ${id} not found`, 'storage.metadata.notFound');
        return undefined;
      },
    }),
  ];
}

/** A table takes metadata of its columns along; JSON is answered with both, a form with the table's list. */
function tableRoutes(context: Context): Route[] {
  const { meta, env } = context;
  const path = '/tables/:table/metadata';
  const resolve: Resolve = async (params, who, access) =>
    await tableOwner(context, params['table'] ?? '', who, access);
  const list = async (owner: MetadataOwner): Promise<Reply[]> =>
    (await listMetadata(meta, owner)).map((row) => metadataReply(row, true));
  return [
    ...readRoutes(context, { path, what: 'a table', scope: 'both', resolve, list }),
    route({
      method: 'POST',
      path,
      summary: 'Sets metadata of a table and of its columns',
      tag,
      status: 201,
      body: TableMetadataCreate,
      handle: async ({ params, body, isForm, ...who }) => {
        const owner = await resolve(params, who, 'write');
        const provider = readProvider(body.provider);
        const pairs = body.metadata === undefined ? [] : readPairs(body.metadata);
        const columns = readColumnPairs(body.columnsMetadata);
        const named: Record<string, Reply> = {};
        await meta.transaction().execute(async (tx) => {
          await saveMetadata(tx, env, owner, provider, pairs);
          const table = await requireTableRow(tx, context, owner.branch_id, owner.owner);
          for (const [column, items] of columns) {
            const columnsOwner = ownerOfColumn(table, column);
            await saveMetadata(tx, env, columnsOwner, provider, items);
            named[column] = (await listMetadata(tx, columnsOwner)).map((row) => metadataReply(row, true));
          }
        });
        if (isForm) return await list(owner);
        return { metadata: await list(owner), columnsMetadata: columns.size === 0 ? [] : named };
      },
    }),
  ];
}

async function bucketOwner(
  context: Context,
  id: string,
  { caller, branch }: Who,
  access: 'read' | 'write',
): Promise<MetadataOwner> {
  requireBucket(caller, id, access);
  await requireBucketRow(context.meta, context, branch.id, id);
  return { branch_id: branch.id, scope: 'bucket', owner: id };
}

async function tableOwner(
  context: Context,
  id: string,
  { caller, branch }: Who,
  access: 'read' | 'write',
): Promise<MetadataOwner> {
  requireBucket(caller, splitTableId(id).bucket, access);
  await requireTableRow(context.meta, context, branch.id, id);
  return { branch_id: branch.id, scope: 'table', owner: id };
}

/** A column is named `<table id>.<column>`; names of columns have no dots. */
async function columnOwner(
  context: Context,
  id: string,
  { caller, branch }: Who,
  access: 'read' | 'write',
): Promise<MetadataOwner> {
  const at = Math.max(id.lastIndexOf('.'), 0);
  const [tableId, name] = [id.slice(0, at), id.slice(at + 1)];
  requireBucket(caller, splitTableId(tableId).bucket, access);
  return ownerOfColumn(await requireTableRow(context.meta, context, branch.id, tableId), name);
}

function ownerOfColumn(table: StoredTable, name: string): MetadataOwner {
  if (!table.columns.some((column) => column.name === name)) {
    throw badRequest(
      'storage.metadata.invalidParameter',
      `The column "${name}" was not found in the table "${table.id}".`,
    );
  }
  return { branch_id: table.branch_id, scope: 'column', owner: `${table.id}.${name}` };
}
