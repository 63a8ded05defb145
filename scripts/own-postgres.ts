import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('postgres.sh', import.meta.url));

/** A PostgreSQL server for tests alone, in a temporary folder. */
export interface OwnPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a server of the programs that are installed, else of the package; gives the reason where it cannot. */
export async function startOwnPostgres(): Promise<OwnPostgres | string> {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  // Its input ends with this process, however that ends: no server is left behind.
  const keeper = spawn('bash', ['-c', 'cat; bash "$0" stop "$1" immediate; rm -rf "$1"', SCRIPT, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const stop = async (): Promise<void> => {
    const ended = once(keeper, 'exit');
    keeper.stdin.end();
    await ended;
  };
  const { status, stdout, stderr, error } = spawnSync(
    'bash',
    [SCRIPT, 'start', folder, String(await freePort())],
    { encoding: 'utf8' },
  );
  if (status === 0) return { url: stdout.trim(), stop };
  await stop();
  return error?.message ?? stderr.trim();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
