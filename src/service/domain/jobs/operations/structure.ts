import { Type, type Static } from 'typebox';
import type { DataContext } from '../../data-context.ts';
import { badRequest } from '../../api-error.ts';
import type { JobRow } from '../../../stores/metadata/tables.ts';
import {
  deleteTable,
  findTable,
  insertTable,
  NO_ALIAS,
  saveState,
  setAliasColumns,
  type StoredDefinition,
  type StoredTable,
} from '../../../stores/metadata/stored-tables.ts';
import { tableOf } from '../../../stores/metadata/transaction.ts';
import { readRowFilter, type RowFilterInput } from '../../row-query.ts';
import { wholeTable } from '../../presenters/table.ts';
import type { TableDescription } from '../../../stores/tables/engine.ts';
import { isoTime } from '../../../../lib/iso-time.ts';
import {
  refuseAlias,
  refuseAliased,
  refuseFilteredKey,
  refuseReferenced,
  requireOwnColumns,
  type ColumnChange,
} from './alias.ts';
import { storedType, storedTypes } from './column-types.ts';
import { defineOperation, fenceOf, type Done } from './operation.ts';
import {
  engineTable,
  requireBucketRow,
  requireFreeTable,
  requireTableRow,
  splitTableId,
} from './table-place.ts';

/** A column of a typed table, as its definition is kept. */
const Column = Type.Object({
  name: Type.String(),
  definition: Type.Optional(Type.Unknown()),
  basetype: Type.Optional(Type.String()),
});
export type ColumnInput = Static<typeof Column>;

const Definition = Type.Object({
  name: Type.String(),
  primaryKeysNames: Type.Array(Type.String()),
  columns: Type.Array(Column),
  isTyped: Type.Boolean(),
});

/** Makes an empty table. */
export const tableDefinitionCreate = defineOperation({
  name: 'tableDefinitionCreate',
  params: Definition,
  async run(params, job, context) {
    const { meta, engine } = context;
    const id = job.table_id ?? '';
    const { bucket: bucketId, name } = splitTableId(id);
    await requireBucketRow(meta, context, job.branch_id, bucketId);
    await requireFreeTable(meta, { branchId: job.branch_id, bucketId, name });
    const table = engineTable(job.branch_id, id);
    const columns = params.columns.map((column) => column.name);
    const definitions = new Map(params.columns.map((column) => [column.name, definitionOf(column)]));
    const types = storedTypes({
      is_typed: params.isTyped ? 1 : 0,
      columns: [...definitions].map(([column, definition]) => ({ name: column, ...definition })),
    });
    const definition = {
      columns,
      primaryKey: params.primaryKeysNames,
      ...(types === undefined ? {} : { types }),
    };
    await engine.create(table, definition, fenceOf(job));
    const now = isoTime(context.env.now());
    return {
      results: null,
      commit: async (tx) => {
        const bucket = await requireBucketRow(tx, context, job.branch_id, bucketId);
        await requireFreeTable(tx, { branchId: job.branch_id, bucketId, name });
        const row = {
          branch_id: job.branch_id,
          id,
          bucket_id: bucketId,
          name,
          display_name: name,
          primary_key: JSON.stringify(params.primaryKeysNames),
          is_typed: params.isTyped ? 1 : 0,
          rows_count: 0,
          data_bytes: 0,
          revision: 1,
          ...NO_ALIAS,
          creator_id: job.creator_id,
          creator_description: job.creator_description,
          created: now,
          last_import: null,
          last_change: now,
        } as const;
        await insertTable(tx, row, columns, definitions);
        const stored = await requireTableRow(tx, context, job.branch_id, id);
        return wholeTable(stored, { origin: context.origin(), bucket });
      },
      undo: async () => await engine.drop(table, fenceOf(job)),
    };
  },
});

function definitionOf({ definition, basetype }: ColumnInput): StoredDefinition {
  return {
    definition: definition === undefined || definition === null ? null : JSON.stringify(definition),
    basetype: basetype ?? null,
  };
}

export const tableDrop = defineOperation({
  name: 'tableDrop',
  params: Type.Object({ force: Type.Optional(Type.String()) }),
  async run({ force }, job, context) {
    const id = job.table_id ?? '';
    const table = await requireTableRow(context.meta, context, job.branch_id, id);
    if (force !== 'true') await refuseAliased(context.meta, table);
    await context.engine.drop(engineTable(job.branch_id, id), fenceOf(job));
    return {
      results: null,
      commit: async (tx) => {
        const stored = await findTable(tx, job.branch_id, id);
        // Aliases that were made meanwhile have no rows any more, either.
        if (stored !== undefined) await deleteTable(tx, stored);
      },
    };
  },
});

export const tableColumnAdd = defineOperation({
  name: 'tableColumnAdd',
  params: Column,
  async run(column, job, context) {
    if (await isOfAlias(job, context)) return changeAlias(job, context, { added: column.name });
    return await change(job, context, async ({ stored, table }) => {
      const isInCatalogue = stored.columns.some(({ name }) => name === column.name);
      // A killed process may have added it without knowing.
      const isDone = !isInCatalogue && (await describe(context, job)).columns.includes(column.name);
      const type = stored.is_typed === 1 ? storedType(definitionOf(column)) : undefined;
      if (!isDone) await context.engine.addColumn(table, column.name, { ...fenceOf(job), type });
      return { definitions: new Map([[column.name, definitionOf(column)]]) };
    });
  },
});

