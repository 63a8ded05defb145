import { builderRoutes, type BuilderOptions } from '../http/routes/builder.ts';
import { hasRole, type MakePart } from './service-options.ts';

/** Makes the part of the service for building sources: it probes APIs and tries configurations out. */
export function workshopPart(options: BuilderOptions): MakePart {
  return (context, service) => {
    if (!hasRole(service, 'api')) return {};
    const builder = builderRoutes(context, options);
    return { routes: builder.routes, drain: builder.stop };
  };
}
