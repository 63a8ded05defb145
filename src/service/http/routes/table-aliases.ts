import { Type } from 'typebox';
import { Table } from '../../../storage/protocol/table.ts';
import { storageNameProblem } from '../../../lib/names.ts';
import type { Json } from '../../../lib/json/index.ts';
import { authorOf } from '../../domain/tokens/caller.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { doerOf, recordEvent } from '../../domain/events/system-event.ts';
import { badRequest, invalidField } from '../../domain/api-error.ts';
import { plain, requireColumns } from '../../domain/row-query.ts';
import { requireNameLength } from '../parsing/table.ts';
import {
  requireBucketRow,
  requireFreeAlias,
  requireTableRow,
  splitTableId,
} from '../../domain/jobs/operations/table-place.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import {
  insertTable,
  setAliasColumns,
  updateTable,
  type StoredTable,
} from '../../stores/metadata/stored-tables.ts';
import { requireBucket } from '../../domain/tokens/permissions.ts';
import { type Who, routesOf, type Route } from '../route.ts';
import { showTable } from '../lists/table-detail.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { parseWhereFilters } from '../../stores/tables/row-query.ts';
import { catalogueOf } from '../../stores/metadata/transaction.ts';

const route = routesOf('Aliases');
const validationCode = 'storage.tables.validation';

const Filter = {
  column: Type.Optional(Type.String()),
  operator: Type.Optional(Type.String({ description: '`eq` (default) or `ne`.' })),
  values: Type.Optional(Type.Unsafe<Json>({ description: 'A list.' })),
};

const AliasCreate = Type.Object({
  sourceTable: Type.String({ minLength: 1 }),
  name: Type.Optional(Type.String({ description: 'That of the source by default.' })),
  aliasColumns: Type.Optional(
    Type.Array(Type.String(), { description: 'Only these; all, also those to come, by default.' }),
  ),
  aliasFilter: Type.Optional(Type.Unsafe<Json>({ description: '`{column, operator, values}`' })),
});

/** Makes the routes of aliases: a table, or some rows and columns of it, to be read under another name. */
export function tableAliasRoutes(context: DataContext): Route[] {
  return [createRoute(context), ...filterRoutes(context), ...syncRoutes(context)];
}

function createRoute(context: DataContext): Route {
  const { meta, env } = context;
  return route('POST', '/buckets/:bucket/table-aliases', {
    summary: 'Makes an alias of a table',

    status: 201,
    body: AliasCreate,
    response: Table,
    validationCode,
    handle: async ({ params, body, caller, branch, origin, transact }) => {
      requireBucket(caller, branch.id, params.bucket, 'write');
      requireBucket(caller, branch.id, splitTableId(body.sourceTable).bucket, 'read');
      const alias = await transact([catalogueOf(branch.id)], async (tx) => {
        await requireBucketRow(tx, context, branch.id, params.bucket);
        const source = await requireTableRow(tx, context, branch.id, body.sourceTable);
        const name = body.name === undefined || body.name === '' ? source.name : body.name;
        const problem = storageNameProblem(name);
        if (problem !== undefined) throw badRequest(validationCode, `Invalid data - name: ${problem}`);
        requireNameLength(name);
        await requireFreeAlias(tx, { branchId: branch.id, bucketId: params.bucket, name });
        const all = source.columns.map((column) => column.name);
        const chosen = [...new Set(body.aliasColumns)];
        requireColumns({ columns: chosen }, all, 'storage.tables.columnNotExists');
        const row = {
          branch_id: branch.id,
          id: `${params.bucket}.${name}`,
          bucket_id: params.bucket,
          name,
          display_name: name,
          primary_key: '[]',
          is_typed: 0,
          rows_count: 0,
          data_bytes: 0,
          revision: 1,
          alias_source: source.id,
          alias_filter: readFilter(body.aliasFilter, source, env.now()),
          alias_auto_sync: chosen.length === 0 ? 1 : 0,
          ...authorOf(caller),
          created: isoTime(env.now()),
          last_import: null,
          last_change: null,
        } as const;
        await insertTable(tx, row, []);
        const columns = chosen.length === 0 ? all : chosen;
        await setAliasColumns(tx, row, { columns, primaryKey: keyOf(source) });
        await recordEvent(tx, env, doerOf(branch.id, caller), {
          name: 'tableAliasCreated',
          message: `Created the alias "${name}" of the table "${source.id}"`,
          object: { type: 'table', id: row.id, name },
          params: { sourceTable: source.id },
        });
        return await requireTableRow(tx, context, branch.id, row.id);
      });
      return await showTable(meta, alias, origin);
    },
  });
}

