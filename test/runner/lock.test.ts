import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { RunError } from '../../src/lib/errors.ts';
import { lockFolder } from '../../src/runner/lock.ts';
import { dataFolder, put } from '../cli/support.ts';

const LOCK = fileURLToPath(new URL('../../src/runner/lock.ts', import.meta.url));
const holderFile = (folder: string): string => path.join(folder, '.gex', 'run.json');

/** Code in a process of its own, which has `lockFolder` and the folder. */
function inProcess(folder: string, code: string): ChildProcess {
  const program = `import { lockFolder } from ${JSON.stringify(LOCK)};
    const folder = ${JSON.stringify(folder)};
    ${code}`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

/** A process that holds the folder until it is killed. */
async function holdingProcess(folder: string): Promise<ChildProcess> {
  const child = inProcess(
    folder,
    `lockFolder(folder, 'gex run', 0); console.log('held'); setInterval(() => {}, 1000);`,
  );
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('the lock on a data folder', () => {
  test('says who holds it, and is gone when it is released', () => {
    const folder = dataFolder();
    const lock = lockFolder(folder, 'gex run', 0);
    expect(JSON.parse(readFileSync(holderFile(folder), 'utf8'))).toEqual({
      pid: process.pid,
      host: os.hostname(),
      started: '1970-01-01T00:00:00.000Z',
      command: 'gex run',
    });
    lock.release();
    lock.release();
    expect(existsSync(path.join(folder, '.gex'))).toBe(false);
  });

  test('is refused to a second run of the same process, with the name of the first', () => {
    const folder = dataFolder();
    const lock = lockFolder(folder, 'gex run --row a', 0);
    expect(() => lockFolder(folder, 'other', 0)).toThrow(
      `Process ${process.pid} on ${os.hostname()} is running over this data folder, since 1970-01-01T00:00:00.000Z: gex run --row a.`,
    );
    lock.release();
    lockFolder(folder, 'other', 0).release();
  });

  test('of another process is respected, and free at once when that is killed', async () => {
    const folder = dataFolder();
    const child = await holdingProcess(folder);
    expect(() => lockFolder(folder, 'new', 0)).toThrow(`Process ${child.pid} on ${os.hostname()}`);
    await killed(child);
    expect(existsSync(holderFile(folder))).toBe(true);
    const lock = lockFolder(folder, 'new', 0);
    expect(readFileSync(holderFile(folder), 'utf8')).toContain('"new"');
    lock.release();
  });

  test('goes by no number and no name: containers have the same ones', async () => {
    const folder = dataFolder();
    // left by a machine that is gone
    put(
      folder,
      '.gex/run.json',
      JSON.stringify({ pid: 1, host: 'elsewhere', started: 'then', command: 'x' }),
    );
    lockFolder(folder, 'new', 0).release();
    // held by a process that calls itself what this one is called
    const child = await holdingProcess(folder);
    const same = { pid: process.pid, host: os.hostname(), started: 'then', command: 'x' };
    put(folder, '.gex/run.json', JSON.stringify(same));
    expect(() => lockFolder(folder, 'new', 0)).toThrow(RunError);
    await killed(child);
    lockFolder(folder, 'new', 0).release();
  });

  test('whose holder is not said is respected all the same', async () => {
    const folder = dataFolder();
    const child = await holdingProcess(folder);
    put(folder, '.gex/run.json', '{"pid":');
    expect(() => lockFolder(folder, 'new', 0)).toThrow('Another process is running over this data folder.');
    await killed(child);
  });

  test('keeps no password of an address', () => {
    const folder = dataFolder();
    const lock = lockFolder(folder, 'gex run --storage https://me:open-sesame@storage.example.com', 0);
    expect(readFileSync(holderFile(folder), 'utf8')).not.toContain('open-sesame');
    lock.release();
  });

  test('is never held by two, however often it is taken and given free', async () => {
    const folder = dataFolder();
    const contender = `import { mkdirSync, rmdirSync } from 'node:fs';
      let taken = 0;
      for (const until = Date.now() + 700; taken < 4 || Date.now() < until;) {
        let lock;
        try { lock = lockFolder(folder, 'x', 0); } catch (error) {
          if (error.code !== 'run.locked') throw error;
          continue;
        }
        mkdirSync(folder + '/alone');
        rmdirSync(folder + '/alone');
        lock.release();
        taken++;
      }
      console.log(taken);`;
    const ends = await Promise.all(
      [1, 2, 3].map(async () => {
        const child = inProcess(folder, contender);
        let text = '';
        child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
        const [code] = (await once(child, 'close')) as [number | null];
        return { code, taken: Number(text) };
      }),
    );
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(ends.reduce((sum, { taken }) => sum + taken, 0)).toBeGreaterThan(10);
    expect(existsSync(path.join(folder, '.gex'))).toBe(false);
  });
});
