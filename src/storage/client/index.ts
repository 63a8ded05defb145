/**
 * The client of a storage and configuration service, on its own:
 * `import { StorageClient } from 'generic-extractor/storage'`.
 *
 * @module
 */
export { StorageClient, type Index } from './client.ts';
export type { ClientRetry, S3Options, StorageClientOptions } from './client-options.ts';
export type { DownloadToOptions, Files, ImporterOptions, UploadOptions, UploadSlice } from './file-types.ts';
export type { FilesQuery } from './file-operations.ts';
export type * from './table-types.ts';
export type { BucketDetail, Buckets } from './buckets.ts';
export type { Job } from './job.ts';
export type { Jobs, JobsQuery, WaitOptions } from './jobs.ts';
export type { Configurations, VersionsQuery } from './configurations.ts';
export type { Note, Rows } from './configuration-rows.ts';
export type { Metadata, MetadataPair } from './metadata.ts';
export type { Tokens } from './tokens.ts';
export type { Branches } from './branches.ts';
export type { Events, EventsOf, EventsQuery, StorageEvent } from './events.ts';
export type {
  RunDaysQuery,
  RunExplanationQuery,
  RunLogLine,
  RunLogPart,
  RunProblemsQuery,
  RunsQuery,
  SourceDaysQuery,
  SourceStatesQuery,
} from './runs.ts';
export type { Runs } from './recordings.ts';
export type { AllSchedules, AllSchedulesQuery, Schedules } from './schedules.ts';
export type { Alerts } from './alerts.ts';
export type { Sql, SqlOperations, SqlOptions } from './sql.ts';
export { importResultOf } from './tables.ts';
export type { ImportOnce } from './start-import.ts';
export type { OnceOptions } from './client-options.ts';
export { bytesBody, fileBody, gzipBody, type UploadBody } from './transfer/body.ts';
export type { OnProgress, TransferOptions, TransferProgress } from './transfer/progress.ts';
export type { ReadFileOptions } from './transfer/read-file.ts';
export { StorageError } from '../../lib/errors.ts';
export type { Env } from '../../lib/env.ts';
export type { Log } from '../../lib/log.ts';
export type {
  Alert,
  AlertCreate,
  AlertMessage,
  AlertUpdate,
  Branch,
  Bucket,
  BucketCreate,
  Component,
  Configuration,
  ConfigurationCopy,
  ConfigurationCreate,
  ConfigurationRow,
  ConfigurationUpdate,
  ConfigurationLogin,
  ConfigurationVersion,
  EventCreate,
  File,
  FilePrepare,
  LoadOrigin,
  MetadataItem,
  Orphans,
  RowCreate,
  RowUpdate,
  RowVersion,
  Run,
  RunCreate,
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
  RunRequest,
  RunRequests,
  Schedule,
  ScheduleCreate,
  ScheduleUpdate,
  DefinedColumn,
  SqlQuery,
  SqlResult,
  Table,
  TableDifference,
  TableProfile,
  TableVersion,
  TemporaryCredentials,
  Token,
} from '../protocol/index.ts';
