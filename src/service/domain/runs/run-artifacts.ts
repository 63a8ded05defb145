import { createReadStream, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '../../../lib/log.ts';
import { explanationOf, recordingOf } from '../../../storage/protocol/recordings.ts';
import type { KeptStore } from './checkpoint/store.ts';

/** Most bytes of the compressed recording of a run that is stored; its explanation is stored in any case. */
const KEPT_BYTES = 100_000_000;

/** Returns the arguments by which `gex run` writes its artifacts into its data folder. */
export function recordArgs(folder: string): readonly string[] {
  const { recording, explanation } = filesIn(folder);
  // All rows are in the recording of the run, those that an earlier attempt has run as well.
  return ['--record', recording, '--explanation', explanation, '--keep-recording', '999999999'];
}

export interface RecordsOptions {
  readonly store: KeptStore;
  /** Id of the run. */
  readonly run: string;
  readonly folder: string;
  readonly log: Log;
  /** Default: {@link KEPT_BYTES}. */
  readonly keptBytes?: number | undefined;
}

/** Stores the recording and explanation of a run that has ended, as long as the service knows the run. */
export async function keepRecords(options: RecordsOptions): Promise<void> {
  const { store, run, folder, log, keptBytes = KEPT_BYTES } = options;
  const { recording, explanation } = filesIn(folder);
  const keep = async (file: string, key: string): Promise<void> => {
    await store.write(key, createReadStream(file), { encrypted: store.hasEncryption });
  };
  if (sizeOf(explanation) !== undefined) await keep(explanation, explanationOf(run));
  const bytes = sizeOf(recording);
  if (bytes === undefined) return;
  if (bytes <= keptBytes) await keep(recording, recordingOf(run));
  else log.info(`The recording of the run has ${bytes} bytes, and is not kept`, { run });
}

/** Removes the artifacts of a run from a folder that another one is to begin in. */
export async function forgetRecords(folder: string): Promise<void> {
  for (const file of Object.values(filesIn(folder))) await rm(file, { force: true });
}

function filesIn(folder: string): Readonly<Record<'explanation' | 'recording', string>> {
  const work = path.resolve(folder, '.gex');
  return { recording: path.join(work, 'run.gexr'), explanation: path.join(work, 'run.explanation') };
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}
