import { randomBytes } from 'node:crypto';
import { Client, Pool, type PoolConfig } from 'pg';

/** The server that tests make their databases on; those that need one are not run without it. */
export const SERVER = process.env['TEST_DATABASE_URL'];

export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  /** Another pool over the same database, with another role or another way in between. */
  connect(options?: PoolConfig): Pool;
  drop(): Promise<void>;
}

/** A database of its own on the server of the tests. */
export async function makeDatabase(prefix = 'tables'): Promise<TestDatabase> {
  const name = `${prefix}_${process.pid}_${randomBytes(4).toString('hex')}`;
  await asAdmin(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = new URL(SERVER ?? '');
  url.pathname = `/${name}`;
  const pools: Pool[] = [];
  const connect = (options: PoolConfig = {}): Pool => {
    const pool = new Pool({ connectionString: url.href, max: 10, ...options });
    pool.on('error', () => undefined);
    pools.push(pool);
    return pool;
  };
  return {
    url: url.href,
    pool: connect(),
    connect,
    async drop() {
      await Promise.all(pools.filter(({ ended }) => !ended).map((pool) => pool.end()));
      await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
      // Roles of readers belong to the server.
      await asAdmin(
        `DO $$ DECLARE reader text; BEGIN FOR reader IN SELECT rolname FROM pg_roles WHERE starts_with(ltrim(rolname, '_'), '${name}') ` +
          `LOOP EXECUTE format('DROP ROLE %I', reader); END LOOP; END $$`,
      );
    },
  };
}

export async function asAdmin(sql: string): Promise<void> {
  const client = new Client({ connectionString: SERVER });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
