/**
 * The client for a page of the service itself: the same operations, by the `fetch` of the browser and a session in a
 * cookie. Nothing that this module loads needs more than a browser has.
 *
 * @module
 */
import { createAlerts, type Alerts } from './alerts.ts';
import type {
  Component,
  ConfigurationBriefs,
  ConfigurationBriefsQuery,
  ConfigurationNames,
} from '../protocol/index.ts';
import { createBranches, type Branches } from './branches.ts';
import { createBrowserApi, type BrowserOptions } from './browser-api.ts';
import { createBuckets, type Buckets } from './buckets.ts';
import { createConfigurations, type Configurations } from './configurations.ts';
import { path } from './encode.ts';
import { createEvents, type Events } from './events.ts';
import { createFileOperations, type FileOperations } from './file-operations.ts';
import { createJobs, type Jobs } from './jobs.ts';
import { createRunOperations, type RunOperations } from './runs.ts';
import { shaped } from './shape.ts';
import { createTableOperations, rowsQuery } from './tables.ts';
import type { ExportOptions, TableOperations } from './table-types.ts';
import { createAllSchedules, type AllSchedules } from './schedules.ts';
import { createSqlOperations, type SqlOperations } from './sql.ts';
import { createTokens, type Tokens } from './tokens.ts';
import { componentsOf, configurationBriefsOf, configurationNamesOf } from './components.ts';
import { urlOf, type ApiCore } from './api-core.ts';
import { createWorkshop, type Workshop } from './workshop.ts';

export interface BrowserClient {
  readonly files: FileOperations;
  readonly tables: TableOperations;
  readonly buckets: Buckets;
  readonly jobs: Jobs;
  readonly tokens: Tokens;
  readonly branches: Branches;
  readonly events: Events;
  readonly alerts: Alerts;
  readonly schedules: AllSchedules;
  readonly runs: RunOperations;
  readonly sql: SqlOperations;
  readonly workshop: Workshop;
  /** The configurations of a component. */
  configurations(componentId: string): Configurations;
  /** The components of the catalogue. */
  components(): Promise<Component[]>;
  component(id: string): Promise<Component>;
  /** Lists the names of all configurations, by component. */
  configurationNames(): Promise<ConfigurationNames>;
  /** Lists configurations of all components page by page, with what lists show of each. */
  configurationBriefs(query?: ConfigurationBriefsQuery): Promise<ConfigurationBriefs>;
  /** Returns the address of a table as one file, CSV with a header or Parquet, for a download link. */
  tableDataUrl(id: string, query?: ExportOptions): string;
  /** Calls the API where no group has the operation, with the same retries and errors. */
  readonly call: ApiCore['call'];
}

export function createBrowserClient(options: BrowserOptions): BrowserClient {
  const api = createBrowserApi(options);
  const jobs = createJobs(api);
  return {
    jobs,
    files: createFileOperations(api),
    tables: createTableOperations(api, jobs),
    buckets: createBuckets(api, jobs),
    tokens: createTokens(api),
    branches: createBranches(api, jobs),
    events: createEvents(api),
    alerts: createAlerts(api),
    schedules: createAllSchedules(api),
    runs: createRunOperations(api),
    sql: createSqlOperations(api),
    workshop: createWorkshop(api),
    configurations: (componentId) => createConfigurations(api, componentId),
    components: async () => componentsOf(await api.call({ method: 'GET', path: '', scope: 'plain' })),
    configurationNames: async () =>
      configurationNamesOf(await api.call({ method: 'GET', path: 'configurations/names' })),
    configurationBriefs: async (query = {}) =>
      configurationBriefsOf(
        await api.call({ method: 'GET', path: 'configurations/brief', query: { ...query } }),
      ),
    component: async (id) =>
      shaped<Component>(
        await api.call({ method: 'GET', path: path`components/${id}`, scope: 'plain' }),
        'component',
        { id: 'string' },
      ),
    tableDataUrl: (id, { gzip, fileType, search, ...rows } = {}) => {
      const query = { ...rowsQuery(rows), fulltextSearch: search, gzip, fileType };
      return urlOf(options.base, { method: 'GET', path: path`tables/${id}/data`, query }, options.branch);
    },
    call: async (call) => await api.call(call),
  };
}

export { StorageError } from '../../lib/errors.ts';
export type { BrowserOptions } from './browser-api.ts';
export type { Configurations } from './configurations.ts';
export type { ConfigurationProblem } from '../protocol/workshop.ts';
export type { Rows } from './configuration-rows.ts';
export type { Job } from './job.ts';
export type { RunLogLine, RunLogPart, RunsQuery, SourceStatesQuery } from './runs.ts';
export type { StorageEvent } from './events.ts';
export type * from './table-types.ts';
export type {
  Advice,
  Branch,
  Bucket,
  Component,
  Configuration,
  ConfigurationRow,
  ConfigurationBrief,
  ConfigurationBriefs,
  ConfigurationBriefsQuery,
  ConfigurationLogin,
  ConfigurationVersion,
  LoginProgress,
  StartedLogin,
  File,
  Found,
  FoundDocument,
  FoundList,
  OpenPoint,
  ReportedJob,
  ToldError,
  Tried,
  TriedRequest,
  TriedRows,
  TriedTable,
  MetadataItem,
  Run,
  ImportedSource,
  ImportTool,
  RunExplanation,
  RunProblem,
  RunProblems,
  MayRun,
  MissedRun,
  FilledTable,
  ListedSchedule,
  CalendarHour,
  ScheduleBrief,
  ScheduleBriefs,
  ScheduleBriefsQuery,
  ScheduleCalendar,
  RunDay,
  SourceDays,
  SourceDaysPage,
  RowOrigin,
  TableBrief,
  TableBriefs,
  TableBriefsQuery,
  TableLoad,
  TableSource,
  TableSources,
  Alert,
  AlertCreate,
  AlertKind,
  AlertMessage,
  AlertUpdate,
  SourceCondition,
  SourceState,
  SourceStates,
  WatchedColumn,
  RunRequest,
  RunProgress,
  RunStatus,
  RowVersion,
  Schedule,
  SqlResult,
  Table,
  TableProfile,
  Token,
} from '../protocol/index.ts';
