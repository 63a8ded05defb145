import { Type } from 'typebox';
import {
  FilledTable,
  RunDay,
  RunDaysQuery,
  SourceDaysPage,
  SourceDaysQuery,
  TableLoad,
  TableLoadsQuery,
  TableSources,
} from '../../../storage/protocol/lineage.ts';
import { requireConfiguration } from '../../domain/configurations/read-configuration.ts';
import type { Context } from '../../domain/context.ts';
import { rowsOf } from '../../domain/jobs/operations/alias.ts';
import { requireTableRow, splitTableId } from '../../domain/jobs/operations/table-place.ts';
import { readDays, readSourceDays } from '../../domain/runs/days.ts';
import { readFilledTables, readTableLoads, readTableSources } from '../../domain/runs/lineage.ts';
import type { Caller } from '../../domain/tokens/caller.ts';
import {
  mayUseBucket,
  mayUseComponent,
  requireAnyComponent,
  requireBucket,
} from '../../domain/tokens/permissions.ts';
import type { StoredTable } from '../../stores/metadata/stored-tables.ts';
import { keyFrom } from '../parsing/configuration.ts';
import { timeOf } from '../parsing/time.ts';
import { routesOf, type Route, type Who } from '../route.ts';

const ofTables = routesOf('Tables');
const ofConfigurations = routesOf('Configurations');
const ofRuns = routesOf('Runs');

/** Makes the routes of where tables come from: which configurations and runs have filled them. */
export function lineageRoutes(context: Context): Route[] {
  const { meta, queue } = context;
  return [
    ofConfigurations('GET', '/components/:component/configs/:configuration/tables', {
      summary: 'The tables that runs of a configuration have loaded, the last loaded first',
      response: Type.Array(FilledTable),
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        await requireConfiguration(meta, key);
        return await readFilledTables(meta, key, (table) =>
          mayUseBucket(call.caller, key.branch_id, splitTableId(table).bucket, 'read'),
        );
      },
    }),
    ofTables('GET', '/tables/:table/sources', {
      summary: 'The configurations whose runs have loaded a table, the last one first',
      response: TableSources,
      handle: async ({ params, ...call }) => {
        const table = await rowsIn(context, params.table, call);
        return await readTableSources(meta, table, (component) => mayUseComponent(call.caller, component));
      },
    }),
    ofTables('GET', '/tables/:table/loads', {
      summary: 'The loads of a table, by runs and by others, the newest first',
      query: TableLoadsQuery,
      response: Type.Array(TableLoad),
      handle: async ({ params, query, ...call }) => {
        const { limit = 100, offset = 0 } = query;
        return await readTableLoads(meta, await rowsIn(context, params.table, call), { limit, offset });
      },
    }),
    ofRuns('GET', '/runs/days', {
      summary: 'How many runs ended in which way, by day',
      query: RunDaysQuery,
      response: Type.Array(RunDay),
      handle: async ({ query, caller, branch }) => {
        requireAnyComponent(caller);
        const { days = 30, until, component, configuration } = query;
        const of = { branchId: branch.id, component, configuration, components: componentsOf(caller) };
        return await readDays(meta, of, { last: await lastDay(until), days });
      },
    }),
    ofRuns('GET', '/runs/source-days', {
      summary: 'How many runs of each configuration ended in which way, by day',
      query: SourceDaysQuery,
      response: SourceDaysPage,
      handle: async ({ query, caller, branch }) => {
        requireAnyComponent(caller);
        const { days = 14, until, ...asked } = query;
        const of = { branchId: branch.id, components: componentsOf(caller) };
        return await readSourceDays(meta, of, { last: await lastDay(until), days }, asked);
      },
    }),
  ];

  /** Returns a time on the last day that is asked for. */
  async function lastDay(until: string | undefined): Promise<number> {
    const now = await queue.runs.now();
    return until === undefined ? now : timeOf('until', until, now);
  }
}

/** Returns the components whose runs a token may see; undefined for all. */
const componentsOf = ({
  isMaster,
  canManageBuckets,
  componentAccess,
}: Caller): readonly string[] | undefined => (isMaster || canManageBuckets ? undefined : componentAccess);

/** Returns the table that has the rows of one that the caller may read. */
async function rowsIn(context: Context, id: string, { caller, branch }: Who): Promise<StoredTable> {
  requireBucket(caller, branch.id, splitTableId(id).bucket, 'read');
  const asked = await requireTableRow(context.meta, context, branch.id, id);
  return (await rowsOf(context.meta, context, asked)).table;
}
