import type { Context } from '../../domain/context.ts';
import type { Route } from '../route.ts';
import { branchRoutes } from './branches.ts';
import { configurationRowRoutes } from './configuration-rows.ts';
import { configurationVersionRoutes } from './configuration-versions.ts';
import { configurationRoutes } from './configurations.ts';
import { eventRoutes } from './events.ts';
import { indexRoutes, type NamedService } from './index.ts';
import { jobRoutes } from './jobs.ts';
import { metadataRoutes } from './metadata.ts';
import { miscRoutes } from './misc.ts';
import { runRoutes } from './runs.ts';
import { scheduleRoutes } from './schedules.ts';
import { searchRoutes } from './search.ts';
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
    ...runRoutes(context),
    ...scheduleRoutes(context),
    ...triggerRoutes(context),
    ...searchRoutes(context),
    ...miscRoutes(context),
  ];
}
