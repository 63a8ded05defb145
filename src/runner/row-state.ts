import { existsSync } from 'node:fs';
import type { RowRun } from '../config/index.ts';
import { isObject, sizeOf, type AnyObject } from '../json/index.ts';
import type { Log } from '../log.ts';
import { readState } from '../sink/state.ts';
import type { RowFolder } from './row-folder.ts';

/**
 * The state a row begins with: that of its last run (`in/state.json`), else the one that the configuration brings
 * along, else none.
 *
 * @param reset begins as if it were the first run (`--reset-state`); the file is replaced when the run has succeeded
 */
export function stateOf(row: RowRun, folder: RowFolder, reset: boolean, log: Log): AnyObject {
  if (reset) {
    log.info('The state is reset: this run begins as a first one');
    return {};
  }
  if (existsSync(folder.inState)) return readState(folder.inState, log);
  if (isObject(row.state) && sizeOf(row.state) > 0) {
    log.info('The state that the configuration brings along is used');
    return row.state;
  }
  return readState(folder.inState, log);
}
