import { join } from 'node:path';
import { createApp } from './http/app.ts';
import type { Context } from './context.ts';
import type { DataContext } from './data-context.ts';
import { upkeep } from './care/upkeep.ts';
import { closeServer, listenOn } from './http/listening.ts';
import { createSnapshots } from './folder/snapshot.ts';
import { createFolderStore, type FolderStore } from './objects/folder-store.ts';
import { createS3Server } from './objects/s3/server.ts';
import { loadSecret } from './objects/secret.ts';
import { OPERATIONS } from './jobs/operations/all.ts';
import { GRACE_MS, type Part, type ServiceOptions } from './part.ts';
import { branchDeletionRoutes } from './routes/branches.ts';
import { bucketRoutes } from './routes/buckets.ts';
import { fileRoutes } from './routes/files.ts';
import { jobControlRoutes } from './routes/job-control.ts';
import { folderRoutes } from './routes/folder.ts';
import { importerRoutes } from './routes/importer.ts';
import { tableAliasRoutes } from './routes/table-aliases.ts';
import { tableExportRoutes } from './routes/table-export.ts';
import { tableImportRoutes } from './routes/table-import.ts';
import { tableStructureRoutes } from './routes/table-structure.ts';
import { tableRoutes } from './routes/tables.ts';
import { findFile } from './meta/files.ts';
import { findToken } from './meta/tokens.ts';
import type { KeyHolder, ObjectStore } from './objects/store.ts';
import { serviceEngine } from './tables/service-engine.ts';
import { createNowAndThen } from './jobs/now-and-then.ts';
import { openQueue } from './jobs/queue/open.ts';
import { createWorker } from './jobs/worker.ts';

/** How long finished jobs and events are kept. */
const KEEP_DAYS = 90;

/** How often what is over is looked for. */
const UPKEEP_MS = 10 * 60_000;

/** How long a look that runs may go on when the service stops. */
const UPKEEP_GRACE_MS = 1000;

/** The largest file that an upload to the object store may be (S3's own limit for one request). */
const MAX_UPLOAD_BYTES = 5 * 1024 ** 3;

/**
 * Files, buckets, tables and jobs: the object store with its S3 endpoint, the importer, the table engine and the
 * worker, all in this process.
 */
