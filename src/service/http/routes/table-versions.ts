import { Type } from 'typebox';
import { Job } from '../../../storage/protocol/job.ts';
import {
  TableDifference,
  TableDifferenceQuery,
  TableRestore,
  TableVersion,
  TableVersionsQuery,
} from '../../../storage/protocol/version.ts';
import type { Static } from 'typebox';
import type { DataContext } from '../../domain/data-context.ts';
import { badRequest } from '../../domain/api-error.ts';
import { refuseAlias } from '../../domain/jobs/operations/alias.ts';
import {
  engineTable,
  requireTableRow,
  splitTableId,
  tableLock,
} from '../../domain/jobs/operations/table-place.ts';
import { apiTime } from '../../domain/presenters/time.ts';
import { noVersion, readVersion, requireVersions } from '../../domain/table-versions.ts';
import { requireBucket } from '../../domain/tokens/permissions.ts';
import type { StoredTable } from '../../stores/metadata/stored-tables.ts';
import type { TableId, RowDifference, TableVersions, VersionEntry } from '../../stores/tables/engine.ts';
import { enqueueJob } from '../enqueue-job.ts';
import { type Who, routesOf, type Route } from '../route.ts';

const route = routesOf('Tables');

/** Makes the routes of earlier versions of a table: its history, what a change did, and the way back. */
export function tableVersionRoutes(context: DataContext): Route[] {
  return [
    route('GET', '/tables/:table/versions', {
      summary: 'The changes of a table, the newest first, as long as they are kept; of a lake',
      query: TableVersionsQuery,
      response: Type.Array(TableVersion),
      handle: async ({ params, query, ...who }) => {
        const table = await requireOwn(context, params.table, who, 'read');
        const versions = await requireVersions(context);
        const { limit = 100, before, runId } = query;
        const found = await versions.history(placeOf(table), { limit, before, run: runId });
        return found.map(versionReply);
      },
    }),
    route('GET', '/tables/:table/difference', {
      summary:
        'The rows that a change, a run, or all between two versions, added, removed and changed; of a lake',
      query: TableDifferenceQuery,
      response: TableDifference,
      validationCode: 'storage.tables.validation',
      handle: async ({ params, query, ...who }) => {
        const table = await requireOwn(context, params.table, who, 'read');
        const versions = await requireVersions(context);
        const range = await rangeOf(versions, placeOf(table), query);
        const found = await versions.difference(placeOf(table), { ...range, limit: query.limit ?? 50 });
        const { columns, primaryKey, added, removed, changed, rows } = found;
        return {
          ...range,
          columns: [...columns],
          primaryKey: [...primaryKey],
          addedCount: added,
          removedCount: removed,
          changedCount: changed,
          rows: rows.map(rowReply),
        };
      },
    }),
    route('POST', '/tables/:table/restore', {
      summary: 'Sets a table back to a version: columns, key and rows; of a lake',
      status: 202,
      body: TableRestore,
      response: Job,
      validationCode: 'storage.tables.validation',
      enqueues: ['tableRestore'],
      handle: async ({ params, body, ...asker }) => {
        const table = await requireOwn(context, params.table, asker, 'write');
        const versions = await requireVersions(context);
        const version = await readVersion(versions, body.at, context.env.now());
        return await enqueueJob(context, asker, {
          operation: 'tableRestore',
          params: { version },
          tableId: table.id,
          lockKey: tableLock(table.branch_id, table.id),
        });
      },
    }),
  ];
}

/** Returns a table with rows of its own: an alias may show less than its source has. */
async function requireOwn(
  context: DataContext,
  id: string,
  { caller, branch }: Who,
  need: 'read' | 'write',
): Promise<StoredTable> {
  requireBucket(caller, branch.id, splitTableId(id).bucket, need);
  const table = await requireTableRow(context.meta, context, branch.id, id);
  refuseAlias(table);
  return table;
}

const placeOf = ({ branch_id, id }: StoredTable): TableId => engineTable(branch_id, id);

async function rangeOf(
  versions: TableVersions,
  table: TableId,
  { version, runId, from, to }: Static<typeof TableDifferenceQuery>,
): Promise<{ readonly from: number; readonly to: number }> {
  if (from !== undefined && to !== undefined) return { from, to };
  if (version !== undefined) return { from: await before(versions, version), to: version };
  if (runId === undefined)
    throw badRequest('storage.tables.validation', 'Give a version, a runId, or both from and to.');
  const changes = await versions.history(table, { limit: MOST_CHANGES, run: runId });
  const [last, first] = [changes[0], changes.at(-1)];
  if (last === undefined || first === undefined)
    return noVersion(`The run ${runId} has not changed the table, or its versions are not kept any more.`);
  return { from: await before(versions, first.version), to: last.version };
}

/** More changes of one table than a run makes. */
const MOST_CHANGES = 1000;

async function before(versions: TableVersions, version: number): Promise<number> {
  const found = await versions.previous(version);
  return found ?? noVersion(`No version is kept from before version ${version}.`);
}

function versionReply(found: VersionEntry): TableVersion {
  const { version, time, change, rows, importedRows, addedColumns, droppedColumns, job, origin } = found;
  return {
    version,
    created: apiTime(time.toISOString()),
    change,
    rowsCount: rows ?? null,
    importedRowsCount: importedRows ?? null,
    addedColumns: [...addedColumns],
    droppedColumns: [...droppedColumns],
    jobId: job ?? null,
    runId: origin.run ?? null,
    component: origin.component ?? null,
    configuration: origin.configuration ?? null,
    configurationRow: origin.row ?? null,
    configurationVersion: origin.version ?? null,
  };
}

function rowReply({ before: was, after }: RowDifference): TableDifference['rows'][number] {
  return {
    change: was === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
    before: was === undefined ? null : [...was],
    after: after === undefined ? null : [...after],
  };
}
