import { existsSync } from 'node:fs';
import path from 'node:path';
import { RunError } from '../lib/errors.ts';
import { isOpen } from '../engine/completeness/index.ts';
import { changedState } from '../engine/recording/head.ts';
import { readState } from '../engine/sink/state.ts';
import { endOf } from './ended-rows.ts';
import { withoutLogins } from './logins/state-logins.ts';
import { openJournal } from './mapping/journal.ts';
import type { RowPlace } from './row-place.ts';
import type { RowResult } from './row-result.ts';
import { fileStates } from './row-state.ts';
import { deliver, type RowOptions } from './run-row.ts';
import { noStorage } from './storage.ts';

/**
 * Pushes the output that a run with a name has held back in a row, with its state, and asks the API for nothing. Given
 * again after an interruption it goes on where it was.
 *
 * @param because goes into the report of its jobs
 * @returns undefined for a row that held nothing back
 * @throws {RunError} `run.nothingHeld` when the state is no longer the one that the output goes on from
 */
export async function acceptHeld(
  at: RowPlace,
  because: string,
  options: RowOptions,
): Promise<RowResult | undefined> {
  const { storage = noStorage, states = fileStates } = options;
  const { folder, row, log } = at;
  const end = endOf(folder);
  if (end?.result.isHeld !== true || !existsSync(folder.out)) return undefined;
  if (openJournal(folder.out) === undefined) {
    const { component } = await states.read(at);
    if (changedState(end.head, withoutLogins(component)) !== undefined)
      throw nothingHeld('the state of the configuration has changed since');
    await storage.seal(at, folder.out, true);
  }
  const pushed = await deliver(at, options);
  const { tables, rows, jobs } = end.result;
  return {
    ...(row.id === undefined ? {} : { id: row.id }),
    out: folder.out,
    tables,
    rows,
    state: readState(path.join(folder.out, 'state.json'), log),
    jobs: jobs.map((job) => (isOpen(job) ? { ...job, accepted: because } : job)),
    pushed,
  };
}

/** @param why as the end of a sentence */
export function nothingHeld(why: string): RunError {
  return new RunError('run.nothingHeld', `What was held back cannot be loaded: ${why}.`, {
    hint: 'Run the configuration again, and accept that run if it is in doubt as well.',
  });
}