export async function dataPart(base: Context, options: ServiceOptions): Promise<Part> {
  const place = { api: base.publicUrl, s3: options.s3PublicUrl?.replace(/\/+$/, '') };
  const store = await openStore(base, options, () => place.s3);
  const { host = '127.0.0.1', graceMs = GRACE_MS } = options;
  const tables = serviceEngine(base);
  const opened = await openQueue(base);
  const context: DataContext = {
    ...base,
    objects: store.objects,
    engine: tables.engine,
    origin: () => place.api ?? '',
    queue: opened.queue,
  };
  const worker = createWorker(() => context, {
    operations: OPERATIONS,
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
  });
  const snapshots = createSnapshots(base.dir, async () => await tables.ofFolder(), base.env);
  const importer = await createApp(context, importerRoutes(context));
  const s3 = store.folder === undefined ? undefined : createS3Server(store.folder.handler);
  if (s3 !== undefined) s3.maxConnections = base.admission.maxConnections;
  let keeper: NodeJS.Timeout | undefined;
  let keeping: Promise<void> | undefined;
  const kept = new AbortController();
  const keepNext = (): void => {
    keeping ??= keepUp(context, options.keepDays ?? KEEP_DAYS, kept.signal).finally(() => {
      keeping = undefined;
    });
  };

  // Of several processes one at a time.
  const shared = opened.isShared
    ? createNowAndThen(
        () => context,
        [
          {
            name: 'upkeep',
            everyMs: UPKEEP_MS,
            run: async (signal) => await keepUp(context, options.keepDays ?? KEEP_DAYS, signal),
          },
        ],
      )
    : undefined;

  return {
    checks: [
      // Whatever there is under that key, the answer shows that the store is there and lets us in.
      { name: 'object store', check: async () => void (await store.objects.head('ready')) },
    ],
    routes: [
      ...fileRoutes(context),
      ...importerRoutes(context),
      ...branchDeletionRoutes(context),
      ...bucketRoutes(context),
      ...tableRoutes(context),
      ...tableStructureRoutes(context),
      ...tableAliasRoutes(context),
      ...tableImportRoutes(context),
      ...tableExportRoutes(context),
      ...jobControlRoutes(context),
      ...folderRoutes(snapshots),
    ],
    // The importer is below the API's own address as well, which clients reach for certain.
    services: [
      { id: 'import', url: '' },
      { id: 's3', url: () => store.objects.endpoint },
    ],
    async start(apiUrl) {
      place.api ??= apiUrl;
      const addresses: Record<string, string> = {};
      if (s3 !== undefined) {
        addresses['s3'] = await listenOn(s3, { host, port: options.s3Port ?? 0 });
        place.s3 ??= addresses['s3'];
      }
      await importer.ready();
      if (options.isEmbedded !== true)
        addresses['importer'] = await listenOn(importer.server, { host, port: options.importerPort ?? 0 });
      await opened.repair();
      await worker.start();
      if (shared !== undefined) await shared.start();
      else {
        keeper = setInterval(keepNext, UPKEEP_MS);
        keepNext();
      }
      return addresses;
    },
    async drain() {
      const servers = [importer.server, ...(s3 === undefined ? [] : [s3])];
      await Promise.all(servers.map((server) => closeServer(server, graceMs)));
    },
    async stop() {
      clearInterval(keeper);
      // What is begun soon after a start would never be done by a service that lives short.
      const late = setTimeout(() => kept.abort(), UPKEEP_GRACE_MS);
      await keeping;
      clearTimeout(late);
      await importer.close();
      await Promise.all([worker.stop(graceMs), shared?.stop()]);
      await opened.close();
      // A database that others use as well is looked after while it runs.
      if (!context.engine.isShared) await giveBackSpace(context);
      await context.engine.close();
      store.close();
    },
  };
}

interface OpenStore {
  readonly objects: ObjectStore;
  readonly folder?: FolderStore;
  close(): void;
}

/** Whether both are there still, and not expired. */
async function isHeld({ meta, env }: Context, { fileId, tokenId }: KeyHolder): Promise<boolean> {
  const isOver = (expires: string | null): boolean => expires !== null && Date.parse(expires) <= env.now();
  const [file, token] = [await findFile(meta, fileId), await findToken(meta, tokenId)];
  return file !== undefined && token !== undefined && !isOver(file.expires) && !isOver(token.expires);
}

async function openStore(
  context: Context,
  options: ServiceOptions,
  publicUrl: () => string | undefined,
): Promise<OpenStore> {
  const { dir, env, log } = context;
  if (options.objects !== undefined) {
    const { createExternalStore } = await import('./objects/external-store.ts');
    const objects = await createExternalStore({ ...options.objects, env });
    return { objects, close: () => objects.close() };
  }
  const folder = createFolderStore({
    directory: join(dir, 'objects'),
    secret: await loadSecret(join(dir, 'objects.secret'), env),
    endpoint: () => publicUrl() ?? 'http://127.0.0.1',
    env,
    log,
    region: options.region ?? 'us-east-1',
    maxUploadBytes: MAX_UPLOAD_BYTES,
    isHeld: async (holder) => await isHeld(context, holder),
  });
  await folder.open();
  return { objects: folder, folder, close: () => undefined };
}

/** A service that is restarted often would not live until the next sweep. */
async function giveBackSpace({ engine, log }: DataContext): Promise<void> {
  await engine
    .compact()
    .catch((error: unknown) => log.error('Space could not be given back', { detail: String(error) }));
}

async function keepUp(context: DataContext, keepDays: number, signal: AbortSignal): Promise<void> {
  try {
    await upkeep(context, { keepDays, signal });
  } catch (error) {
    context.log.error('What is over could not be removed', { detail: String(error) });
  }
}
