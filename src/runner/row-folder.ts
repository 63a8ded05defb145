import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '../lib/log.ts';
import { closeToOthers, makePrivateFolder } from '../lib/private-files.ts';
import { guard } from '../engine/sink/file-error.ts';

/** The places of one row in the data folder; of the data folder itself when there are no rows. */
export interface RowFolder {
  readonly dataFolder: string;
  /** Last part of the data folder's path. */
  readonly name: string;
  readonly root: string;
  readonly inState: string;
  /** State of the input mapping between runs. */
  readonly inStorageState: string;
  readonly out: string;
  /** The output of an earlier run, kept until the next one. */
  readonly previous: string;
  /** For files under way, on the file system of `out`. Nothing of it outlives a run; recordings are beside it. */
  readonly work: string;
  /** The recording of a run that is under way, or was stopped. */
  readonly unfinished: string;
  /** The recording of the last run that succeeded. */
  readonly lastRecording: string;
  /** Says that the row has ended, in a run over several rows that has not. */
  readonly ended: string;
  /** For `parameters.cache`. */
  readonly cache: string;
}

/** Returns the folders of a row; `rows/<id>` keeps each row apart. */
export function rowFolder(dataFolder: string, rowId: string | undefined): RowFolder {
  const root = path.resolve(rowId === undefined ? dataFolder : path.join(dataFolder, 'rows', rowId));
  return {
    dataFolder: path.resolve(dataFolder),
    name: path.basename(path.resolve(dataFolder)),
    root,
    inState: path.join(root, 'in', 'state.json'),
    inStorageState: path.join(root, 'in', 'state.storage.json'),
    out: path.join(root, 'out'),
    previous: path.join(root, 'out.previous'),
    work: path.join(root, '.gex', 'run'),
    unfinished: path.join(root, '.gex', 'unfinished.recording'),
    lastRecording: path.join(root, '.gex', 'last.recording'),
    ended: path.join(root, '.gex', 'ended.json'),
    cache: path.join(root, 'cache'),
  };
}

/** Makes the work folder, empty, whatever a killed run left there. The row has not ended from now on. */
export function prepare({ work, ended }: RowFolder): void {
  guard(work, () => {
    rmSync(ended, { force: true });
    rmSync(work, { recursive: true, force: true });
    makePrivateFolder(path.dirname(work));
    mkdirSync(work);
  });
}

/** Moves the output of the last run aside, in place of the one before it. */
export function setAside({ out, previous }: RowFolder): void {
  if (!existsSync(out)) return;
  guard(out, () => {
    if (!hasFiles(out)) {
      rmSync(out, { recursive: true });
      return;
    }
    rmSync(previous, { recursive: true, force: true });
    renameSync(out, previous);
  });
}

/** Gives a finished output its final name, all of it by one rename. */
export function publishFolder(finished: string, { out }: RowFolder): void {
  guard(out, () => renameSync(finished, out));
}

/** Removes what the run needed only for itself; the lock, if it is there, stays. */
export function cleanUp({ work }: RowFolder): void {
  rmSync(work, { recursive: true, force: true });
  removeIfEmpty(path.dirname(work));
}

/** Removes the work folders of runs that were killed. Call it only while the folder is locked. */
export function sweep(dataFolder: string): void {
  for (const folder of rowFolders(dataFolder))
    if (existsSync(folder.work)) guard(folder.work, () => cleanUp(folder));
}

/**
 * Keeps what a run remembers for its user alone, also what an earlier version left; says so when it was not. What is in
 * `out/` is for others as well, if the umask has it so.
 *
 * @param hasStates whether the states in the folder are the run's own; a container gets them from others
 */
export function closeFolders(dataFolder: string, log: Log, hasStates: boolean): void {
  const kept = rowFolders(dataFolder).flatMap(({ work, cache, inState, inStorageState }) => [
    path.dirname(work),
    cache,
    ...(hasStates ? [inState, inStorageState] : []),
  ]);
  const files = kept.filter((file) => closeToOthers(file) === 'closed');
  if (files.length > 0)
    log.info('What runs remember was open to other users of this machine, and is not any more', { files });
}

function rowFolders(dataFolder: string): RowFolder[] {
  const rows = path.join(dataFolder, 'rows');
  const ids = existsSync(rows)
    ? readdirSync(rows, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    : [];
  return [undefined, ...ids.map(({ name }) => name)].map((id) => rowFolder(dataFolder, id));
}

export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // something is in it, such as the lock that another run has just put there; or it is gone already
  }
}

function hasFiles(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).some((entry) => !entry.isDirectory());
}
