import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemEnv } from '../../../../../src/lib/env.ts';
import type { Log } from '../../../../../src/lib/log.ts';
import { openKeeper, pruneCheckpoint } from '../../../../../src/service/domain/runs/checkpointer.ts';
import { createFolderStore } from '../../../../../src/service/stores/objects/folder-store.ts';

// A runner of one run, over a folder as its object store. Started and killed by takeover.test.ts and bench/takeover.ts.
// Prints `restored ATTEMPT BYTES`, `started PID` and `ended CODE`, one behind the other.

export interface RunnerArgs {
  /** Folder that serves as the object store. */
  readonly store: string;
  readonly run: string;
  readonly attempt: number;
  readonly folder: string;
  readonly everyMs?: number;
  readonly segmentBytes?: number;
  readonly continues?: string;
  /** The program and its first arguments; the sources by default. */
  readonly command?: readonly string[];
  /** Arguments of `gex run`. */
  readonly args: readonly string[];
  /** Removes what is kept when the run succeeds. */
  readonly trims?: boolean;
}

const MAIN = fileURLToPath(new URL('../../../../../src/cli/main.ts', import.meta.url));

const given = JSON.parse(process.argv[2] ?? '{}') as RunnerArgs; // as the test wrote it
const log: Log = {
  debug() {},
  info: (message) => console.error(message),
  warn: (message) => console.error(`warning: ${message}`),
  error: (message) => console.error(`error: ${message}`),
};
const store = createFolderStore({
  directory: given.store,
  secret: Buffer.alloc(32),
  endpoint: () => 'http://127.0.0.1:1',
  env: systemEnv,
  log,
});
await store.open();
const { run, attempt, folder, everyMs = 100, segmentBytes = 65_536, continues } = given;
const keeper = openKeeper({ store, run, attempt, folder, log, everyMs, segmentBytes, continues });
const restored = await keeper.restore();
console.log(`restored ${restored.attempt ?? 'none'} ${restored.bytes}`);
const [program = process.execPath, ...first] = given.command ?? [process.execPath, MAIN];
const child = spawn(program, [...first, 'run', '--data', folder, ...given.args, ...keeper.args], {
  stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  env: { ...process.env, ...keeper.environment },
});
child.stderr?.pipe(createWriteStream(path.join(path.dirname(folder), `${path.basename(folder)}.log`)));
keeper.start(child);
console.log(`started ${child.pid ?? 0}`);
keeper.lost.addEventListener('abort', () => void child.kill('SIGTERM'));
const [code] = (await once(child, 'exit')) as [number | null]; // as documented for the event
await keeper.stop('ended');
if (code === 0 && given.trims === true) await pruneCheckpoint(store, run);
console.log(`ended ${code ?? 'by a signal'}`);
