import { existsSync, readFileSync } from 'node:fs';
import {
  JsonSyntaxError,
  parseExact,
  sizeOf,
  toJsonText,
  type AnyObject,
  type Json,
} from '../lib/json/index.ts';
import { writeFileAtomic } from '../engine/sink/atomic.ts';
import { guard } from '../engine/sink/file-error.ts';
import { readState } from '../engine/sink/state.ts';
import type { RowPlace } from './row-place.ts';
import { invalid, stateObject, stateParts, type RowState } from './state-parts.ts';

/** Store for the states of rows between runs. */
export interface States {
  /** @throws {ConfigError} `config.invalid` for a state that cannot be used */
  read(at: RowPlace): Promise<RowState>;
  /**
   * Writes the state, when all output of the run is in its place. `component` is the text of the new state; without
   * `storage` that part stays. With the same `key` it is written once, by whichever process.
   */
  write(at: RowPlace, component: string, storage: Json | undefined, key?: string): Promise<void>;
}

/**
 * States in the data folder: `in/state.json` is the state of the last run, `in/state.storage.json` what
 * its input mapping remembers. A row that has never run takes the state that the configuration brings along.
 *
 * A file that is no state is refused: to begin anew because of it would load everything a second time.
 */
export const fileStates: States = {
  async read({ row, folder, log }) {
    const brought = stateParts(row.state, row);
    const component = stateIn(folder.inState);
    if (component === undefined && sizeOf(brought.component) > 0)
      log.info('The state that the configuration brings along is used');
    else if (component === undefined) log.debug('There is no state of an earlier run: this is a first run');
    return {
      component: component ?? brought.component,
      storage: stateIn(folder.inStorageState) ?? brought.storage,
    };
  },
  async write({ folder }, component, storage) {
    // first, as the push that the state ends is given again when only this was written
    if (storage !== undefined) writeFileAtomic(folder.inStorageState, toJsonText(storage), 0o600);
    writeFileAtomic(folder.inState, component, 0o600);
  },
};

/**
 * The state that whoever starts a container puts into `in/state.json`. A file that is missing, or no state, is an empty
 * one and a warning; what the run leaves is for others to keep.
 */
export const componentStates: States = {
  async read({ row, folder, log }) {
    const brought = stateParts(row.state, row);
    const isBrought = !existsSync(folder.inState) && sizeOf(brought.component) > 0;
    return {
      component: isBrought ? brought.component : readState(folder.inState, log),
      storage: undefined,
    };
  },
  async write() {},
};

/** Reads the text of the state that a run wrote. */
export function writtenState(file: string): string {
  return guard(file, () => readFileSync(file, 'utf8'));
}

/** Reads a state; undefined when there is none. */
function stateIn(file: string): AnyObject | undefined {
  if (!existsSync(file)) return undefined;
  const text = readText(file);
  try {
    return stateObject(parseExact(text.replace(/^\uFEFF/, '')), 'The state', { file });
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const { line, column } = error;
    throw invalid('The state is not JSON.', { file, line, column });
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw invalid(`The state cannot be read: ${error instanceof Error ? error.message : ''}.`, { file });
  }
}
