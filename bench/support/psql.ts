import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs statements, and commands that begin with a backslash, by psql in one session. */
export async function psql(url: string, commands: readonly string[]): Promise<void> {
  const args = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', url];
  const child = spawn('psql', args, { stdio: ['pipe', 'inherit', 'inherit'] });
  child.stdin.end(commands.map((each) => (each.startsWith('\\') ? `${each}\n` : `${each};\n`)).join(''));
  const [code] = (await once(child, 'exit')) as [number]; // or null of a signal
  if (code !== 0) throw new Error(`psql ended with ${code}`);
}

/** Returns the milliseconds that work takes. */
export async function timeOf(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work;
  return performance.now() - start;
}
