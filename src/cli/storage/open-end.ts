import path from 'node:path';
import { systemEnv } from '../../lib/env.ts';
import { RunError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { DatabaseOptions } from '../../service/platform/database/database.ts';
import type { ExternalStoreOptions } from '../../service/stores/objects/external-store.ts';
import type { OpenedStorage } from '../../service/domain/transfer/storage.ts';
import type { Args, Io } from '../command.ts';
import { isDatabase } from './database-address.ts';
import { kindArg } from '../serve-tables.ts';
import { storeOf } from './move-options.ts';

interface Opening {
  readonly args: Args;
  readonly io: Io;
  readonly log: Log;
  /** The folder whose secrets a new one is to have. */
  readonly secretsOf?: string;
}

/** Opens one end of a copy for this process alone. */
export async function openEnd(end: 'from' | 'to', name: string, opening: Opening): Promise<OpenedStorage> {
  const { args, io, log, secretsOf } = opening;
  const role = end === 'from' ? 'source' : 'target';
  const kind = end === 'to' ? args.text('to-tables') : undefined;
  const tables = kind === undefined ? undefined : kindArg('to-tables', kind, isDatabase(name));
  const takesOver = end === 'to' && args.isSet('to-s3-take-over');
  if (isDatabase(name)) {
    const { openDatabaseStorage } = await import('../../service/domain/transfer/database.ts');
    return await openDatabaseStorage({
      role,
      tables,
      takesOver,
      ...databaseOf(end, name, args, io),
      env: systemEnv,
      log,
    });
  }
  const objects = storeOf(end, args, io, process.env);
  const [{ checkFolder, fileError }, { copySecrets, openFolderStorage }] = await Promise.all([
    import('../../service/open/folder.ts'),
    import('../../service/domain/transfer/folder.ts'),
  ]);
  const dir = path.resolve(name);
  checkFolder(dir, { storage: name, mustExist: end === 'from' });
  try {
    if (secretsOf !== undefined && !isDatabase(secretsOf)) await copySecrets(path.resolve(secretsOf), dir);
    return await openFolderStorage(dir, {
      role,
      tables,
      objects,
      takesOver,
      environment: process.env,
      env: systemEnv,
      log,
    });
  } catch (error) {
    throw fileError(error, dir);
  }
}

/** Returns the options of a database, with the object store that its files are in when one is named. */
export function databaseOf(
  end: 'from' | 'to',
  url: string,
  args: Args,
  io: Io,
): { readonly database: DatabaseOptions; readonly objects: Omit<ExternalStoreOptions, 'env'> | undefined } {
  const schema = args.text(`${end}-database-schema`);
  const database = { url, ...(schema === undefined ? {} : { schema }), waitMs: 0 };
  return { database, objects: storeOf(end, args, io, process.env) };
}

export function interrupted(what: string, hint: string, cause: unknown): RunError {
  return new RunError('run.interrupted', `The ${what} was interrupted.`, { hint, cause });
}
