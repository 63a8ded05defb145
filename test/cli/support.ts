import { spawn, type SpawnOptions } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, runCommandLine } from '../../src/cli/cli.ts';
import type { Io } from '../../src/cli/command.ts';
import { exitCodeOf } from '../../src/lib/errors.ts';
import { plainText } from '../../src/lib/logging/lines.ts';
import { Secrets } from '../../src/lib/secrets.ts';
import { atEndOfFile } from '../support/cleanup.ts';
import { BUILT, MAIN } from '../support/command.ts';

const COMPONENT = fileURLToPath(new URL('../../src/cli/container.ts', import.meta.url));
/** Processes that run the sources start in half the time with it. */
export const COMPILE_CACHE = path.join(os.tmpdir(), 'gex-test-compile-cache');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

/** Kills a process as soon as something is there. @returns whether it was there before the process ended by itself */
export async function killedWhen(
  child: Running,
  isThere: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const state = { isEnded: false };
  void child.ended.then(() => (state.isEnded = true));
  while (!state.isEnded && !(await isThere())) await new Promise((next) => setTimeout(next, 2));
  child.kill('SIGKILL');
  return (await child.ended).signal !== null;
}

/** Starts the command in a process of its own. */
export function startGex(args: readonly string[], options: SpawnOptions = {}): Running {
  return start([MAIN, ...args], options);
}

/** Starts the command as it was built. */
export function startBuilt(args: readonly string[], options: SpawnOptions = {}): Running {
  return start([BUILT, ...args], options);
}

/** Runs the command in a process of its own. */
export function gex(...args: readonly string[]): Promise<Ended> {
  return startGex(args).ended;
}

/** Runs the command line in this process, which takes a tenth of the time: all but process and signals is the same. */
export function gexHere(...args: readonly string[]): Promise<Ended> {
  return runHere(args);
}

/** As {@link gexHere}, with variables in the environment meanwhile. */
export async function runHere(
  args: readonly string[],
  { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  try {
    return await commandLine(args);
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

async function commandLine(args: readonly string[]): Promise<Ended> {
  const secrets = new Secrets();
  let [stdout, stderr] = ['', ''];
  const line = (text: string): string => `${secrets.redact(text).replace(/\n$/, '')}\n`;
  const io: Io = {
    secrets,
    signal: new AbortController().signal,
    isTerminal: false,
    print: (text) => void (stdout += line(text)),
    note: (spans) => void (stderr += line(plainText(spans))),
    live: () => {},
    send: async (bytes) => {
      for await (const part of bytes) stdout += Buffer.from(part).toString();
    },
  };
  const code = await runCommandLine(args, io).catch((error: unknown) => {
    io.note(`error: ${describe(error)}`);
    return exitCodeOf(error);
  });
  return { code, signal: null, stdout, stderr };
}

/** Runs the container's entrypoint over a data folder. */
export function component(dataFolder: string, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const code = `(await import(${JSON.stringify(COMPONENT)})).main()`;
  return start(['--input-type=module', '-e', code], {
    env: { ...process.env, KBC_DATADIR: dataFolder, ...env },
  }).ended;
}

function start(args: readonly string[], options: SpawnOptions): Running {
  const child = spawn(process.execPath, args, {
    ...options,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return {
    pid: child.pid ?? 0,
    kill: (signal) => child.kill(signal),
    ended: new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    }),
  };
}

export type Answer = (
  request: { readonly method: string; readonly url: URL; readonly headers: IncomingMessage['headers'] },
  response: ServerResponse,
) => void;

export interface Api {
  /** With a slash at its end. */
  readonly url: string;
  /** `GET /users?page=1`, in order. */
  readonly seen: readonly string[];
}

/** An API on loopback, until the end of the test file. */
export async function startApi(answer: Answer): Promise<Api> {
  const seen: string[] = [];
  const server = createServer(({ method = '', url = '', headers }, response) => {
    seen.push(`${method} ${url}`);
    response.sendDate = false; // tests have clocks of their own
    answer({ method, url: new URL(url, 'http://localhost'), headers }, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEndOfFile(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { url: `http://127.0.0.1:${port}/`, seen };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}

/** A data folder with this config.json, until the end of the test file. */
export function dataFolder(config?: unknown): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gex-'));
  atEndOfFile(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  if (config !== undefined) {
    writeFileSync(
      path.join(folder, 'config.json'),
      typeof config === 'string' ? config : JSON.stringify(config, null, 2),
    );
  }
  return folder;
}

/** A component configuration over an API. */
export function configOf(
  api: Api | string,
  jobs: readonly unknown[],
  more: { api?: object; config?: object } = {},
): object {
  const baseUrl = typeof api === 'string' ? api : api.url;
  return {
    parameters: {
      api: { baseUrl, retryConfig: { maxRetries: 0 }, ...more.api },
      config: { outputBucket: 'library', jobs, ...more.config },
    },
  };
}

/** Every file below a folder, sorted, with its content; but for recordings. */
export function filesOf(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith('.recording'),
  );
  const names = files
    .map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)))
    .sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]));
}

export function put(folder: string, name: string, text: string): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), text);
}
