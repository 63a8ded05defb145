import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { RunError } from '../lib/errors.ts';
import { lockFile, type FileLock } from '../lib/file-lock.ts';
import { makePrivateFolder } from '../lib/private-files.ts';
import { guard } from '../engine/sink/file-error.ts';
import { removeIfEmpty } from './row-folder.ts';

/** Process that holds a data folder: the content of `.gex/run.json`. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** ISO date and time. */
  readonly started: string;
  readonly command: string;
}

export interface Lock {
  /** Gives the folder free. Calling it twice is harmless. */
  release(): void;
}

/**
 * Takes a data folder for this process alone. `.gex/run.lock` is the lock, of the operating system; `.gex/run.json` beside
 * it only says who holds it. What a killed process leaves behind is no hindrance, whatever machine or container it was in.
 *
 * @throws {RunError} `run.locked`, naming the process that holds it
 */
export function lockFolder(dataFolder: string, command: string, startedAt: number): Lock {
  const folder = path.resolve(dataFolder, '.gex');
  const file = path.join(folder, 'run.lock');
  const holderFile = path.join(folder, 'run.json');
  const lock = take(folder, file);
  if (lock === undefined) throw locked(file, readHolder(holderFile));
  const holder: Holder = {
    pid: process.pid,
    host: os.hostname(),
    started: new Date(startedAt).toISOString(),
    command: withoutPasswords(command),
  };
  let isHeld = true;
  const release = (): void => {
    if (!isHeld) return;
    isHeld = false;
    // gone before it is free: whoever takes it looks whether it is still there
    for (const each of [holderFile, file]) rmSync(each, { force: true });
    lock.release();
    removeIfEmpty(folder);
  };
  try {
    guard(holderFile, () => writeFileSync(holderFile, `${JSON.stringify(holder, null, 2)}\n`));
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

/** Another process may remove the file, or the folder, between two steps of this one: then it is tried again. */
const ATTEMPTS = 20;

function take(folder: string, file: string): FileLock | undefined {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === ATTEMPTS;
    try {
      guard(folder, () => makePrivateFolder(folder));
      const before = identityOf(file);
      const lock = guard(file, () => lockFile(file, 0));
      // a file that is gone is no lock; one that was just made is taken the second time
      if (lock === undefined || isLast || (before !== undefined && before === identityOf(file))) return lock;
      lock.release();
    } catch (error) {
      if (isLast) throw error;
    }
  }
}

/** Tells a file from a later one of the same name. */
function identityOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}/${stats.ino}/${stats.birthtimeNs}`;
}

function readHolder(file: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isHolder(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, host } = value as Partial<Record<keyof Holder, unknown>>;
  return Number.isInteger(pid) && typeof host === 'string';
}

/** Removes user names and passwords from addresses in a command, also passwords that are parameters. */
function withoutPasswords(command: string): string {
  return command.replaceAll(/\/\/[^/@\s]*@/g, '//').replaceAll(/([?&]password=)[^&\s]*/gi, '$1…');
}

function locked(file: string, holder: Holder | undefined): RunError {
  const who = holder === undefined ? 'Another process' : `Process ${holder.pid} on ${holder.host}`;
  const since = holder === undefined ? '' : `, since ${holder.started}: ${holder.command}`;
  return new RunError('run.locked', `${who} is running over this data folder${since}.`, {
    where: { file },
    hint: 'Wait until it has ended, or give another folder with --data.',
  });
}
