import { mkdirSync, rmSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RunError } from '../../../../lib/errors.ts';
import type { Log } from '../../../../lib/log.ts';
import type { Kept, KeptFile, Segment } from './kept.ts';
import { restoreOutput } from './output.ts';
import { DamagedError, getObject, type KeptStore } from './store.ts';

/** Mode of restored files: recordings hold answers of an API, which only their owner may read. */
const PRIVATE = 0o600;

/**
 * Restores a data folder from a checkpoint.
 *
 * @returns the part of it that could be used
 * @throws {RunError} `recording.invalid` when an output is damaged that may have been pushed in part
 */
export async function restoreFolder(
  folder: string,
  files: Kept['files'],
  { store, log }: { readonly store: KeptStore; readonly log: Log },
): Promise<{ readonly files: Kept['files']; readonly bytes: number }> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const used: Record<string, KeptFile> = {};
  let bytes = 0;
  for (const [name, file] of inOrder(files)) {
    const target = path.join(folder, name);
    mkdirSync(path.dirname(target), { recursive: true });
    if (file.kind === 'recording') {
      const segments = await restoreRecording(target, file.segments, { store, log });
      if (segments.length > 0) used[name] = { ...file, segments };
      bytes += segments.at(-1)?.to ?? 0;
      continue;
    }
    try {
      bytes += await restoreFile(target, file, store);
    } catch (error) {
      throw error instanceof DamagedError ? lost(name, error) : error;
    }
    used[name] = file;
  }
  return { files: used, bytes };
}

/** The journal of a push is in the folder of its output. */
function inOrder(files: Kept['files']): readonly (readonly [string, KeptFile])[] {
  return Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

async function restoreFile(
  target: string,
  file: Exclude<KeptFile, { kind: 'recording' }>,
  store: KeptStore,
): Promise<number> {
  if (file.kind === 'output')
    return await restoreOutput(target, file, async (key) => await getObject(store, key));
  const bytes = file.kind === 'text' ? Buffer.from(file.text) : await getObject(store, file.key);
  await writeFile(target, bytes);
  return bytes.length;
}

/** Restores a recording as far as its segments are whole: missing pages are requested again. */
async function restoreRecording(
  target: string,
  segments: readonly Segment[],
  { store, log }: { readonly store: KeptStore; readonly log: Log },
): Promise<readonly Segment[]> {
  const used: Segment[] = [];
  const handle = await open(target, 'w', PRIVATE);
  try {
    for (const segment of segments) {
      const bytes = await getObject(store, segment.key);
      if (bytes.length !== segment.to - segment.from)
        throw new DamagedError(`${segment.key} is not as long as it was.`);
      await handle.writeFile(bytes);
      used.push(segment);
    }
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    log.warn(`What was recorded is used up to a damaged part: ${error.message}`, {
      bytes: used.at(-1)?.to ?? 0,
      of: segments.at(-1)?.to ?? 0,
    });
  } finally {
    await handle.close();
  }
  if (used.length === 0) rmSync(target);
  return used;
}

function lost(name: string, cause: DamagedError): RunError {
  return new RunError('recording.invalid', `What is kept of this run is damaged: ${cause.message}`, {
    audience: 'application',
    cause,
    where: { file: name },
    hint: 'It may have been pushed in part: look at its tables, and begin a new run.',
  });
}
