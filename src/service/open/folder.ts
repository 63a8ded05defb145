import { existsSync, readdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { systemEnv } from '../../lib/env.ts';
import { readKeyFile, type Keys } from '../../lib/encryption/index.ts';
import { ExtractorError, RunError, StorageError } from '../../lib/errors.ts';
import { findHolder, type FolderHolder } from '../stores/folder/lock.ts';
import { refuseLostMetadata } from '../stores/folder/metadata-place.ts';
import type { OpenOptions, OpenStorage } from '../../storage/client/open-options.ts';
import type { TablesKind } from '../stores/tables/kind.ts';
import { clientOf, productionOf, steadyOf, verify } from './reach.ts';

/** Milliseconds that another command, or a service that is starting, may hold the folder. */
const PATIENCE_MS = 5000;
const PAUSE_MS = 100;

/**
 * Opens a folder: through the service that runs over it when there is one, since only one process may hold it; else
 * through one in this process, which other processes do not see.
 *
 * @param tables how they are to be kept, if this makes the storage
 */
export async function openFolder(options: OpenOptions, tables?: TablesKind): Promise<OpenStorage> {
  const dir = path.resolve(options.storage);
  const env = options.env ?? systemEnv;
  checkFolder(dir, options);
  if (options.environment['KBC_TOKEN'] !== undefined)
    options.log.debug('KBC_TOKEN is not used: a folder needs no token.');
  const until = env.now() + (options.patienceMs ?? PATIENCE_MS);
  for (let hasSaid = false; ; hasSaid = true) {
    try {
      const holder = await findHolder(dir);
      if (holder?.address !== undefined && holder.isInDatabase !== true)
        return await openHeld(dir, { ...holder, address: holder.address }, options);
      // A folder that a process holds without an address is refused.
      return await openEmbedded(dir, options, tables);
    } catch (error) {
      if (!(error instanceof RunError) || error.code !== 'run.locked') throw fileError(error, dir);
      if (env.now() >= until) throw error;
      if (!hasSaid)
        options.log.info(`Waiting to ${options.purpose}: another command uses ${options.storage}.`);
    }
    await env.sleep(PAUSE_MS, options.signal);
  }
}

async function openHeld(
  dir: string,
  holder: FolderHolder & { readonly address: string },
  options: OpenOptions,
): Promise<OpenStorage> {
  const { localToken } = await import('../stores/folder/local-token.ts');
  const reach = { url: holder.address, token: await localToken(dir, options.env) };
  options.log.info(`${options.storage} is served by process ${holder.pid}: using it at ${holder.address}.`);
  const verified = await verify(reach, options).catch((error: unknown) => {
    throw options.signal.aborted ? error : unusable(dir, holder, error);
  });
  const client = clientOf(reach, options);
  return {
    client,
    production: productionOf(reach, options),
    steady: steadyOf(reach, options),
    address: dir,
    isLocal: true,
    isServed: true,
    ...verified,
    encryptionKeys: keysOf(dir),
    close: () => Promise.resolve(client.close()),
  };
}

async function openEmbedded(
  dir: string,
  options: OpenOptions,
  tables: TablesKind | undefined,
): Promise<OpenStorage> {
  const [{ createService }, { localToken }] = await Promise.all([
    import('../start/service.ts'),
    import('../stores/folder/local-token.ts'),
  ]);
  const { environment, log, env } = options;
  const service = createService({
    dir,
    environment,
    log,
    isEmbedded: true,
    ...(tables === undefined ? {} : { tables }),
    ...(env === undefined ? {} : { env }),
  });
  const { url } = await service.start();
  try {
    const reach = { url, token: await localToken(dir, env), fetch: service.fetch };
    const verified = await verify(reach, options);
    const client = clientOf(reach, options);
    log.debug(`Using the folder ${dir} in this process to ${options.purpose}`);
    return {
      client,
      production: productionOf(reach, options),
      steady: steadyOf(reach, options),
      address: dir,
      isLocal: true,
      isServed: false,
      ...verified,
      encryptionKeys: keysOf(dir),
      async close() {
        client.close();
        await service.stop();
      },
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** Names of files and folders that a storage may consist of before its first start. */
const OWN = /^(?:meta\.sqlite|service\.|objects|tables|lost-|encryption\.key|lost\+found|\.)/;

/**
 * Throws unless a folder may serve as a storage: a data folder, or any other that is named by mistake, must not be
 * filled.
 */
export function checkFolder(
  dir: string,
  { storage, mustExist }: Pick<OpenOptions, 'mustExist' | 'storage'>,
): void {
  const hint =
    'Name the folder of a storage, or the address of a service. “gex serve”, “gex run” and “gex storage buckets create” make a folder.';
  const refuse = (what: string): RunError =>
    new RunError('command.invalid', `${storage} ${what}.`, { where: { file: dir }, hint });
  const stats = reading(dir, () => statSync(dir, { throwIfNoEntry: false }));
  if (stats === undefined) {
    if (mustExist === true) throw refuse('is not there, so there is no storage to look into');
    return;
  }
  if (!stats.isDirectory()) throw refuse('is a file, and no storage folder');
  if (existsSync(path.join(dir, 'meta.sqlite'))) return;
  if (!existsSync(path.join(dir, 'service.database'))) refuseLostMetadata(dir);
  const stray = reading(dir, () => readdirSync(dir)).find((name) => !OWN.test(name));
  if (stray !== undefined) throw refuse(`is no storage folder: it holds ${stray}, and no meta.sqlite`);
  if (mustExist === true) throw refuse('is an empty folder, and no storage yet');
}

function reading<T>(dir: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    throw fileError(error, dir);
  }
}

function keysOf(dir: string): Keys | undefined {
  const file = path.join(dir, 'encryption.key');
  return existsSync(file) ? readKeyFile(file) : undefined;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read or write it',
  EPERM: 'this user may not read or write it',
  EROFS: 'it is read-only',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'a file is where a folder belongs',
  EISDIR: 'a folder is where a file belongs',
};

/** Returns an error with a readable reason for a failure of the file system; any other error is returned unchanged. */
export function fileError(error: unknown, dir: string): unknown {
  if (!(error instanceof Error) || error instanceof ExtractorError) return error;
  const { code, path: file = dir } = error as Error & { readonly code?: unknown; readonly path?: string };
  const reason = code === 'ERR_SQLITE_ERROR' ? error.message : REASONS[String(code)];
  if (reason === undefined)
    return error.cause === undefined ? error : orSame(fileError(error.cause, dir), error);
  return new RunError('command.invalid', `The storage folder cannot be used: ${reason}.`, {
    where: { file },
    hint: 'Check the folder and its owner, or name another one.',
    cause: error,
  });
}

/** Returns what was understood; what was not stays the error that it is the cause of. */
const orSame = (understood: unknown, error: Error): unknown =>
  understood === error.cause ? error : understood;

/**
 * Returns the error for a folder whose service cannot be used. The address shown is the one on the machine of the
 * service: another machine or container may not reach it.
 */
function unusable(dir: string, { pid, host, address }: FolderHolder, error: unknown): unknown {
  const isOther = error instanceof StorageError && /^storage\.(?:un|forbidden)/.test(error.code);
  if (!isOther) return error;
  const where = host === hostname() ? '' : ` on ${host}`;
  return new RunError(
    'run.locked',
    `The storage folder is held by process ${pid}${where}, but ${String(address)} does not answer as that service.`,
    {
      where: { file: dir },
      hint: 'Give the address that it is reached at from here, with KBC_TOKEN; or stop it.',
      cause: error,
    },
  );
}
