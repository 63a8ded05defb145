import { dataApi } from './data-api.ts';
import type { Context } from './context.ts';
import type { DataContext } from './data-context.ts';
import { openStore, type OpenStore } from './data-store.ts';
import { dataWork } from './data-work.ts';
import { createSnapshots } from './folder/snapshot.ts';
import { hasRole, type Part, type ServiceOptions } from './part.ts';
import { folderRoutes } from './routes/folder.ts';
import { serviceEngine } from './tables/service-engine.ts';
import { trimEnd } from '../../trim.ts';

/** Files, buckets, tables and jobs: what answers for them and what works on them, as far as this process does so. */
export async function dataPart(base: Context, options: ServiceOptions): Promise<Part> {
  const isApi = hasRole(options, 'api');
  const isWorker = hasRole(options, 'worker');
  if (!isApi && !isWorker) return {};
  const place = { api: base.publicUrl, s3: options.s3PublicUrl && trimEnd(options.s3PublicUrl, '/') };
  const store = await openStore(base, options, () => place.s3);
  const tables = serviceEngine(base);
  const context: DataContext = {
    ...base,
    objects: store.objects,
    engine: tables.engine,
    origin: () => place.api ?? '',
  };
  const { dir, database, env } = base;
  // A copy of a folder has all that is in it; what is in a database is copied by its own programs.
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
      // Configurations, metadata and runs are served without it; a worker does nothing without it.
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

async function close({ engine, log }: DataContext, store: OpenStore): Promise<void> {
  // A service that is restarted often would not live until the next sweep. A database that others use as well is looked
  // after while it runs.
  if (!engine.isShared)
    await engine
      .compact()
      .catch((error: unknown) => log.error('Space could not be given back', { detail: String(error) }));
  await engine.close();
  store.close();
}
