// Kills a run (SIGKILL) at random moments, and looks at what is left under final names: whole files, or none.
//
//   node bench/kill.ts [--times 20] [--pages 100]
//
// Ends with exit code 1 when a file under a final name was not whole, or when the run after the last kill was not
// as good as one that was never killed.
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printTable } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { measure, runArgs, startMockApi, startNode } from './support/processes.ts';

const { values: given } = parseArgs({
  options: { times: { type: 'string', default: '20' }, pages: { type: 'string', default: '100' } },
});
const times = Number(given.times);

await withFolder(async (folder) => {
  const data = path.join(folder, 'data');
  const api = await startMockApi({ pages: Number(given.pages), size: 1000, shape: 'nested', config: data });
  try {
    await measure(runArgs(data), folder);
    const { wallMs } = await measure(runArgs(data), folder);
    const whole = digestsIn(path.join(data, 'out'));
    const found = { killed: 0, ended: 0, nothing: 0, 'all files': 0, 'some files': 0 };
    let broken = 0;
    for (let turn = 0; turn < times; turn++) {
      const child = startNode(runArgs(data));
      const ended = once(child, 'exit');
      await Promise.race([sleep(Math.random() * wallMs), ended]);
      child.kill('SIGKILL');
      await ended;
      found[child.signalCode === 'SIGKILL' ? 'killed' : 'ended']++;
      const left = digestsIn(path.join(data, 'out'));
      found[left.size === 0 ? 'nothing' : left.size === whole.size ? 'all files' : 'some files']++;
      broken += [...left].filter(([name, digest]) => whole.get(name) !== digest).length;
    }
    await measure(runArgs(data), folder);
    const after = digestsIn(path.join(data, 'out'));
    const isWhole =
      after.size === whole.size && [...after].every(([name, digest]) => whole.get(name) === digest);
    printTable(
      `SIGKILL at ${times} random moments of a run of ${Math.round(wallMs)} ms`,
      ['', 'times'],
      [
        ...Object.entries(found).map(([name, count]) => [name, String(count)]),
        ['broken files under a final name', String(broken)],
        ['the run afterwards is whole', isWhole ? 'yes' : 'no'],
      ],
    );
    if (broken > 0 || !isWhole) process.exitCode = 1;
  } finally {
    await api.stop();
  }
});

/** Every file below the folder with a digest of what must be the same in every run. */
function digestsIn(folder: string): Map<string, string> {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [path.relative(folder, file), createHash('sha1').update(contentOf(file)).digest('hex')];
    }),
  );
}

/** The state has the moment of the run: of it, only that it is whole JSON counts. */
function contentOf(file: string): Buffer | string {
  const bytes = readFileSync(file);
  return path.basename(file) === 'state.json' ? typeof JSON.parse(bytes.toString()) : bytes;
}
