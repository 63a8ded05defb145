import { statSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { RunError } from '../../../lib/errors.ts';
import { lockFile, type FileLock } from '../../../lib/file-lock.ts';
import { makePrivateFolder } from '../../../lib/private-files.ts';

/** Process that holds a folder; `address` once the service answers there. */
export interface FolderHolder {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  readonly address?: string;
  /** Its metadata is in a database: access to the folder alone is not enough to make a token. */
  readonly isInDatabase?: boolean;
}

export interface FolderLock {
  /** Writes down where the service answers, for other processes that find the folder held. */
  announce(address: string, about?: { readonly isInDatabase: boolean }): Promise<void>;
  release(): Promise<void>;
}

const HOLDER = 'service.json';

/**
 * Takes a folder for this process alone. The lock is one of the operating system (on a SQLite file), so it ends with
 * the process, however that ends; `service.json` beside it says who holds it and where it answers.
 *
 * @throws {RunError} `run.locked`, naming the holder
 */
export async function lockFolder(dir: string, now: number): Promise<FolderLock> {
  makePrivateFolder(dir);
  const lock = await tryLock(dir, PATIENCE_MS);
  if (lock === undefined) throw held(dir, await readHolder(dir));
  const guard = keepLock(dir, lock);
  const holder: FolderHolder = { pid: process.pid, host: hostname(), since: new Date(now).toISOString() };
  await writeHolder(dir, holder);
  return {
    announce: async (address, about) => await writeHolder(dir, { ...holder, address, ...about }),
    release: async () => {
      await rm(join(dir, HOLDER), { force: true });
      guard.release();
    },
  };
}

/** Returns the process that holds a folder now; undefined when there is none, whatever a killed process left behind. */
export async function findHolder(dir: string): Promise<FolderHolder | undefined> {
  const holder = await readHolder(dir);
  if (holder === undefined) return undefined;
  const lock = await tryLock(dir, 0);
  lock?.release();
  return lock === undefined ? holder : undefined;
}

/** Milliseconds to wait for the lock: a process that only checks for the holder has it for a short time. */
const PATIENCE_MS = 200;

async function tryLock(dir: string, waitMs: number): Promise<FileLock | undefined> {
  // A process removes its name at its end and leaves the lock file: if the file is gone, it was deleted, and its holder
  // may be alive.
  const isDeleted = inodeOf(dir) === undefined && (await readHolder(dir)) !== undefined;
  if (isDeleted) await setTimeout(2 * LOOK_MS);
  return lockFile(lockOf(dir), waitMs);
}

/**
 * Milliseconds between two checks of the holder whether its lock file was deleted; a process that finds it deleted
 * waits longer.
 */
const LOOK_MS = 1000;

/** Holds the lock; a lock is on a file and not on its name, so the holder makes a new file when it is deleted. */
function keepLock(dir: string, first: FileLock): FileLock {
  let lock = first;
  let inode = inodeOf(dir);
  const timer = setInterval(() => {
    if (inodeOf(dir) === inode) return;
    try {
      const next = lockFile(lockOf(dir), 0);
      if (next === undefined) return;
      lock.release();
      lock = next;
      inode = inodeOf(dir);
    } catch {
      // The folder itself may be gone; the next look tells.
    }
  }, LOOK_MS);
  timer.unref();
  return {
    release() {
      clearInterval(timer);
      lock.release();
    },
  };
}

const lockOf = (dir: string): string => join(dir, 'service.lock');

const inodeOf = (dir: string): number | undefined => statSync(lockOf(dir), { throwIfNoEntry: false })?.ino;

async function writeHolder(dir: string, holder: FolderHolder): Promise<void> {
  await writeFile(join(dir, HOLDER), `${JSON.stringify(holder)}\n`, { mode: 0o600 });
}

async function readHolder(dir: string): Promise<FolderHolder | undefined> {
  try {
    // Written by this module.
    return JSON.parse(await readFile(join(dir, HOLDER), 'utf8')) as FolderHolder;
  } catch {
    return undefined;
  }
}

function held(dir: string, holder: FolderHolder | undefined): RunError {
  const who =
    holder === undefined
      ? 'another process'
      : `process ${holder.pid} on ${holder.host}${holder.address === undefined ? '' : `, which answers at ${holder.address}`}`;
  return new RunError('run.locked', `The storage folder is held by ${who}.`, {
    where: { file: dir },
    hint:
      holder?.address === undefined
        ? 'Wait until that process has ended, or choose another folder. For several commands at a time, let “gex serve” run over it.'
        : `Use it as a client with --storage ${holder.address}, stop it, or choose another folder.`,
  });
}
