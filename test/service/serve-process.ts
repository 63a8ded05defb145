import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { COMPILE_CACHE } from '../cli/support.ts';
import { MAIN } from '../support/command.ts';

export interface Served {
  /** Empty for a process without the API, and for one that has ended. */
  readonly url: string;
  /** Address of the probes. */
  readonly health: string;
  /** The master token, from the first start alone. */
  readonly token: string;
  readonly pid: number;
  /** How it has ended before it served. */
  readonly ended: { readonly code: number | null; readonly stderr: string } | undefined;
  /** Returns its output so far. */
  readonly said: () => string;
  readonly ready: () => Promise<unknown>;
  stop(): Promise<void>;
  kill(): void;
}

export interface ServeOptions {
  /** How far its clock is ahead. */
  readonly aheadMs?: number;
}

/** `gex serve` in a process of its own, at free ports; killed at the end of the test. */
export async function serveProcess(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  { aheadMs }: ServeOptions = {},
): Promise<Served> {
  const ports = ['--port=0', '--importer-port=0', '--health-port=0'];
  const runs = args.some((arg) => arg.startsWith('--runs=') || arg.startsWith('--role=')) ? [] : ['--runs=0'];
  const clock = aheadMs === undefined ? [] : ['--import', clockAhead(aheadMs)];
  const child = spawn(process.execPath, [...clock, MAIN, 'serve', ...ports, ...runs, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...variables },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'exit');
  const printed: Record<string, string> = {};
  const lines = createInterface({ input: child.stdout });
  const all = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      const [name = '', value = ''] = line.split(/\s+/);
      printed[name] = value;
      // Behind the address of the probes, which all have, a first start says its token within the same moment.
      if (name === 'health') setTimeout(resolve, 200);
    });
    lines.on('close', resolve);
  });
  await all;
  const isRunning = 'health' in printed;
  const [code] = isRunning ? [undefined] : ((await exited) as [number | null]);
  return {
    url: printed['api'] ?? '',
    health: printed['health'] ?? '',
    token: printed['token'] ?? '',
    pid: child.pid ?? 0,
    ended: code === undefined ? undefined : { code, stderr },
    said: () => stderr,
    ready: async () => await (await fetch(`${printed['health'] ?? ''}/ready`)).json(),
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** A module that moves the clock of a process, loaded before all others. */
function clockAhead(ms: number): string {
  const code = `const Right = Date;
    globalThis.Date = class extends Right {
      constructor(...given) { given.length === 0 ? super(Right.now() + ${ms}) : super(...given); }
      static now() { return Right.now() + ${ms}; }
    };`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
