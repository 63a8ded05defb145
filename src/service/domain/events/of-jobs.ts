import type { Reply } from '../reply.ts';
import type { JobName } from '../jobs/operations/all.ts';
import { splitTableId } from '../jobs/operations/table-place.ts';
import type { JobRow } from '../../stores/metadata/tables.ts';
import type { EventObject, SystemEvent } from './system-event.ts';

/** Returns the event of a finished job; nothing for one that only wrote a file. */
export function eventOfJob(job: JobRow, results: Reply): SystemEvent | undefined {
  const told = EVENTS[job.operation];
  if (told === undefined) return undefined;
  const object = objectOf(job);
  const { show, ...event } = told;
  return {
    ...event,
    message: `${event.message} "${object.name}"`,
    object,
    params: shownParams(job, show),
    ...(event.name === 'tableImportDone' || event.name === 'tableRowsDeleted' ? { results } : {}),
  };
}

/** Returns the event of a failed job: only for loads, which others wait for. */
export function eventOfFailure(
  job: JobRow,
  error: { code: string; message: string },
): SystemEvent | undefined {
  if (job.operation !== 'tableImport') return undefined;
  const object = objectOf(job);
  const { code, message } = error;
  return {
    name: 'tableImportError',
    message: `Could not load into the table "${object.name}": ${message}`,
    type: 'error',
    object,
    params: shownParams(job, ['source']),
    results: { code, message },
  };
}

interface Told {
  readonly name: string;
  /** Before the name of the object. */
  readonly message: string;
  /** Parameters of the job that the event repeats. */
  readonly show: readonly string[];
}

const EVENTS: { readonly [Name in JobName]?: Told } & Readonly<Record<string, Told | undefined>> = {
  bucketDelete: { name: 'bucketDeleted', message: 'Deleted the bucket', show: ['force'] },
  devBranchDelete: { name: 'devBranchDeleted', message: 'Deleted the development branch', show: ['name'] },
  tableColumnAdd: { name: 'tableColumnAdded', message: 'Added a column to the table', show: ['name'] },
  tableColumnDefinitionUpdate: {
    name: 'tableColumnDefinitionUpdated',
    message: 'Changed the definition of a column of the table',
    show: ['name'],
  },
  tableColumnDelete: { name: 'tableColumnDeleted', message: 'Deleted a column of the table', show: ['name'] },
  tableCreate: { name: 'tableCreated', message: 'Created the table', show: ['source'] },
  tableDefinitionCreate: { name: 'tableCreated', message: 'Created the table', show: ['primaryKeysNames'] },
  tableDrop: { name: 'tableDeleted', message: 'Deleted the table', show: [] },
  tableExport: { name: 'tableExported', message: 'Exported the table', show: [] },
  tableImport: { name: 'tableImportDone', message: 'Loaded into the table', show: ['source'] },
  tablePrimaryKeyAdd: {
    name: 'tablePrimaryKeyAdded',
    message: 'Set the primary key of the table',
    show: ['columns'],
  },
  tablePrimaryKeyDelete: {
    name: 'tablePrimaryKeyDeleted',
    message: 'Removed the primary key of the table',
    show: [],
  },
  tableRowsDelete: { name: 'tableRowsDeleted', message: 'Deleted rows of the table', show: [] },
};

function objectOf(job: JobRow): EventObject {
  if (job.table_id !== null)
    return { type: 'table', id: job.table_id, name: splitTableId(job.table_id).name };
  const { id = '', name } = JSON.parse(job.params) as { id?: number | string; name?: string };
  return {
    type: job.operation === 'devBranchDelete' ? 'devBranch' : 'bucket',
    id: String(id),
    name: name ?? String(id),
  };
}

function shownParams(job: JobRow, show: readonly string[]): Reply {
  // Written by this service, as JSON.
  const all = JSON.parse(job.params) as Record<string, Reply>;
  const shown = show.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]] as const]));
  return shown.length === 0 ? [] : Object.fromEntries(shown);
}
