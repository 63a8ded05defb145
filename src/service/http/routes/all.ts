import type { Context } from '../../domain/context.ts';
import type { DataContext } from '../../domain/data-context.ts';
import type { Route } from '../route.ts';
import { branchDeletionRoutes, branchRoutes } from './branches.ts';
import { bucketRoutes } from './buckets.ts';
import { changeRoutes } from './changes.ts';
import { configurationRowRoutes } from './configuration-rows.ts';
import { configurationVersionRoutes } from './configuration-versions.ts';
import { configurationRoutes } from './configurations.ts';
import { eventRoutes } from './events.ts';
import { fileRoutes } from './files.ts';
import { importerRoutes } from './importer.ts';
import { indexRoutes, type NamedService } from './index.ts';
import { jobControlRoutes } from './job-control.ts';
import { jobRoutes } from './jobs.ts';
import { lineageRoutes } from './lineage.ts';
import { metadataRoutes } from './metadata.ts';
import { miscRoutes } from './misc.ts';
import { rowOriginRoutes } from './row-origin.ts';
import { runRecordRoutes } from './run-records.ts';
import { alertRoutes } from './alerts.ts';
import { runRoutes } from './runs.ts';
import { scheduleRoutes } from './schedules.ts';
import { searchRoutes } from './search.ts';
import { tableAliasRoutes } from './table-aliases.ts';
import { tableExportRoutes } from './table-export.ts';
import { tableImportRoutes } from './table-import.ts';
import { tableProfileRoutes } from './table-profile.ts';
import { tableStructureRoutes } from './table-structure.ts';
import { tableRoutes } from './tables.ts';
import { orphanRoutes } from './orphans.ts';
import { tableVersionRoutes } from './table-versions.ts';
import { tokenRoutes } from './tokens.ts';
import { triggerRoutes } from './triggers.ts';

/** Makes the routes that need nothing but the metadata. */
export function coreRoutes(context: Context, services: readonly NamedService[]): Route[] {
  return [
    ...indexRoutes(context, services),
    ...tokenRoutes(context),
    ...branchRoutes(context),
    ...configurationRoutes(context),
    ...configurationRowRoutes(context),
    ...configurationVersionRoutes(context),
    ...metadataRoutes(context),
    ...jobRoutes(context),
    ...eventRoutes(context),
    ...alertRoutes(context),
    ...changeRoutes(context),
    ...lineageRoutes(context),
    ...runRoutes(context),
    ...scheduleRoutes(context),
    ...triggerRoutes(context),
    ...searchRoutes(context),
    ...miscRoutes(context),
  ];
}

/** Makes the routes of files, buckets, tables and jobs, and the importer. */
export function dataRoutes(context: DataContext): Route[] {
  return [
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
    ...tableVersionRoutes(context),
    ...orphanRoutes(context),
    ...jobControlRoutes(context),
    ...runRecordRoutes(context),
    ...rowOriginRoutes(context),
  ];
}