export const tableColumnDelete = defineOperation({
  name: 'tableColumnDelete',
  params: Type.Object({ name: Type.String(), force: Type.Optional(Type.Boolean()) }),
  async run({ name, force = false }, job, context) {
    if (await isOfAlias(job, context)) return changeAlias(job, context, { removed: name, force });
    return await change(job, context, async ({ stored, table }) => {
      await refuseReferenced(context.meta, stored, name, force);
      const isInCatalogue = stored.columns.some((column) => column.name === name);
      const isDone = isInCatalogue && !(await describe(context, job)).columns.includes(name);
      if (!isDone) await context.engine.dropColumn(table, name, fenceOf(job));
      return {};
    });
  },
});

export const tablePrimaryKeyAdd = defineOperation({
  name: 'tablePrimaryKeyAdd',
  params: Type.Object({
    columns: Type.Array(Type.String()),
    skipDuplicatesCheck: Type.Optional(Type.Boolean()),
  }),
  run: async ({ columns }, job, context) =>
    await change(job, context, async ({ stored, table }) => {
      // Another job may have set one meanwhile.
      requireNoKey(stored);
      await context.engine.setPrimaryKey(table, columns, fenceOf(job));
      return {};
    }),
});

/** @throws {ApiError} 400 when the table has a primary key */
export function requireNoKey(table: StoredTable): void {
  if (table.primary_key === '[]') return;
  throw badRequest('storage.validation.primaryKey', 'The table has a primary key already. Remove it first.');
}

export const tablePrimaryKeyDelete = defineOperation({
  name: 'tablePrimaryKeyDelete',
  params: Type.Object({}),
  run: async (_params, job, context) =>
    await change(job, context, async ({ stored, table }) => {
      await refuseFilteredKey(context.meta, stored);
      await context.engine.setPrimaryKey(table, [], fenceOf(job));
      return {};
    }),
});

export const tableRowsDelete = defineOperation({
  name: 'tableRowsDelete',
  params: Type.Object({ request: Type.Unsafe<RowFilterInput>({ type: 'object' }) }),
  async run({ request }, job, context) {
    const filter = readRowFilter(request, Date.parse(job.created));
    return await change(job, context, async ({ table }) => ({
      results: { deletedRows: await context.engine.deleteRows(table, filter, fenceOf(job)) },
    }));
  },
});

/** Stores the declared type of a typed column; its values are stored so with the next load. */
export const tableColumnDefinitionUpdate = defineOperation({
  name: 'tableColumnDefinitionUpdate',
  params: Column,
  run: async (column, job, context) =>
    await change(job, context, async () =>
      Promise.resolve({ definitions: new Map([[column.name, definitionOf(column)]]) }),
    ),
});

async function isOfAlias(job: JobRow, context: DataContext): Promise<boolean> {
  const { alias_source } = await requireTableRow(context.meta, context, job.branch_id, job.table_id ?? '');
  return alias_source !== null;
}

/** Adds a column of its source to an alias, or removes one: it has no rows, so only the metadata change. */
function changeAlias(job: JobRow, context: DataContext, wanted: ColumnChange): Done {
  return {
    results: null,
    commit: async (tx) => {
      const alias = await requireTableRow(tx, context, job.branch_id, job.table_id ?? '');
      const source = await requireOwnColumns(tx, alias, wanted);
      const names = alias.columns.map(({ name }) => name);
      const columns =
        'added' in wanted
          ? [...new Set([...names, wanted.added])]
          : names.filter((name) => name !== wanted.removed);
      // A list of names, written by this service.
      const primaryKey = JSON.parse(source.primary_key) as string[];
      await setAliasColumns(tx, alias, { columns, primaryKey });
    },
  };
}

interface Changed {
  readonly results?: Done['results'];
  readonly definitions?: ReadonlyMap<string, StoredDefinition>;
}

/** Changes a table in the engine, then stores the engine's description in the metadata. */
export async function change(
  job: JobRow,
  context: DataContext,
  work: (target: { stored: StoredTable; table: ReturnType<typeof engineTable> }) => Promise<Changed>,
): Promise<Done> {
  const id = job.table_id ?? '';
  const stored = await requireTableRow(context.meta, context, job.branch_id, id);
  refuseAlias(stored);
  const { results = null, definitions } = await work({ stored, table: engineTable(job.branch_id, id) });
  const state = await describe(context, job);
  return {
    results,
    things: tableOf(job.branch_id, id),
    commit: async (tx) => {
      const current = await requireTableRow(tx, context, job.branch_id, id);
      const now = isoTime(context.env.now());
      await saveState(tx, current, state, { last_change: now }, definitions);
    },
  };
}

async function describe({ engine }: DataContext, job: JobRow): Promise<TableDescription> {
  const state = await engine.describe(engineTable(job.branch_id, job.table_id ?? ''));
  if (state === undefined) throw new Error(`The rows of the table ${job.table_id} are gone.`);
  return state;
}
