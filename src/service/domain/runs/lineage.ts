import type { FilledTable, TableLoad, TableSource, TableSources } from '../../../storage/protocol/lineage.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { listLoads } from '../../stores/metadata/jobs.ts';
import { loadsOfConfiguration, loadsOfTable, type NewestLoad } from '../../stores/metadata/run-tables.ts';
import { listRunIds } from '../../stores/metadata/runs.ts';
import { listSchedules } from '../../stores/metadata/schedules.ts';
import { sizesOf, type TableSize } from '../../stores/metadata/stored-tables.ts';
import type { ConfigurationKey, TableRow } from '../../stores/metadata/tables.ts';
import { apiTime } from '../presenters/time.ts';

/** @param mayRead tells whether the caller may read a table */
export async function readFilledTables(
  meta: Meta,
  key: ConfigurationKey,
  mayRead: (tableId: string) => boolean,
): Promise<FilledTable[]> {
  const loads = await loadsOfConfiguration(meta, key);
  const sizes = await sizesOf(meta, key.branch_id, [...new Set(loads.map(({ table_id }) => table_id))]);
  return loads.map((load) => {
    const size = sizes.get(load.table_id);
    return {
      table: load.table_id,
      ...loadReply(load),
      ...sizeReply(mayRead(load.table_id) ? size : undefined),
      isThere: size !== undefined,
    };
  });
}

function sizeReply(size: TableSize | undefined) {
  return {
    rowsCount: size?.rows_count ?? null,
    dataSizeBytes: size?.data_bytes ?? null,
    lastImportDate: apiTime(size?.last_import ?? null),
  };
}

function loadReply(load: NewestLoad) {
  return {
    ...(load.row_id === '' ? {} : { row: load.row_id }),
    output: load.name,
    runs: load.runs,
    lastRun: String(load.run_id),
    lastTime: apiTime(load.loaded),
    lastRows: load.rows,
    lastStatus: load.status,
    lastVerdict: load.verdict,
    lastVersion: load.version,
  };
}

/**
 * @param table the one that has the rows
 * @param mayUse tells whether the caller may use a component
 */
export async function readTableSources(
  meta: Meta,
  table: TableRow,
  mayUse: (component: string) => boolean,
): Promise<TableSources> {
  const loads = await loadsOfTable(meta, table);
  const seen = loads.filter(({ component_id }) => mayUse(component_id));
  const sources: TableSource[] = [];
  for (const load of seen) sources.push(await sourceReply(meta, load));
  return {
    table: table.id,
    lastImportDate: apiTime(table.last_import),
    sources,
    hidden: loads.length - seen.length,
  };
}

async function sourceReply(meta: Meta, load: NewestLoad): Promise<TableSource> {
  const schedules = (await listSchedules(meta, load)).filter(({ is_enabled }) => is_enabled === 1);
  const times = schedules.flatMap(({ next_occurrence }) => next_occurrence ?? []).toSorted();
  return {
    component: load.component_id,
    configuration: load.configuration_id,
    name: load.configuration_name ?? load.configuration_id,
    isDeleted: load.is_deleted !== 0,
    isDisabled: load.is_disabled === 1,
    ...loadReply(load),
    schedules: schedules.length,
    nextTime: apiTime(times[0] ?? null),
  };
}

/** Returns the loads of a table since it was made, by whomever, the newest first. */
export async function readTableLoads(
  meta: Meta,
  table: TableRow,
  part: { readonly limit: number; readonly offset: number },
): Promise<TableLoad[]> {
  const jobs = await listLoads(meta, table, part);
  // Any client may send any text as the run that it asks for.
  const told = jobs.flatMap(({ run_id }) => (/^\d{1,15}$/.test(run_id ?? '') ? [Number(run_id)] : []));
  const runs = new Set(await listRunIds(meta, table.branch_id, told));
  return jobs.map((job) => {
    const results = resultsOf(job.results);
    return {
      job: String(job.id),
      run: runs.has(Number(job.run_id)) ? job.run_id : null,
      time: apiTime(job.ended ?? job.created),
      rows: results.importedRowsCount ?? results.rowsCount ?? 0,
      totalRows: results.totalRowsCount ?? results.rowsCount ?? 0,
      totalBytes: results.totalDataSizeBytes ?? results.dataSizeBytes ?? 0,
      creatorToken: { id: String(job.creator_id), description: job.creator_description },
    };
  });
}

/** Results of a job that loads into a table, or makes one of what it loads. */
interface LoadResults {
  readonly rowsCount?: number;
  readonly dataSizeBytes?: number;
  readonly importedRowsCount?: number;
  readonly totalRowsCount?: number;
  readonly totalDataSizeBytes?: number;
}

// Written by the job, also by one of an older version.
const resultsOf = (results: string | null): LoadResults =>
  results === null ? {} : (JSON.parse(results) as LoadResults);
