import type { Static } from 'typebox';
import { RunError } from '../../../../lib/errors.ts';
import { devBranchDelete } from './branch.ts';
import { bucketDelete } from './bucket.ts';
import { tableExport } from './export.ts';
import { fileDelete } from './file.ts';
import { tableCreate, tableImport } from './load.ts';
import type { Operation } from './operation.ts';
import { orphanedFiles } from './orphans.ts';
import { tableProfile } from './profile.ts';
import { tableRestore } from './restore.ts';
import {
  tableColumnAdd,
  tableColumnDefinitionUpdate,
  tableColumnDelete,
  tableDefinitionCreate,
  tableDrop,
  tablePrimaryKeyAdd,
  tablePrimaryKeyDelete,
  tableRowsDelete,
} from './structure.ts';

/** Every kind of storage job. */
const KINDS = [
  bucketDelete,
  devBranchDelete,
  fileDelete,
  orphanedFiles,
  tableColumnAdd,
  tableColumnDefinitionUpdate,
  tableColumnDelete,
  tableCreate,
  tableDefinitionCreate,
  tableDrop,
  tableExport,
  tableImport,
  tablePrimaryKeyAdd,
  tablePrimaryKeyDelete,
  tableProfile,
  tableRestore,
  tableRowsDelete,
] as const;

/** Parameters of the jobs of each kind. */
export type JobParams = { readonly [Kind in (typeof KINDS)[number] as Kind['name']]: Static<Kind['params']> };

/** Name of a kind of storage job. */
export type JobName = keyof JobParams;

/** Storage job as a route asks for it: its parameters are those that the operation of its kind reads. */
export type StorageJobRequest<Name extends JobName = JobName> = {
  readonly [Each in Name]: {
    readonly operation: Each;
    readonly params: JobParams[Each];
    readonly tableId?: string;
    readonly lockKey?: string;
  };
}[Name];

/** The operation of every kind, by its name. */
export const OPERATIONS: Readonly<Record<string, Operation>> = Object.fromEntries(
  KINDS.map(({ name, run }) => [name, run]),
);

/** Checks that every kind of job that a route enqueues has its operation. @throws {ExtractorError} */
export function requireOperations(names: readonly string[]): void {
  const missing = names.find((name) => !Object.hasOwn(OPERATIONS, name));
  if (missing === undefined) return;
  throw new RunError('command.invalid', `Nothing does the jobs of the kind ${missing}.`, {
    audience: 'application',
  });
}