function filterRoutes(context: DataContext): Route[] {
  const { meta, env } = context;
  const path = '/tables/:table/alias-filter' as const;
  return [
    route('POST', path, {
      summary: 'Sets which rows an alias has',
      body: Type.Object(Filter),
      response: Table,
      validationCode,
      handle: async ({ params, body, ...who }) => {
        const alias = await who.transact([catalogueOf(who.branch.id)], async (tx) => {
          const { table, source } = await requireAlias(tx, context, params.table, who);
          const filter = readFilter(body, source, env.now());
          if (filter === null) throw invalidField(validationCode, 'column', 'This field is missing.');
          await updateTable(tx, table.branch_id, table.id, { alias_filter: filter });
          return { ...table, alias_filter: filter };
        });
        return await showTable(meta, alias, who.origin);
      },
    }),
    route('DELETE', path, {
      summary: 'Gives an alias all rows of its source',
      handle: async ({ params, ...who }) => {
        await who.transact([catalogueOf(who.branch.id)], async (tx) => {
          const { table } = await requireAlias(tx, context, params.table, who);
          await updateTable(tx, table.branch_id, table.id, { alias_filter: null });
        });
        return undefined;
      },
    }),
  ];
}

function syncRoutes(context: DataContext): Route[] {
  const { meta } = context;
  const path = '/tables/:table/alias-columns-auto-sync' as const;
  return [
    route('POST', path, {
      summary: 'Gives an alias all columns of its source, also those to come',
      response: Table,
      handle: async ({ params, ...who }) => {
        const alias = await who.transact([catalogueOf(who.branch.id)], async (tx) => {
          const { table, source } = await requireAlias(tx, context, params.table, who);
          await updateTable(tx, table.branch_id, table.id, { alias_auto_sync: 1 });
          const columns = source.columns.map(({ name }) => name);
          await setAliasColumns(tx, table, { columns, primaryKey: keyOf(source) });
          return await requireTableRow(tx, context, table.branch_id, table.id);
        });
        return await showTable(meta, alias, who.origin);
      },
    }),
    route('DELETE', path, {
      summary: 'Leaves an alias with the columns that it has now',
      handle: async ({ params, ...who }) => {
        await who.transact([catalogueOf(who.branch.id)], async (tx) => {
          const { table } = await requireAlias(tx, context, params.table, who);
          await updateTable(tx, table.branch_id, table.id, { alias_auto_sync: 0 });
        });
        return undefined;
      },
    }),
  ];
}

async function requireAlias(
  meta: Meta,
  context: DataContext,
  id: string,
  { caller, branch }: Who,
): Promise<{ table: StoredTable; source: StoredTable }> {
  requireBucket(caller, branch.id, splitTableId(id).bucket, 'write');
  const table = await requireTableRow(meta, context, branch.id, id);
  if (table.alias_source === null)
    throw badRequest('storage.tables.notAlias', `The table "${id}" is not an alias.`);
  // A caller who widens an alias must be able to read everything that it then shows.
  requireBucket(caller, branch.id, splitTableId(table.alias_source).bucket, 'read');
  return { table, source: await requireTableRow(meta, context, branch.id, table.alias_source) };
}

// A list of names, written by the service.
const keyOf = (table: StoredTable): string[] => JSON.parse(table.primary_key) as string[];

/** Reads a filter as it is stored; null when none is given. @throws {TableError, ApiError} */
function readFilter(given: unknown, source: StoredTable, now: number): string | null {
  const input = plain(given);
  if (typeof input !== 'object' || input === null || Object.keys(input).length === 0) return null;
  const [filter] = parseWhereFilters([input], () => new Date(now));
  if (filter === undefined) return null;
  if (filter.operator !== 'eq' && filter.operator !== 'ne')
    throw badRequest(validationCode, `Invalid where operator ${filter.operator}`);
  const columns = source.columns.map(({ name }) => name);
  requireColumns({ where: [filter] }, columns, 'storage.tables.columnNotExists');
  return JSON.stringify({ column: filter.column, operator: filter.operator, values: filter.values });
}
