import { RunError } from '../../../lib/errors.ts';
import type { Env } from '../../../lib/env.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../../platform/database/database.ts';
import { openMeta, type Meta } from '../../stores/metadata/database.ts';
import { missingMigrations, refuseUnknown } from '../../stores/metadata/migrate.ts';
import { localTokenId } from '../../stores/folder/local-token.ts';
import { encryptionKey } from '../storage-identity.ts';
import { agreeOnTables, extensionsFolder, tryTables, type TablesKind } from '../../stores/tables/kind.ts';
import { serviceEngine } from '../../stores/tables/open-engine.ts';
import { openFiles, type DatabaseFilesOptions } from './database-files.ts';
import type { OpenedStorage } from './storage.ts';

export interface DatabaseStorageOptions extends DatabaseFilesOptions {
  readonly database: DatabaseOptions;
  /** How the tables of a new target are kept. Default: in the database. */
  readonly tables?: TablesKind | undefined;
  /** Environment with `GEX_DUCKDB_EXTENSIONS`; default: that of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Opens a database and the place of its files. @throws {RunError} `run.locked` while a service works on it, `database.…` */
export async function openDatabaseStorage(options: DatabaseStorageOptions): Promise<OpenedStorage> {
  const { role, env, log, objects } = options;
  if (options.tables === 'lake' && objects === undefined)
    throw new RunError(
      'command.invalid',
      'A lake of a database has its files in an object store: --to-s3 is missing.',
      {
        hint: 'Add --to-s3 URL --to-s3-bucket NAME, or leave --to-tables out.',
      },
    );
  const database = await openDatabase({ ...options.database, poolSize: CONNECTIONS }, log);
  try {
    await refuseServices(database, env);
    const meta = role === 'target' ? await openMeta(database) : await openSource(database);
    // Opened when the metadata is there: the schemas of buckets are called as by a service.
    const extensions = extensionsFolder(options.environment ?? process.env);
    await tryTables(meta, options.tables, extensions);
    await agreeOnTables(meta, options.tables);
    const files = await openFiles(database, meta, options);
    const { secret } = files;
    const shared = objects && { url: options.database.url, objects, root: files.objects.root };
    const lake = { extensions, shared };
    const { engine } = serviceEngine({ dir: undefined, database, meta, env, log, lake });
    return {
      name: database.address,
      meta,
      engine,
      objects: files.objects,
      secret,
      localToken: secret && (await localTokenId(meta, secret)),
      encryptionKey: await encryptionKey(meta),
      async close() {
        await engine.close();
        files.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Two tables at a time, each with what its engine needs beside them, and the metadata. */
const CONNECTIONS = 6;

async function openSource(database: Database): Promise<Meta> {
  const { connectPostgres } = await import('../../stores/metadata/postgres.ts');
  const meta = connectPostgres(database, { isBounded: false });
  await refuseOtherVersions(meta, database.address);
  return meta;
}

/** @throws {RunError} `command.invalid` for one of an earlier version, or none; `database.newer`, `database.older` */
export async function refuseOtherVersions(meta: Meta, address: string): Promise<void> {
  await refuseUnknown(meta);
  if ((await missingMigrations(meta)).length === 0) return;
  throw new RunError('command.invalid', 'The database has no storage, or one of an earlier version.', {
    where: { url: address },
    hint: 'Check --from; or start “gex serve” of this version over it once, which brings it up to date, and stop it.',
  });
}

/** Milliseconds to wait for a killed process, whose end the database notices a little later. */
const PATIENCE_MS = 5000;
const PAUSE_MS = 250;

/** Processes of a service say who they are to the database. Until this is done, we have the one connection that asks. */
async function refuseServices({ pool, address }: Database, env: Env): Promise<void> {
  for (const until = env.now() + PATIENCE_MS; ; await env.sleep(PAUSE_MS)) {
    const { rows } = await pool.query<{ readonly others: number }>(
      `select count(*)::int as others from pg_stat_activity
       where datname = current_database() and application_name = 'gex' and pid <> pg_backend_pid()`,
    );
    const others = rows[0]?.others ?? 0;
    if (others === 0) return;
    if (env.now() < until) continue;
    throw new RunError(
      'run.locked',
      `Processes of a service are connected with the database: ${others} connections.`,
      {
        where: { url: address },
        hint: 'Stop them all (gex serve, whatever its roles are), and give the command again.',
      },
    );
  }
}
