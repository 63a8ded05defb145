import { existsSync, readFileSync } from 'node:fs';
import { isObject, sizeOf, toJsonText, type AnyObject, type Json } from '../json/index.ts';
import { writeFileAtomic } from '../sink/atomic.ts';
import { guard } from '../sink/file-error.ts';
import { readState } from '../sink/state.ts';
import type { RowPlace } from './row-place.ts';

/** The state that a row begins with (storage 8.3). */
export interface RowState {
  /** What the component reads. */
  readonly component: AnyObject;
  /** What the input mapping remembers. */
  readonly storage: Json | undefined;
}

/** Where the states of rows are kept between runs. */
export interface States {
  read(at: RowPlace): Promise<RowState>;
  /**
   * Called when all that the run gave is in its place. `component` is the text of the new state; without
   * `storage` that part stays.
   */
  write(at: RowPlace, component: string, storage: Json | undefined): Promise<void>;
}

/**
 * States in the data folder: `in/state.json` is the state of the last run (design 8.11), `in/state.storage.json` what
 * its input mapping remembers. A row that has never run takes the state that the configuration brings along.
 *
 * @param isExpected true where whoever starts the run puts a state file there, so that a missing one is worth a warning
 */
export function fileStates(isExpected: boolean): States {
  return {
    read: async (at) => ({ component: componentState(at, isExpected), storage: storageState(at) }),
    async write({ folder }, component, storage) {
      // first, as the push that the state ends is given again when only this was written
      if (storage !== undefined) writeFileAtomic(folder.inStorageState, toJsonText(storage));
      writeFileAtomic(folder.inState, component);
    },
  };
}

/** The text of the state that a run wrote. */
export function writtenState(file: string): string {
  return guard(file, () => readFileSync(file, 'utf8'));
}

function componentState({ row, folder, log }: RowPlace, isExpected: boolean): AnyObject {
  if (existsSync(folder.inState)) return readState(folder.inState, log);
  if (isObject(row.state) && sizeOf(row.state) > 0) {
    log.info('The state that the configuration brings along is used');
    return row.state;
  }
  if (isExpected) return readState(folder.inState, log);
  log.debug('There is no state of an earlier run: this is a first run');
  return {};
}

function storageState({ row, folder, log }: RowPlace): Json | undefined {
  return existsSync(folder.inStorageState) ? readState(folder.inStorageState, log) : row.storedState.storage;
}
