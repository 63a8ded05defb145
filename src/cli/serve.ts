import path from 'node:path';
import { systemEnv } from '../lib/env.ts';
import { RunError } from '../lib/errors.ts';
import type { DatabaseOptions } from '../service/platform/database/database.ts';
import type { ExternalStoreOptions } from '../service/stores/objects/external-store.ts';
import type { Service, ServiceOptions } from '../service/start/service.ts';
import { flag, valued, type Args, type Command, type Io } from './command.ts';
import { reachOf } from '../engine/http/trust/reach.ts';
import { orEnvironment } from './environment.ts';
import { reachEnvironment } from './serve-hosts.ts';
import { portArg, portError } from './port.ts';
import { consoleLink } from './console-link.ts';
import { databaseArgs, databaseOptions } from './serve-database.ts';
import { careArgs, careOptions } from './serve-care.ts';
import { hostOptions } from './serve-hosts.ts';
import { externalObjects, objectOptions, tryRole } from './serve-objects.ts';
import { runsOptions, runsPart, sourcesPart } from './serve-runs.ts';
import { mailArgs, mailOptions } from './serve-mail.ts';
import { tablesArgs, tablesOptions } from './serve-tables.ts';
import { logOptions, openLog, urlArg } from './shared.ts';
import { boundYoungMemory } from './heap-tuning.ts';

export const serveCommand: Command = {
  name: 'serve',
  describe: 'Serve a storage folder over HTTP: files, tables, jobs, configurations and their runs',
  options: {
    dir: valued(
      'DIR',
      'The folder that everything is kept in, storage by default; it is made when missing. None with --database and --s3',
    ),
    host: valued('HOST', 'Address to listen on; 0.0.0.0 lets other machines in', { default: '127.0.0.1' }),
    port: valued('N', 'Port of the API; 0 takes a free one', { default: '8080' }),
    's3-port': valued('N', 'Port of the object store', { default: '8081' }),
    'importer-port': valued('N', 'Port of the importer', { default: '8082' }),
    'public-url': valued('URL', 'Address under which clients reach the API, such as behind a proxy'),
    's3-public-url': valued(
      'URL',
      'Address under which clients reach the object store; signed addresses begin with it',
    ),
    ...careOptions,
    ...databaseOptions,
    ...tablesOptions,
    ...runsOptions,
    ...hostOptions,
    ...mailOptions,
    ...objectOptions,
    // Not of the environment: it is for one start.
    's3-take-over': flag(
      'The database that the bucket belonged to is gone for good, and this one, which was restored from a dump of it, goes on in its place',
    ),
    'new-token': flag('Make and print a further master token, and end'),
    'new-metadata': flag(
      'For a folder whose meta.sqlite is lost: set aside its tables and files in a folder lost-…, and end; the next start begins anew',
    ),
    backup: valued(
      'FILE',
      'Write everything into a tar file, and end; a service may be running over the folder',
    ),
    ...logOptions,
  },
  examples: [
    ['gex serve', 'Serve ./storage on this machine; the first start prints the master token'],
    ['gex serve --dir /data --host 0.0.0.0 --public-url https://storage.example.com', 'Behind a proxy'],
    [
      'gex serve --s3 http://127.0.0.1:9000 --s3-bucket files --s3-role-arn arn:aws:iam:::role/files',
      'Files in an object store',
    ],
    [
      'gex serve --database postgres://gex@db.example.com/gex --s3 https://s3.example.com --s3-bucket files --s3-role-arn arn:aws:iam:::role/files',
      'One of several processes over a database and an object store',
    ],
    ['gex serve --tables lake', 'Tables as Parquet files that other engines read, in ./storage/tables/lake'],
    ['gex serve --dir /data --backup storage.tar', 'Keep a copy; unpack it with tar into an empty folder'],
  ],
  async run(written, io) {
    const args = orEnvironment(written, process.env, [
      's3-public-url',
      ...Object.keys(tablesOptions),
      ...Object.keys(mailOptions),
      ...Object.keys(objectOptions),
    ]);
    const shared = databaseArgs(args, io, process.env);
    const { database } = shared;
    const backup = args.text('backup');
    const isNewToken = args.isSet('new-token');
    if (isNewToken && database !== undefined) return await printNewToken(database, args, io);
    if (backup !== undefined && database !== undefined) {
      const { backUpShared } = await import('./storage/back-up.ts');
      return await backUpShared({ database, objects: await sharedObjects(args, io) }, backup, args, io);
    }
    const isAnew = args.isSet('new-metadata');
    if (isAnew && database !== undefined)
      throw new RunError('command.invalid', '--new-metadata is for a folder that has its own metadata.', {
        hint: 'Leave out --database, or leave out --new-metadata.',
      });
    if (database !== undefined && args.text('s3') !== undefined && args.text('dir') === undefined)
      return await serve(shared, args, io);
    const storage = args.text('dir') ?? 'storage';
    const dir = path.resolve(storage);
    const { checkFolder, fileError } = await import('../service/open/folder.ts');
    if (isAnew) return await beginAnew(dir, io);
    checkFolder(dir, { storage, mustExist: isNewToken || backup !== undefined });
    try {
      if (isNewToken) return await printNewToken(dir, args, io);
      if (backup !== undefined) {
        const { backUpFolder } = await import('./storage/back-up.ts');
        return await backUpFolder(dir, backup, io);
      }
      return await serve({ ...shared, dir }, args, io);
    } catch (error) {
      throw fileError(error, dir);
    }
  },
};

