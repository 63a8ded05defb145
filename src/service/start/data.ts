import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { trimEnd } from '../../lib/trim.ts';
import type { DataContext } from '../domain/data-context.ts';
import { OPERATIONS } from '../domain/jobs/operations/all.ts';
import { createWorker } from '../domain/jobs/worker.ts';
import { createAlerter } from '../domain/alerts/alerter.ts';
import { createMailer } from '../domain/alerts/mail.ts';
import type { MessageWays } from '../domain/alerts/send.ts';
import { createCleanup, createKeeper } from '../domain/maintenance/keeper.ts';
import { createTableQueries } from '../domain/table-queries.ts';
import { createSnapshots } from '../domain/transfer/backup/snapshot.ts';
import { createApp } from '../http/app.ts';
import { boundConnections } from '../http/connections.ts';
import type { HttpContext } from '../http/http-context.ts';
import { dataRoutes } from '../http/routes/all.ts';
import { folderRoutes } from '../http/routes/folder.ts';
import { importerRoutes } from '../http/routes/importer.ts';
import { sqlRoutes } from '../http/routes/sql.ts';
import { closeServer, listenOn } from '../platform/connections/listening.ts';
import { createS3Server } from '../stores/objects/s3/server.ts';
import type { TableEngine } from '../stores/tables/engine.ts';
import { hasEpoch } from '../stores/tables/folder-epoch.ts';
import { extensionsFolder, tablesKind, type TablesKind } from '../stores/tables/kind.ts';
import { serviceEngine, type LakeAccess } from '../stores/tables/open-engine.ts';
import type { ObjectStore } from '../stores/objects/store.ts';
import { openStore } from './open-object-store.ts';
import { GRACE_MS, hasRole, type Part, type ServiceOptions } from './service-options.ts';

/**
 * Makes the part for files, buckets, tables and jobs: their API and their worker, as far as the roles of this process
 * need them.
 */
export async function dataPart(base: HttpContext, options: ServiceOptions): Promise<Part> {
  const isApi = hasRole(options, 'api');
  const isWorker = hasRole(options, 'worker');
  if (!isApi && !isWorker) return {};
  const { dir, database, env, log } = base;
  const { host = '127.0.0.1', graceMs = GRACE_MS, keepDays, concurrency } = options;

  // The addresses under which clients reach this process are known when it listens.
  let ownUrl = base.publicUrl;
  let s3Url = options.s3PublicUrl && trimEnd(options.s3PublicUrl, '/');
  const store = await openStore(base, options, () => s3Url);
  const { objects } = store;
  const kind = await tablesKind(base.meta);
  const tables = serviceEngine({ ...base, lake: lakeAccess(options, objects) });
  const { engine } = tables;
  await openUsedTables(base, engine, kind);
  const context: DataContext & HttpContext = { ...base, objects, engine, origin: () => ownUrl ?? '' };

  const importer = isApi ? await createApp(context, importerRoutes(context)) : undefined;
  const s3 = isApi && store.folder !== undefined ? createS3Server(store.folder.handler) : undefined;
  if (s3 !== undefined) boundConnections(s3, base.admission);
  // A copy of a folder has everything that is in it; databases are copied by their own programs.
  const hasSnapshots = isApi && dir !== undefined && database === undefined;

  const queries = createTableQueries(context, options.queryLimits);

  const work = { operations: OPERATIONS, ...(concurrency === undefined ? {} : { concurrency }) };
  const worker = isWorker ? createWorker(() => context, work) : undefined;
  // A command that uses the folder for a moment leaves alerts to the service.
  const alerts = options.isEmbedded === true ? [] : [createAlerter(context, waysOf(options))];
  const keeper = isWorker ? createKeeper(context, [createCleanup(context, keepDays), ...alerts]) : undefined;

  return {
    checks: [
      // Configurations, metadata and runs are served without it; a worker can do nothing without it.
      { name: 'object store', isBearable: isApi, check: async () => await objects.ready() },
    ],
    routes: [
      ...(isApi ? [...dataRoutes(context), ...sqlRoutes(queries)] : []),
      ...(hasSnapshots ? folderRoutes(createSnapshots(dir, async () => await tables.ofFolder(), env)) : []),
    ],
    // The importer is below the API's own address as well, which clients certainly reach.
    services: isApi
      ? [
          { id: 'import', url: '' },
          { id: 's3', url: () => objects.endpoint },
        ]
      : [],
    async start(apiUrl) {
      ownUrl ??= apiUrl;
      const addresses: Record<string, string> = {};
      if (s3 !== undefined) {
        addresses['s3'] = await listenOn(s3, { host, port: options.s3Port ?? 0 });
        s3Url ??= addresses['s3'];
      }
      await importer?.ready();
      if (importer !== undefined && options.isEmbedded !== true)
        addresses['importer'] = await listenOn(importer.server, { host, port: options.importerPort ?? 0 });
      await worker?.start();
      await keeper?.start();
      return addresses;
    },
    async drain() {
      const servers = [importer?.server, s3].filter((server) => server !== undefined);
      await Promise.all(servers.map((server) => closeServer(server, graceMs)));
    },
    async stop() {
      await importer?.close();
      await queries.stop();
      await Promise.all([worker?.stop(graceMs), keeper?.stop()]);
      // A service that is restarted often would not run until the next cleanup. A database that others use as well is
      // maintained while it runs.
      if (!engine.isShared)
        await engine
          .compact()
          .catch((error: unknown) => log.error('Database compaction failed', { detail: String(error) }));
      await engine.close();
      store.close();
    },
  };
}

const waysOf = ({ reach, mail }: ServiceOptions): MessageWays => ({
  reach,
  mail: mail && createMailer(mail),
});

function lakeAccess(
  { objects: given, database, duckdbExtensions, environment = process.env }: ServiceOptions,
  objects: ObjectStore,
): LakeAccess {
  return {
    extensions: extensionsFolder(environment, duckdbExtensions),
    shared: given && database && { url: database.url, objects: given, root: objects.root },
  };
}

/**
 * Opens the tables of a folder that has some, so that a start finds those that are damaged or not of the time of the
 * metadata.
 */
async function openUsedTables(
  { dir, database, meta }: HttpContext,
  engine: TableEngine,
  kind: TablesKind,
): Promise<void> {
  // Extensions that this machine has not are told at the start as well.
  if (kind === 'lake') return await engine.open();
  if (dir === undefined || database !== undefined) return;
  if (existsSync(join(dir, 'tables', 'tables.duckdb')) || (await hasEpoch(meta))) await engine.open();
}
