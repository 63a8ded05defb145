import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import type { Meta } from '../metadata/database.ts';
import { postgresSchema } from '../metadata/dialect.ts';
import { databaseNow } from '../metadata/timestamp.ts';
import { createQueue, type Queue } from './queue.ts';

/** The queue of a service: over its folder for itself, or over PostgreSQL for all processes. */
export async function openQueue(meta: Meta, env: Env, log: Log): Promise<Queue> {
  if (postgresSchema(meta) !== undefined) await compareClocks(meta, env, log);
  return createQueue(meta, env);
}

/** Clock difference above which a warning is logged. */
const CLOCK_MS = 30_000;

/** Turns are counted in the time of the database; dates of rows and files are that of this machine. */
async function compareClocks(meta: Meta, env: Env, log: Log): Promise<void> {
  const offMs = env.now() - (await databaseNow(meta));
  if (Math.abs(offMs) > CLOCK_MS)
    log.warn('The clock of this machine is not that of the database: set one of them right', {
      secondsOff: Math.round(offMs / 1000),
    });
}
