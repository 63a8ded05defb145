import type { RowRun } from '../config/index.ts';
import type { RowFolder } from './row-folder.ts';

/** Where the inputs of a run come from and its outputs go to. Called for one row at a time, in order. */
export interface Storage {
  /** Fills the row's `in/` before it runs. */
  pull(row: RowRun, folder: RowFolder, signal: AbortSignal): Promise<void>;
  /** Takes the row's `out/`, which is complete. The row's state moves on only when this has succeeded. */
  push(row: RowRun, folder: RowFolder, signal: AbortSignal): Promise<void>;
}

/** `--storage none`: the tables stay in the data folder. */
export const noStorage: Storage = { pull: async () => {}, push: async () => {} };
