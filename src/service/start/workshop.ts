import { createDesk, type DeskOptions } from '../domain/builder/desk.ts';
import { consoleLoginRoutes } from '../http/console/login-routes.ts';
import { builderRoutes } from '../http/routes/builder.ts';
import { loginRoutes } from '../http/routes/logins.ts';
import { hasRole, type MakePart } from './service-options.ts';

/**
 * Makes the part of the service for building sources: it probes APIs, tries configurations out, and logs persons in to
 * APIs.
 */
export function workshopPart(options: DeskOptions): MakePart {
  return (context, service) => {
    if (!hasRole(service, 'api')) return {};
    const desk = createDesk(options);
    const builder = builderRoutes(context, desk);
    return {
      routes: [...builder.routes, ...loginRoutes(context, desk), ...consoleLoginRoutes(context, desk)],
      drain: async () => {
        builder.stop();
        desk.stop();
        await Promise.resolve();
      },
    };
  };
}
