import { Type } from 'typebox';
import { columnName, columnNameProblem } from '../../../lib/names.ts';
import { DeleteQuery } from '../../../storage/protocol/bucket.ts';
import { namesOf } from '../../../storage/protocol/common.ts';
import { Job } from '../../../storage/protocol/job.ts';
import { ColumnAdd, ColumnDefinition, PrimaryKeyAdd } from '../../../storage/protocol/table.ts';
import { enqueueJob } from '../enqueue-job.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { badRequest, notImplemented } from '../../domain/api-error.ts';
import type { StoredTable } from '../../stores/metadata/stored-tables.ts';
import {
  refuseAlias,
  refuseFilteredKey,
  refuseReferenced,
  requireOwnColumns,
} from '../../domain/jobs/operations/alias.ts';
import type { JobName, JobParams, StorageJobRequest } from '../../domain/jobs/operations/all.ts';
import { requireNoKey, type ColumnInput } from '../../domain/jobs/operations/structure.ts';
import { requireTableRow, splitTableId, tableLock } from '../../domain/jobs/operations/table-place.ts';
import { requireBucket } from '../../domain/tokens/permissions.ts';
import { type Who, routesOf, type Route } from '../route.ts';
import {
  plain,
  readRowFilter,
  requireColumns,
  MAX_FILTER_BYTES,
  ROW_FILTER_FIELDS,
  type RowFilterInput,
} from '../../domain/row-query.ts';

const route = routesOf('Tables');

/** Makes the routes of the columns, primary keys and rows of a table. */
export function tableStructureRoutes(context: DataContext): Route[] {
  return [...columnRoutes(context), ...keyRoutes(context), rowsRoute(context)];
}

function columnRoutes(context: DataContext): Route[] {
  const shared = { status: 202, response: Job } as const;
  return [
    route('POST', '/tables/:table/columns', {
      ...shared,
      isForRuns: true,
      summary: 'Adds a column',
      body: ColumnAdd,
      enqueues: ['tableColumnAdd'],
      handle: async ({ params, body, ...asker }) => {
        const table = await requireTable(context, params.table, asker);
        const name = columnName(body.name);
        const problem = columnNameProblem(name);
        if (problem !== undefined)
          throw badRequest('storage.tables.invalidColumnName', `The column name "${body.name}" ${problem}.`);
        if (table.columns.some((column) => column.name.toLowerCase() === name.toLowerCase()))
          throw badRequest(
            'storage.tables.columnAlreadyExists',
            `The column "${name}" already exists in the table "${table.name}".`,
          );
        if (table.alias_source !== null) {
          // A caller who widens an alias must be able to read everything that it then shows.
          requireBucket(asker.caller, asker.branch.id, splitTableId(table.alias_source).bucket, 'read');
          await requireOwnColumns(context.meta, table, { added: name });
        }
        const column: ColumnInput = { name, ...definitionFields(body) };
        return await enqueueJob(context, asker, workOn(table, 'tableColumnAdd', column));
      },
    }),
    route('DELETE', '/tables/:table/columns/:column', {
      ...shared,
      summary: 'Deletes a column with its values',
      query: DeleteQuery,
      enqueues: ['tableColumnDelete'],
      handle: async ({ params, query, ...asker }) => {
        const force = query.force === true;
        const table = await requireTable(context, params.table, asker);
        requireColumn(table, params.column);
        if (table.alias_source === null) await requireDeletable(context, table, params.column, force);
        else await requireOwnColumns(context.meta, table, { removed: params.column, force });
        const given = { name: params.column, ...(force ? { force } : {}) };
        return await enqueueJob(context, asker, workOn(table, 'tableColumnDelete', given));
      },
    }),
    route('PUT', '/tables/:table/columns/:column/definition', {
      ...shared,
      isForRuns: true,
      summary: 'Changes what a column of a typed table is said to hold',
      body: ColumnDefinition,
      enqueues: ['tableColumnDefinitionUpdate'],
      handle: async ({ params, body, ...asker }) => {
        const table = await requireWritable(context, params.table, asker);
        requireTyped(table);
        requireColumn(table, params.column);
        const column: ColumnInput = { name: params.column, ...definitionFields(body) };
        return await enqueueJob(context, asker, workOn(table, 'tableColumnDefinitionUpdate', column));
      },
    }),
  ];
}

