import { devBranchDelete } from './branch.ts';
import { bucketDelete } from './bucket.ts';
import { tableExport } from './export.ts';
import { fileDelete } from './file.ts';
import { tableCreate, tableImport } from './load.ts';
import type { Operation } from './operation.ts';
import { tableProfile } from './profile.ts';
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

/** Every kind of job, by the name that the API gives it. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  bucketDelete,
  devBranchDelete,
  fileDelete,
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
  tableRowsDelete,
};
