import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import type { TestDatabase } from './database.ts';

/** Its program; undefined where it is not installed. */
export const BOUNCER = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(
  (path) => spawnSync(path, ['--version']).status === 0,
);

export interface Bouncer {
  readonly pool: Pool;
  readonly url: string;
  stop(): Promise<void>;
}

/** pgbouncer in front of a database, in transaction mode. */
export async function startBouncer(database: TestDatabase): Promise<Bouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  const port = await freePort();
  const { hostname, port: serverPort, pathname } = new URL(database.url);
  await writeFile(join(folder, 'users'), '"gex" ""\n');
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]\n* = host=${hostname} port=${serverPort}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\n` +
      `unix_socket_dir =\nauth_type = trust\nauth_file = ${join(folder, 'users')}\npool_mode = transaction\n` +
      'default_pool_size = 20\nmax_client_conn = 200\n',
  );
  await chmod(folder, 0o755);
  // It refuses to be root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child: ChildProcess = spawn(BOUNCER ?? '', [...user, join(folder, 'pgbouncer.ini')], {
    stdio: 'ignore',
  });
  const url = `postgres://gex@127.0.0.1:${port}${pathname}`;
  const pool = database.connect({ connectionString: url });
  for (let i = 0; ; i++) {
    try {
      await pool.query('select 1');
      break;
    } catch (error) {
      if (i === 100) throw error;
      await new Promise((next) => setTimeout(next, 100));
    }
  }
  return {
    pool,
    url,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await pool.end();
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
