import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { silentLog } from '../../src/lib/log.ts';
import { openDatabase, type DatabaseOptions } from '../../src/service/platform/database/database.ts';
import { openMeta, type Meta } from '../../src/service/stores/metadata/database.ts';

/** The server that services of tests have their metadata on: `npm run test:postgres` sets it. */
const SERVER = process.env['TEST_DATABASE_URL'] ?? '';

/** True when services of tests are over PostgreSQL, and not over a folder alone. */
export const isOnPostgres = SERVER !== '';

/** Set once for all files by `databases.setup.ts`, or by `postgres.setup.ts` for those of its project. */
const PREFIX = 'TEST_DATABASE_PREFIX';

const known = new Map<string, Promise<DatabaseOptions>>();

/** The database that belongs to a folder: a copy of one whose tables are up to date. Undefined without a server. */
export async function databaseOf(dir: string): Promise<DatabaseOptions | undefined> {
  if (!isOnPostgres) return undefined;
  const made = known.get(dir) ?? makeDatabase(nameOf(dir));
  known.set(dir, made);
  return await made;
}

/** Returns the options of a service over this folder. */
export async function placeOf(dir: string): Promise<{ dir: string; database?: DatabaseOptions }> {
  const database = await databaseOf(dir);
  return { dir, ...(database === undefined ? {} : { database }) };
}

export async function forgetDatabase(dir: string): Promise<void> {
  if (!known.delete(dir)) return;
  await asAdmin(async (admin) => await admin.query(`drop database if exists ${nameOf(dir)} with (force)`));
}

/** The metadata of a service over a folder, for a look past the API; `destroy` ends its connections as well. */
export async function metaOf(dir: string): Promise<Meta> {
  const options = await databaseOf(dir);
  if (options === undefined) return await openMeta(join(dir, 'meta.sqlite'));
  const database = await openDatabase({ ...options, poolSize: 2 }, silentLog);
  const meta = await openMeta(database);
  const destroy = meta.destroy.bind(meta);
  meta.destroy = async () => {
    await destroy();
    await database.close();
  };
  return meta;
}

/** Lets the time of files and tokens over PostgreSQL come earlier: a test has no hand on the clock of a database. */
export async function hurry(dir: string, ms: number): Promise<void> {
  if (!isOnPostgres) return;
  const meta = await metaOf(dir);
  for (const table of ['files', 'tokens'] as const)
    for (const { id, expires } of await meta.selectFrom(table).select(['id', 'expires']).execute())
      if (expires !== null)
        await meta
          .updateTable(table)
          .set({ expires: new Date(Date.parse(expires) - ms).toISOString() })
          .where('id', '=', id)
          .execute();
  await meta.destroy();
}

/** Makes the database that all others of this run are copies of; gives the environment of tests that need it. */
export async function makeTemplate(server: string): Promise<Record<string, string>> {
  const prefix = `gex_test_${process.pid}_${Buffer.from(crypto.getRandomValues(new Uint8Array(3))).toString('hex')}`;
  await asAdmin(async (admin) => await admin.query(`create database ${prefix}`), server);
  const database = await openDatabase({ url: urlOf(prefix, server) }, silentLog);
  await openMeta(database);
  await database.close();
  return { TEST_DATABASE_URL: server, [PREFIX]: prefix };
}

export async function dropAll(): Promise<void> {
  await asAdmin(async (admin) => {
    const { rows } = await admin.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [prefix()],
    );
    for (const { datname } of rows) await admin.query(`drop database if exists ${datname} with (force)`);
    // Roles of those who may read buckets belong to the server.
    const readers = await admin.query<{ name: string }>(
      'select quote_ident(rolname) as name from pg_roles where starts_with(rolname, $1)',
      [prefix()],
    );
    for (const { name } of readers.rows) await admin.query(`drop role if exists ${name}`);
  });
}

async function makeDatabase(name: string): Promise<DatabaseOptions> {
  await asAdmin(async (admin) => {
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await admin.query(`create database ${name} template ${prefix()} strategy file_copy`);
  });
  return { url: urlOf(name), poolSize: 5 };
}

async function asAdmin(work: (admin: Client) => Promise<unknown>, server = SERVER): Promise<void> {
  const admin = new Client({ connectionString: server });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function urlOf(name: string, server = SERVER): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

const nameOf = (dir: string): string =>
  `${prefix()}_${createHash('sha256').update(dir).digest('hex').slice(0, 12)}`;

function prefix(): string {
  const name = process.env[PREFIX];
  if (name === undefined) throw new Error('The template of the test databases has not been made.');
  return name;
}
