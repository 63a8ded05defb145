import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Shape } from './records.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const COMMAND = path.join(root, 'bin/gex.js');
export const MOCK_API = path.join(root, 'bench/mock-api.ts');
export const FLOOR = path.join(root, 'bench/floor.ts');
const USAGE = new URL('usage.ts', import.meta.url).href;

export interface MockApi {
  /** Address of the first page. */
  readonly url: string;
  stop(): Promise<void>;
}
export interface MockApiOptions {
  readonly pages: number;
  readonly size?: number;
  readonly shape?: Shape;
  readonly style?: string;
  readonly latency?: number;
  /** Gets `config.json`. */
  readonly config?: string;
}

/** Starts a mock API in a process of its own. */
export async function startMockApi(options: MockApiOptions, script: string = MOCK_API): Promise<MockApi> {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let text = '';
  for await (const chunk of child.stdout) {
    text += String(chunk);
    const url = /LISTENING (\S+)/.exec(text)?.[1];
    if (url === undefined) continue;
    return {
      url,
      stop: async () => {
        child.kill();
        await ended;
      },
    };
  }
  throw new Error('the mock API did not start');
}

export interface Finished {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

/** Runs Node with these arguments to its end. */
export async function measure(args: readonly string[], workFolder: string): Promise<Finished> {
  const file = path.join(workFolder, 'usage.json');
  const started = performance.now();
  const child = startNode(['--import', USAGE, ...args], { BENCH_USAGE: file });
  let said = '';
  child.stderr?.on('data', (chunk) => (said += String(chunk)));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]; // as documented for the event
  const wallMs = performance.now() - started;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code ?? signal}: ${said}`);
  const { peakKb, cpuMs } = JSON.parse(readFileSync(file, 'utf8')) as { peakKb: number; cpuMs: number }; // see usage.ts
  rmSync(file);
  return { wallMs, cpuMs, peakMb: peakKb / 1024 };
}

export function startNode(args: readonly string[], environment: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  });
}

/** The arguments of a run of the built command over a data folder. */
export function runArgs(dataFolder: string, storage = 'none'): string[] {
  return [COMMAND, 'run', '--data', dataFolder, '--storage', storage];
}
