import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { RunError } from '../errors.ts';
import { guard } from '../sink/file-error.ts';
import { removeIfEmpty } from './row-folder.ts';

/** Who holds a data folder: the content of `.gex/lock`. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** ISO date and time. */
  readonly started: string;
  readonly command: string;
  /** Tells this process from a later one with the same number; absent where the system does not say. */
  readonly born?: string;
}

export interface Lock {
  /** Gives the folder free. Calling it twice is harmless. */
  release(): void;
}

/** Lock files of this process. */
const held = new Set<string>();

/**
 * Takes a data folder for this process alone. The lock of a process of this machine that is gone is taken over.
 *
 * @throws {RunError} `run.locked`, naming the process that holds it
 */
export function lockFolder(dataFolder: string, command: string, startedAt: number): Lock {
  const folder = path.resolve(dataFolder, '.gex');
  const file = path.join(folder, 'lock');
  const born = bornOf(process.pid);
  const self: LockHolder = {
    pid: process.pid,
    host: os.hostname(),
    started: new Date(startedAt).toISOString(),
    command,
    ...(born === undefined ? {} : { born }),
  };
  guard(folder, () => mkdirSync(folder, { recursive: true }));
  if (!create(file, self)) takeOver(file, self);
  held.add(file);
  return {
    release() {
      if (!held.delete(file)) return;
      if (readHolder(file)?.pid === process.pid) rmSync(file, { force: true });
      removeIfEmpty(folder);
    },
  };
}

/** Writes the lock, whole, unless there is one. */
function create(file: string, holder: LockHolder): boolean {
  const own = `${file}.${process.pid}`;
  return guard(file, () => {
    writeFileSync(own, `${JSON.stringify(holder, null, 2)}\n`);
    try {
      linkSync(own, file);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      // a file system without hard links: exclusive creation has to do
      return writeExclusive(file, JSON.stringify(holder));
    } finally {
      rmSync(own, { force: true });
    }
  });
}

function writeExclusive(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Two processes may find the same stale lock: a second lock around the exchange lets only one of them have it. */
function takeOver(file: string, self: LockHolder): void {
  refuseIfAlive(file, readHolder(file));
  const exchange = `${file}.exchange`;
  const other = readHolder(exchange);
  if (other !== undefined && !isAlive(exchange, other)) rmSync(exchange, { force: true });
  if (!create(exchange, self)) throw locked(file, readHolder(exchange));
  try {
    refuseIfAlive(file, readHolder(file));
    rmSync(file, { force: true });
    if (!create(file, self)) throw locked(file, readHolder(file));
  } finally {
    rmSync(exchange, { force: true });
  }
}

function refuseIfAlive(file: string, holder: LockHolder | undefined): void {
  if (holder !== undefined && isAlive(file, holder)) throw locked(file, holder);
}

/** Of another machine nothing is known, so its lock counts. */
function isAlive(file: string, { pid, host, born }: LockHolder): boolean {
  if (host !== os.hostname()) return true;
  if (pid === process.pid) return held.has(file);
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
  }
  const now = bornOf(pid);
  return born === undefined || now === undefined || born === now;
}

/** Start of a process in ticks since the machine's, where the system tells it. */
function bornOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // the name of the program, in parentheses, may hold spaces; the start is the 20th word behind it
    const ticks = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19];
    return ticks === undefined ? undefined : `${boot}/${ticks}`;
  } catch {
    return undefined;
  }
}

function readHolder(file: string): LockHolder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isHolder(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isHolder(value: unknown): value is LockHolder {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, host } = value as Partial<Record<keyof LockHolder, unknown>>;
  return Number.isInteger(pid) && typeof host === 'string';
}

function locked(file: string, holder: LockHolder | undefined): RunError {
  const who = holder === undefined ? 'Another process' : `Process ${holder.pid} on ${holder.host}`;
  const since = holder === undefined ? '' : `, since ${holder.started}: ${holder.command}`;
  const isHere = holder === undefined || holder.host === os.hostname();
  return new RunError('run.locked', `${who} is running over this data folder${since}.`, {
    where: { file },
    hint: isHere
      ? 'Wait until it has ended, or give another folder with --data.'
      : 'Wait until it has ended. If that machine no longer runs it, delete the lock file.',
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