function keyRoutes(context: DataContext): Route[] {
  const shared = { status: 202, response: Job } as const;
  return [
    route('POST', '/tables/:table/primary-key', {
      ...shared,
      isForRuns: true,
      summary: 'Sets the primary key of a table',
      body: PrimaryKeyAdd,
      enqueues: ['tablePrimaryKeyAdd'],
      handle: async ({ params, body, ...asker }) => {
        const table = await requireWritable(context, params.table, asker);
        const columns = namesOf(body.columns);
        if (columns.length === 0)
          throw badRequest('storage.validation.primaryKey', 'A primary key needs at least one column.');
        const known = new Set(table.columns.map(({ name }) => name));
        const unknown = columns.filter((name) => !known.has(name));
        if (unknown.length > 0)
          throw badRequest(
            'storage.validation.primaryKey',
            `Columns "${unknown.join(',')}" do not exist in the table.`,
          );
        requireNoKey(table);
        const given = { columns, skipDuplicatesCheck: body.skipDuplicatesCheck ?? false };
        return await enqueueJob(context, asker, workOn(table, 'tablePrimaryKeyAdd', given));
      },
    }),
    route('DELETE', '/tables/:table/primary-key', {
      ...shared,
      isForRuns: true,
      summary: 'Removes the primary key of a table',
      enqueues: ['tablePrimaryKeyDelete'],
      handle: async ({ params, ...asker }) => {
        const table = await requireWritable(context, params.table, asker);
        await refuseFilteredKey(context.meta, table);
        return await enqueueJob(context, asker, workOn(table, 'tablePrimaryKeyDelete', {}));
      },
    }),
  ];
}

const RowsDelete = Type.Object({
  ...ROW_FILTER_FIELDS,
  allowTruncate: Type.Optional(Type.Boolean({ description: 'Without a filter, all rows are deleted.' })),
  valuesByTableInWorkspace: Type.Optional(Type.Unsafe<unknown>({})),
});

function rowsRoute(context: DataContext): Route {
  return route('DELETE', '/tables/:table/rows', {
    isForRuns: true,
    summary: 'Deletes rows',

    status: 202,
    query: RowsDelete,
    body: RowsDelete,
    maxBodyBytes: MAX_FILTER_BYTES,
    response: Job,
    enqueues: ['tableRowsDelete'],
    handle: async ({ params, query, body, ...asker }) => {
      const table = await requireWritable(context, params.table, asker);
      const given = { ...query, ...body };
      if (given.valuesByTableInWorkspace !== undefined)
        throw notImplemented('A workspace as the source of values');
      const filter = readRowFilter(given, context.env.now());
      if (Object.keys(filter).length === 0 && given.allowTruncate !== true)
        throw badRequest(
          'storage.tables.validation.unintendedTruncation',
          'No filters have been specified, which will truncate the table, but the `allowTruncate` parameter was not set.',
        );
      for (const { operator } of filter.where ?? []) {
        if (operator !== 'eq' && operator !== 'ne')
          throw badRequest('storage.tables.validation', `Invalid where operator ${operator}`);
      }
      const columns = table.columns.map(({ name }) => name);
      requireColumns(filter, columns, 'storage.tables.columnNotExists');
      return await enqueueJob(
        context,
        asker,
        workOn(table, 'tableRowsDelete', { request: filterFields(given) }),
      );
    },
  });
}

/** Returns the fields of a filter as plain values, to be stored in the job. */
export function filterFields(given: RowFilterInput): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(ROW_FILTER_FIELDS).flatMap((name) => {
      const value = plain(given[name as keyof RowFilterInput]);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

async function requireWritable(
  context: DataContext,
  id: string,
  { caller, branch }: Who,
): Promise<StoredTable> {
  const table = await requireTable(context, id, { caller, branch });
  refuseAlias(table);
  return table;
}

/** Returns a table or an alias that the caller may change. */
async function requireTable(context: DataContext, id: string, { caller, branch }: Who): Promise<StoredTable> {
  requireBucket(caller, branch.id, splitTableId(id).bucket, 'write');
  return await requireTableRow(context.meta, context, branch.id, id);
}

async function requireDeletable(
  { meta }: DataContext,
  table: StoredTable,
  column: string,
  force: boolean,
): Promise<void> {
  await refuseReferenced(meta, table, column, force);
  const key = JSON.parse(table.primary_key) as string[]; // written by this service
  if (key.includes(column))
    throw badRequest(
      'storage.tables.cannotDeletePrimaryKeyColumn',
      `The column "${column}" is part of the primary key. Remove the key first.`,
    );
}

function requireColumn(table: StoredTable, name: string): void {
  if (table.columns.some((column) => column.name === name)) return;
  throw badRequest(
    'storage.tables.columnNotExists',
    `The column "${name}" does not exist in the table "${table.name}".`,
  );
}

function requireTyped(table: StoredTable): void {
  if (table.is_typed === 1) return;
  throw badRequest('storage.tables.validation', `The table "${table.name}" is not typed.`);
}

function definitionFields(body: { definition?: unknown; basetype?: string }): Omit<ColumnInput, 'name'> {
  return {
    ...(body.definition === undefined ? {} : { definition: plain(body.definition) }),
    ...(body.basetype === undefined ? {} : { basetype: body.basetype }),
  };
}

function workOn<Name extends JobName>(
  { id, branch_id }: StoredTable,
  operation: Name,
  params: JobParams[Name],
): StorageJobRequest<Name> {
  return { operation, params, tableId: id, lockKey: tableLock(branch_id, id) };
}
