import { existsSync } from 'node:fs';
import type { RowRun } from '../config/index.ts';
import { isObject, sizeOf, type AnyObject } from '../json/index.ts';
import type { Log } from '../log.ts';
import { readState } from '../sink/state.ts';
import type { RowFolder } from './row-folder.ts';

export interface StateOptions {
  /** Begins as if it were the first run (`--reset-state`); the file is replaced when the run has succeeded. */
  readonly reset: boolean;
  /** True where whoever starts the run puts a state file there, so that a missing one is worth a warning. */
  readonly isExpected: boolean;
}

/**
 * The state a row begins with: that of its last run (`in/state.json`), else the one that the configuration brings
 * along (design 8.10), else none.
 */
export function stateOf(
  row: RowRun,
  folder: RowFolder,
  { reset, isExpected }: StateOptions,
  log: Log,
): AnyObject {
  if (reset) {
    log.info('The state is reset: this run begins as a first one');
    return {};
  }
  if (existsSync(folder.inState)) return readState(folder.inState, log);
  if (isObject(row.state) && sizeOf(row.state) > 0) {
    log.info('The state that the configuration brings along is used');
    return row.state;
  }
  if (isExpected) return readState(folder.inState, log);
  log.debug('There is no state of an earlier run: this is a first run');
  return {};
}
