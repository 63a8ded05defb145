export { attributesOf } from './attributes.ts';
export { childRuns, MAX_RUNS } from './child-runs.ts';
export { extraColumns, type ExtraOptions } from './extra.ts';
export { isOfExport, withComputed, type Computed } from './computed.ts';
export { exportOptions } from './export/read-export.ts';
export type { ExportDownload, ExportPoll, ExportSettings } from './export/export-settings.ts';
export { compileFilter } from './filter.ts';
export { overRuns } from './over.ts';
export { compileParentFilter, type ParentFilter } from './parent-filter.ts';
export { Groups, joined, type Group } from './group.ts';
export { METHODS, parseJobs, type ExtractionJob as Job, type Method } from './job.ts';
export { jobDefinitions, jobsOption } from './job-options.ts';
export type { Placeholder } from './placeholders.ts';
export { firstRequest } from './request.ts';
export { contextsOf } from './values.ts';
export {
  ROOT_RUN,
  type JobInvocation,
  type InvocationParameter as Parameter,
  type Parameters,
} from './run.ts';
export { substituteText, substituteValue } from './substitute.ts';
export type { JobWarning } from './warnings.ts';
export { timeText, windowsOf, type RunWindows, type Window } from './windows/resolve.ts';
export type { Windows } from './windows/read-windows.ts';
export type { Stretch } from './windows/tile.ts';
export { boundsOf, type Bounds, type BoundsOptions } from './incremental/bounds.ts';
export { meaningOf, withSortedKeys, partKey } from './incremental/asked.ts';
export { compareMarks, markOf, type Mark, type MarkKind } from './incremental/mark.ts';
export type { Incremental } from './incremental/read-incremental.ts';
export { momentFrom } from './moment.ts';
