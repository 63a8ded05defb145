import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { RunError } from '../../src/errors.ts';
import { lockFolder } from '../../src/runner/lock.ts';
import { dataFolder, put } from '../cli/support.ts';

const lockFile = (folder: string): string => path.join(folder, '.gex', 'lock');
const holder = (more: object): string =>
  JSON.stringify({ pid: process.pid, host: os.hostname(), started: 'then', command: 'gex run', ...more });

/** The number of a process that has ended. */
function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  return new Promise((resolve) => child.on('close', () => resolve(child.pid ?? 0)));
}

describe('the lock on a data folder', () => {
  test('says who holds it, and is gone when it is released', () => {
    const folder = dataFolder();
    const lock = lockFolder(folder, 'gex run', 0);
    expect(JSON.parse(readFileSync(lockFile(folder), 'utf8'))).toMatchObject({
      pid: process.pid,
      host: os.hostname(),
      started: '1970-01-01T00:00:00.000Z',
      command: 'gex run',
    });
    lock.release();
    lock.release();
    expect(existsSync(path.join(folder, '.gex'))).toBe(false);
  });

  test('is refused to a second run, with the name of the first', () => {
    const folder = dataFolder();
    const lock = lockFolder(folder, 'gex run --row a', 0);
    expect(() => lockFolder(folder, 'other', 0)).toThrow(
      `Process ${process.pid} on ${os.hostname()} is running over this data folder, since 1970-01-01T00:00:00.000Z: gex run --row a.`,
    );
    lock.release();
    lockFolder(folder, 'other', 0).release();
  });

  test('of a process that is gone is taken over', async () => {
    const folder = dataFolder();
    put(folder, '.gex/lock', holder({ pid: await deadPid() }));
    const lock = lockFolder(folder, 'new', 0);
    expect(readFileSync(lockFile(folder), 'utf8')).toContain('"new"');
    lock.release();
  });

  test('of an earlier process with the same number is taken over', () => {
    const folder = dataFolder();
    put(folder, '.gex/lock', holder({}));
    lockFolder(folder, 'new', 0).release();
  });

  test('of another process that now has the number is taken over, where the system tells', () => {
    const folder = dataFolder();
    put(folder, '.gex/lock', holder({ pid: process.ppid, born: 'another boot/1' }));
    const attempt = (): void => lockFolder(folder, 'new', 0).release();
    if (existsSync('/proc/self/stat')) expect(attempt).not.toThrow();
    else expect(attempt).toThrow(RunError);
  });

  test('of a living process is respected', () => {
    const folder = dataFolder();
    put(folder, '.gex/lock', holder({ pid: process.ppid }));
    expect(() => lockFolder(folder, 'new', 0)).toThrow(`Process ${process.ppid}`);
  });

  test('of another machine is respected, and the way out is told', () => {
    const folder = dataFolder();
    put(folder, '.gex/lock', holder({ host: 'elsewhere', pid: 1 }));
    let error: unknown;
    try {
      lockFolder(folder, 'new', 0);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'run.locked', where: { file: lockFile(folder) } });
    expect((error as RunError).hint).toContain('delete the lock file');
  });

  test('that a crash left in the middle of a takeover is no hindrance', async () => {
    const folder = dataFolder();
    const pid = await deadPid();
    put(folder, '.gex/lock', holder({ pid }));
    put(folder, '.gex/lock.exchange', holder({ pid }));
    lockFolder(folder, 'new', 0).release();
    expect(existsSync(path.join(folder, '.gex'))).toBe(false);
  });
});
