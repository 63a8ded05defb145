import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The built command. */
export const GEX = fileURLToPath(new URL('../../bin/gex.js', import.meta.url));

export interface CommandOptions {
  readonly folder: string;
  readonly token?: string;
}

/**
 * Runs the built command to its end and gives what it printed.
 *
 * @throws {Error} with what it said, when it ends with another code than 0
 */
export async function runGex(args: readonly string[], options: CommandOptions): Promise<string> {
  const child = start(args, options);
  const texts = collect(child);
  const code = await endOf(child);
  if (code !== 0) throw new Error(`gex ${args[0]} ended with ${code}:\n${texts.stderr}`);
  return texts.stdout;
}

export interface DemoService {
  readonly url: string;
  readonly token: string;
  /** Output of the command at its start, without the token. */
  readonly shown: string;
  stop(): Promise<void>;
}

/** Starts `gex serve` and waits until it answers. */
export async function startService(args: readonly string[], options: CommandOptions): Promise<DemoService> {
  const child = start(args, options);
  const texts = collect(child);
  const ended = endOf(child);
  const isReady = new Promise<true>((resolve) =>
    child.stdout?.on('data', () => {
      if (/^token .*\n/m.test(texts.stdout)) resolve(true);
    }),
  );
  const first = await Promise.race([isReady, ended]);
  if (first !== true) throw new Error(`gex serve ended with ${first}:\n${texts.stderr}`);
  const { stdout } = texts;
  const valueOf = (name: string): string => new RegExp(`^${name} +(\\S+)$`, 'm').exec(stdout)?.[1] ?? '';
  const token = valueOf('token');
  return {
    url: valueOf('api'),
    token,
    shown: stdout.replace(token, '…').replace(/#code=\S+/, '#code=…'),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function start(args: readonly string[], { folder, token }: CommandOptions): ChildProcess {
  const loopback = { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' };
  return spawn(process.execPath, [GEX, ...args], {
    cwd: folder,
    env: { ...process.env, ...loopback, ...(token === undefined ? {} : { KBC_TOKEN: token }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const texts = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text));
  return texts;
}

async function endOf(child: ChildProcess): Promise<number | null> {
  return await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
}
