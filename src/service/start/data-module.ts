import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataApi } from './api-module.ts';
import type { HttpContext } from '../http/http-context.ts';
import type { DataContext } from '../domain/data-context.ts';
import { openStore, type OpenStore } from './open-object-store.ts';
import { dataWork } from './worker-module.ts';
import { createSnapshots } from '../domain/transfer/backup/snapshot.ts';
import { hasRole, type Part, type ServiceOptions } from './service-options.ts';
import { folderRoutes } from '../http/routes/folder.ts';
import type { TableEngine } from '../stores/tables/engine.ts';
import { hasEpoch } from '../stores/tables/folder-epoch.ts';
import { serviceEngine } from '../stores/tables/open-engine.ts';
import { trimEnd } from '../../lib/trim.ts';

/**
 * Makes the part for files, buckets, tables and jobs: their API and their worker, as far as the roles of this process
 * need them.
 */
export async function dataPart(base: HttpContext, options: ServiceOptions): Promise<Part> {
  const isApi = hasRole(options, 'api');
  const isWorker = hasRole(options, 'worker');
  if (!isApi && !isWorker) return {};
  const place = { api: base.publicUrl, s3: options.s3PublicUrl && trimEnd(options.s3PublicUrl, '/') };
  const store = await openStore(base, options, () => place.s3);
  const tables = serviceEngine(base);
  await openUsedTables(base, tables.engine);
  const context: DataContext & HttpContext = {
    ...base,
    objects: store.objects,
    engine: tables.engine,
    origin: () => place.api ?? '',
  };
  const { dir, database, env } = base;
  // A copy of a folder has everything that is in it; databases are copied by their own programs.
  const hasSnapshots = isApi && dir !== undefined && database === undefined;
  const parts: Part[] = [
    ...(isApi ? [await dataApi(context, { store, place, options })] : []),
    ...(hasSnapshots
      ? [{ routes: folderRoutes(createSnapshots(dir, async () => await tables.ofFolder(), env)) }]
      : []),
    ...(isWorker ? [dataWork(context, options)] : []),
  ];
  return {
    checks: [
      // Configurations, metadata and runs are served without it; a worker can do nothing without it.
      { name: 'object store', isBearable: isApi, check: async () => await store.objects.ready() },
    ],
    routes: parts.flatMap(({ routes = [] }) => routes),
    services: parts.flatMap(({ services = [] }) => services),
    async start(apiUrl) {
      const addresses: Record<string, string> = {};
      for (const part of parts) Object.assign(addresses, await part.start?.(apiUrl));
      return addresses;
    },
    drain: async () => void (await Promise.all(parts.map(async (part) => await part.drain?.()))),
    async stop() {
      for (const part of parts) await part.stop?.();
      await close(context, store);
    },
  };
}

/**
 * Opens the tables of a folder that has some, so that a start finds those that are damaged or not of the time of the
 * metadata.
 */
async function openUsedTables({ dir, database, meta }: HttpContext, engine: TableEngine): Promise<void> {
  if (dir === undefined || database !== undefined) return;
  if (existsSync(join(dir, 'tables', 'tables.duckdb')) || (await hasEpoch(meta))) await engine.open();
}

async function close({ engine, log }: DataContext, store: OpenStore): Promise<void> {
  // A service that is restarted often would not run until the next cleanup. A database that others use as well is
  // maintained while it runs.
  if (!engine.isShared)
    await engine
      .compact()
      .catch((error: unknown) => log.error('Database compaction failed', { detail: String(error) }));
  await engine.close();
  store.close();
}
