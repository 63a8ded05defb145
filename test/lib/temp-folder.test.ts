import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../src/lib/temp-folder.ts';

const MODULE = path.resolve(import.meta.dirname, '../../src/lib/temp-folder.ts');

/** A process that makes a folder, says where, and waits. */
async function maker(kind: string) {
  const code = `const { makeTempFolder } = await import(${JSON.stringify(MODULE)});
    console.log(makeTempFolder(${JSON.stringify(kind)}).path); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const folder = said.toString().trim();
  return {
    folder,
    age: () => utimesSync(path.dirname(folder), 1, 1),
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('a folder whose process was killed is removed by the next of its kind, and one that is in use is not', async () => {
  const kind = `test${process.pid}`;
  const [killed, fresh, alive] = [await maker(kind), await maker(kind), await maker(kind)];
  try {
    for (const each of [killed, fresh]) await each.kill();
    for (const each of [killed, alive]) each.age();
    const own = makeTempFolder(kind);
    const all = [killed.folder, fresh.folder, alive.folder, own.path];
    expect(all.map((folder) => existsSync(folder))).toEqual([false, true, true, true]);
    own.remove();
    expect(existsSync(path.dirname(own.path))).toBe(false);
  } finally {
    await alive.kill();
    for (const each of [fresh, alive]) each.age();
    makeTempFolder(kind).remove();
  }
});
