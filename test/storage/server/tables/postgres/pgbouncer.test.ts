import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { silentLog } from '../../../../../src/log.ts';
import { createPostgresEngine } from '../../../../../src/storage/server/tables/postgres/engine.ts';
import { testTableEngine } from '../contract.ts';
import { SERVER, type TestDatabase } from './database.ts';
import { useDatabase } from './support.ts';
import type { ChildProcess } from 'node:child_process';
import type { Pool } from 'pg';

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(
  (path) => spawnSync(path, ['--version']).status === 0,
);

describe.runIf(SERVER !== undefined && PROGRAM !== undefined)('over pgbouncer', () => {
  const given = useDatabase();
  let bouncer: { readonly pool: Pool; stop(): Promise<void> };
  beforeAll(async () => {
    bouncer = await startBouncer(given.database);
  });
  afterAll(() => bouncer.stop());

  testTableEngine('PostgreSQL, a connection only for a transaction,', () =>
    createPostgresEngine({ pool: bouncer.pool, schema: 'gex', log: silentLog }),
  );
});

async function startBouncer(database: TestDatabase): Promise<{ pool: Pool; stop(): Promise<void> }> {
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
  const child: ChildProcess = spawn(PROGRAM ?? '', [...user, join(folder, 'pgbouncer.ini')], {
    stdio: 'ignore',
  });
  const pool = database.connect({ connectionString: `postgres://gex@127.0.0.1:${port}${pathname}` });
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

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