async function sharedObjects(args: Args, io: Io): Promise<Omit<ExternalStoreOptions, 'env'>> {
  const objects = await externalObjects(args, io, process.env);
  if (objects !== undefined) return objects;
  throw new RunError(
    'command.invalid',
    'The files of this database are not in an object store: --s3 is missing.',
    {
      hint: 'Name it with --s3 and --s3-bucket. Files in the database itself: gex storage backup FILE --from URL. Files in a folder beside a database: stop the service, and keep the folder and pg_dump of one and the same time.',
    },
  );
}

async function printNewToken(place: DatabaseOptions | string, args: Args, io: Io): Promise<number> {
  const { newMasterToken } = await import('../service/start/service.ts');
  io.print(await newMasterToken(place, systemEnv, await openLog(args, io)));
  return 0;
}

async function beginAnew(dir: string, io: Io): Promise<number> {
  const { beginAnew: setAside } = await import('../service/stores/folder/begin-anew.ts');
  const aside = await setAside(dir, systemEnv);
  io.note(
    `What was there is in ${aside}, and nothing of it was deleted. The next start makes a new storage.`,
  );
  return 0;
}

/** Limit of the space for new objects: more makes a long list no quicker (`bench/day.ts`). */
const YOUNG_BYTES = 8 << 20;

/**
 * Serves until the command is interrupted.
 *
 * @param onStarted told of the service when it answers
 */
export async function serve(
  shared: Pick<ServiceOptions, 'database' | 'dir' | 'isWhollyInDatabase' | 'roles'>,
  args: Args,
  io: Io,
  onStarted?: (service: Service, url: string) => Promise<void>,
): Promise<number> {
  const [{ createService }, { dataPart }, { readSchema }] = await Promise.all([
    import('../service/start/service.ts'),
    import('../service/start/data.ts'),
    import('./schema-file.ts'),
  ]);
  boundYoungMemory(YOUNG_BYTES);
  // Files that libraries and children create in the storage are for its user alone, too.
  process.umask(0o077);
  const publicUrl = urlArg(args, 'public-url');
  const s3PublicUrl = urlArg(args, 's3-public-url');
  const objects = await externalObjects(args, io, process.env);
  // Only those who answer requests give keys to clients.
  if (objects !== undefined && shared.roles?.includes('api') !== false) await tryRole(objects);
  if (objects === undefined && s3PublicUrl !== undefined && new URL(s3PublicUrl).pathname !== '/')
    throw new RunError('command.invalid', `--s3-public-url cannot have a path, as in “${s3PublicUrl}”.`, {
      hint: 'Give the object store a host name or a port of its own: the path is part of what clients sign.',
    });
  const takesOver = args.isSet('s3-take-over');
  if (takesOver && (objects === undefined || shared.database === undefined))
    throw new RunError('command.invalid', '--s3-take-over is for a database with an object store.', {
      hint: 'Leave it out, or name both with --database and --s3.',
    });
  const care = careArgs(args, process.env);
  const tables = tablesArgs(args, shared.database !== undefined);
  const runs = await runsPart(args);
  const service = createService({
    ...shared,
    parts: [dataPart, await sourcesPart(args), ...(runs === undefined ? [] : [runs])],
    host: args.text('host') ?? '127.0.0.1',
    port: portArg(args, 'port'),
    s3Port: portArg(args, 's3-port'),
    importerPort: portArg(args, 'importer-port'),
    ...care,
    reach: reachOf(reachEnvironment(args, process.env)),
    ...mailArgs(args, io),
    ...tables,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(s3PublicUrl === undefined ? {} : { s3PublicUrl }),
    ...(objects === undefined ? {} : { objects, takesOver }),
    extractorSchema: await readSchema(),
    log: await openLog(args, io),
  });
  const { url, parts, masterToken } = await service.start().catch((error: unknown) => {
    throw portError(
      error,
      args.text('host'),
      'Choose others with --port, --s3-port, --importer-port and --health-port; 0 takes a free one.',
    );
  });
  if (url !== '') io.print(`api       ${url}`);
  for (const [name, address] of Object.entries(parts)) io.print(`${name.padEnd(9)} ${address}`);
  if (masterToken !== undefined) {
    if (url !== '')
      io.print(`console   ${consoleLink(publicUrl ?? url, await service.newCode(masterToken))}`);
    io.print(`token     ${masterToken}`);
    io.note('This is the master token, and it is not shown again. If it is lost: gex serve --new-token');
  }
  await onStarted?.(service, url);
  if (!io.signal.aborted)
    await new Promise<void>((resolve) =>
      io.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
  io.note('Stopping: requests and jobs that run may finish.');
  endAtLast(io, care.drainMs);
  await service.stop();
  return 0;
}

/** Those who start services kill them after half a minute: before that, all of it should be over. */
const STOP_MS = 20_000;

/** Ends the process when stopping takes too long: what is acknowledged is on the disk, and jobs are taken up again. */
function endAtLast(io: Io, drainMs: number): void {
  const end = (): void => {
    io.note('What still runs is left for the next start.');
    process.exit(0);
  };
  // A process that has nothing to do any more ends by itself.
  setTimeout(end, drainMs + STOP_MS).unref();
}
