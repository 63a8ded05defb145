import type { WrittenTable } from '../engine/extract/extract.ts';
import type { AnyObject } from '../lib/json/index.ts';
import type { Pushed } from './mapping/mapping-types.ts';
import type { JobReport } from '../engine/completeness/index.ts';

export interface RowResult {
  /** Absent when the configuration has no rows. */
  readonly id?: string;
  /** Folder of the output. */
  readonly out: string;
  readonly tables: readonly WrittenTable[];
  /** Rows in all tables. */
  readonly rows: number;
  readonly state: AnyObject;
  /** Completeness of each job. */
  readonly jobs: readonly JobReport[];
  /** True when nothing was pushed because a job may not have everything; its state has not moved on either. */
  readonly isHeld?: boolean;
  /** Absent when nothing was to be pushed. */
  readonly pushed?: Pushed;
}
