import type { DataContext } from '../domain/data-context.ts';
import type { HttpContext } from '../http/http-context.ts';
import type { OpenStore } from './open-object-store.ts';
import { createApp } from '../http/app.ts';
import { boundConnections } from '../http/connections.ts';
import { closeServer, listenOn } from '../platform/connections/listening.ts';
import { createS3Server } from '../stores/objects/s3/server.ts';
import { GRACE_MS, type Part, type ServiceOptions } from './service-options.ts';
import { branchDeletionRoutes } from '../http/routes/branches.ts';
import { bucketRoutes } from '../http/routes/buckets.ts';
import { fileRoutes } from '../http/routes/files.ts';
import { importerRoutes } from '../http/routes/importer.ts';
import { jobControlRoutes } from '../http/routes/job-control.ts';
import { runRecordRoutes } from '../http/routes/run-records.ts';
import { tableAliasRoutes } from '../http/routes/table-aliases.ts';
import { tableExportRoutes } from '../http/routes/table-export.ts';
import { tableProfileRoutes } from '../http/routes/table-profile.ts';
import { tableImportRoutes } from '../http/routes/table-import.ts';
import { tableStructureRoutes } from '../http/routes/table-structure.ts';
import { tableRoutes } from '../http/routes/tables.ts';

/** Addresses under which clients reach this process; known when it listens. */
interface Place {
  api: string | undefined;
  s3: string | undefined;
}

/** Makes the routes of files, buckets, tables and jobs, the importer, and the S3 endpoint of a folder. */
export async function dataApi(
  context: DataContext & HttpContext,
  {
    store,
    place,
    options,
  }: { readonly store: OpenStore; readonly place: Place; readonly options: ServiceOptions },
): Promise<Part> {
  const { host = '127.0.0.1', graceMs = GRACE_MS } = options;
  const importer = await createApp(context, importerRoutes(context));
  const s3 = store.folder === undefined ? undefined : createS3Server(store.folder.handler);
  if (s3 !== undefined) boundConnections(s3, context.admission);
  return {
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
      ...tableProfileRoutes(context),
      ...jobControlRoutes(context),
      ...runRecordRoutes(context),
    ],
    // The importer is below the API's own address as well, which clients certainly reach.
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
      return addresses;
    },
    async drain() {
      const servers = [importer.server, ...(s3 === undefined ? [] : [s3])];
      await Promise.all(servers.map((server) => closeServer(server, graceMs)));
    },
    stop: async () => await importer.close(),
  };
}
