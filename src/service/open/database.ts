import { systemEnv } from '../../lib/env.ts';
import { ExtractorError, RunError, StorageError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { OpenOptions, OpenStorage } from '../../storage/client/open-options.ts';
import { shownAddress } from '../platform/database/address.ts';
import { openDatabase, type DatabaseOptions } from '../platform/database/database.ts';
import { isUnavailable, reasonOf, refusalOf } from '../platform/database/failures.ts';
import { isDiskFull } from '../domain/service-error.ts';
import { createService } from '../start/service.ts';
import { objectsOf, STORE_HINT, troubleOfStore, tryStore } from './objects.ts';
import type { DatabasePlace } from './place.ts';
import { clientOf, productionOf, steadyOf, verify } from './reach.ts';

/** How long a database may be away: an address is more often wrong than its server just starting. */
const PATIENCE_MS = 10_000;

/** Connections of a command: a server has a hundred for all of its clients. */
const POOL_SIZE = 6;

/**
 * Opens a PostgreSQL database by a service in this process. Any number of commands and services may work on it at a
 * time; the bytes of files are in it as well, or in the bucket that the environment names.
 */
export async function openDatabaseStorage(place: DatabasePlace, options: OpenOptions): Promise<OpenStorage> {
  const { environment, log, env, purpose } = options;
  const { tables, address } = place;
  const database = databaseOf(place, options);
  const objects = objectsOf(environment, options.secrets);
  if (tables === 'lake' && objects === undefined)
    throw new RunError(
      'command.invalid',
      'A lake over a database keeps its files in an object store, and none is named.',
      {
        hint: 'Set GEX_S3, GEX_S3_BUCKET, GEX_S3_ROLE_ARN, GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY; or give lake:DIR for a lake in a folder.',
      },
    );
  try {
    if (options.mustExist === true) await requireStorage(database, place, log);
    if (objects !== undefined) await tryStore(objects, { env: env ?? systemEnv, hint: STORE_HINT });
    const service = createService({
      database,
      environment,
      log,
      isEmbedded: true,
      isWhollyInDatabase: objects === undefined,
      ...(tables === undefined ? {} : { tables }),
      ...(objects === undefined ? {} : { objects }),
      ...(env === undefined ? {} : { env }),
    });
    const { url } = await service.start();
    try {
      const reach = { url, token: await service.commandToken(), fetch: service.fetch };
      const verified = await verify(reach, options);
      const client = clientOf(reach, options);
      log.debug(`Using the database ${address} in this process to ${purpose}`);
      return {
        client,
        production: productionOf(reach, options),
        steady: steadyOf(reach, options),
        address,
        isLocal: true,
        isServed: false,
        ...verified,
        encryptionKeys: undefined,
        async close() {
          client.close();
          await service.stop();
        },
      };
    } catch (error) {
      await service.stop();
      throw error;
    }
  } catch (error) {
    throw troubleOf(objects === undefined ? error : troubleOfStore(error, objects.bucket), place);
  }
}

/** Returns how a command works with a database. */
export function databaseOf(
  { url, schema }: DatabasePlace,
  { patienceMs = PATIENCE_MS }: Pick<OpenOptions, 'patienceMs'>,
): DatabaseOptions {
  return { url, poolSize: POOL_SIZE, waitMs: patienceMs, ...(schema === undefined ? {} : { schema }) };
}

/** @throws {RunError} `command.invalid` for a database without a storage, in which a command that only looks makes none */
export async function requireStorage(
  options: DatabaseOptions,
  { address }: DatabasePlace,
  log: Log,
): Promise<void> {
  const database = await openDatabase({ ...options, poolSize: 1 }, log);
  try {
    const { rows } = await database.pool.query<{ there: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS there',
      [`${database.schema}.projects`],
    );
    if (rows[0]?.there === true) return;
    throw new RunError(
      'command.invalid',
      `${address} has no storage yet: there is no schema ${database.schema} of one.`,
      { hint: '“gex run” with this --storage makes one; ?schema=NAME names another schema.' },
    );
  } finally {
    await database.close();
  }
}

/** Returns a readable error for what an operator of the database can remove; any other error is returned unchanged. */
export function troubleOf(error: unknown, { url }: DatabasePlace): unknown {
  if (error instanceof ExtractorError) return error;
  const address = shownAddress(url);
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  for (const said of [error, cause]) {
    if (isDiskFull(said))
      return new StorageError('storage.failed', 'The disk of the database is full.', {
        where: { url: address },
        hint: 'Free some space, and give the same command again.',
        cause: error,
      });
    if (isUnavailable(said))
      return new RunError('database.unreachable', `The database cannot be used now: ${reasonOf(said)}`, {
        where: { url: address },
        hint: 'Give the same command again when it is back; nothing is lost.',
        cause: error,
      });
    const refusal = refusalOf(said, address);
    if (refusal !== undefined) return refusal;
  }
  return error;
}
