import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { systemEnv, type Env } from '../../lib/env.ts';
import { RunError } from '../../lib/errors.ts';
import { silentLog, type Log } from '../../lib/log.ts';
import {
  agreeOnFiles,
  agreeOnKeys,
  databaseSecret,
  ownerOf,
  placeName,
  requireSharedKeys,
} from '../domain/storage-identity.ts';
import { createCare, type Care } from './health.ts';
import { lookForRecovery } from '../domain/maintenance/recovery.ts';
import { correlated } from '../platform/health/correlation.ts';
import type { SharedClock } from '../stores/metadata/shared-clock.ts';
import { consoleRoutes } from '../http/console/routes.ts';
import { createApp } from '../http/app.ts';
import { builtInComponents } from '../domain/catalogue/built-in.ts';
import { createCatalogue } from '../domain/catalogue/catalogue.ts';
import { readComponents } from '../domain/catalogue/folder.ts';
import type { HttpContext } from '../http/http-context.ts';
import {
  connectionsOf,
  openDatabase,
  type Database,
  type DatabaseOptions,
} from '../platform/database/database.ts';
import { createObserver } from '../domain/events/observer.ts';
import { injectFetch } from '../http/inject.ts';
import { addressOf, closeServer } from '../platform/connections/listening.ts';
import { tokenOfCommands } from '../stores/folder/local-token.ts';
import { lockFolder, type FolderLock } from '../stores/folder/lock.ts';
import { claimFolder, refuseLostMetadata, refuseUsedFolder } from '../stores/folder/metadata-place.ts';
import { closeFolder } from '../stores/folder/private.ts';
import { createCode } from '../stores/metadata/console-sessions.ts';
import { openMeta, reclaimSpace, type Meta } from '../stores/metadata/database.ts';
import { createMasterToken, firstMasterToken, hasProject, openProject } from '../stores/metadata/projects.ts';
import { findTokenBySecret } from '../stores/metadata/tokens.ts';
import { refuseUnfinished } from '../domain/transfer/steps.ts';
import type { ObjectStore } from '../stores/objects/store.ts';
import { requireOperations } from '../domain/jobs/operations/all.ts';
import { openQueue } from '../stores/queue/open.ts';
import { agreeOnTables, extensionsFolder, tryTables } from '../stores/tables/kind.ts';
import { dataPart } from './data.ts';
import { claimObjects } from './open-object-store.ts';
import { GRACE_MS, hasRole, ROLES, type Part, type ServiceOptions } from './service-options.ts';
import { coreRoutes } from '../http/routes/all.ts';
import { trimEnd } from '../../lib/trim.ts';

export { ROLES, type MakePart, type Part, type Role, type ServiceOptions } from './service-options.ts';

export interface Addresses {
  /**
   * Address of the API, such as `http://127.0.0.1:8080`; of an embedded service, the address to call its `fetch`
   * with; empty for a process without the role `api`.
   */
  readonly url: string;
  /** Addresses of the parts, by name, such as `s3`. */
  readonly parts: Readonly<Record<string, string>>;
  /** First master token; only from the first start over a folder, and never again. */
  readonly masterToken?: string;
}

export interface Service {
  /** Starts the service. @throws {RunError} `run.locked` when another process holds the folder */
  start(): Promise<Addresses>;
  /** Answers the requests at work, stops the parts, releases the folder. May be called again. */
  stop(): Promise<void>;
  /** Makes a further master token, in case the first is lost; the service must have been started. */
  newToken(): Promise<string>;
  /**
   * Makes a code by which a browser may sign in to the console with a token, once; the service must have been
   * started.
   *
   * @throws {Error} for a text that is no token of this service
   */
  newCode(token: string): Promise<string>;
  /** Returns the token of commands that use the database themselves; the service must have been started. */
  commandToken(): Promise<string>;
  /** Answers a request to the API without the network, whatever its host is; the service must have been started. */
  readonly fetch: typeof fetch;
}

/** Parts and resources that a process has opened so far. */
interface Running {
  readonly care: Care;
  readonly parts: Part[];
  /** Ends what was opened, the last first. */
  readonly stops: (() => Promise<void>)[];
  meta?: Meta;
  app?: FastifyInstance;
  stopped?: Promise<void>;
}

/** The storage and configuration service: one process over one folder, or one of several over a database. */
export function createService(options: ServiceOptions): Service {
  const env = options.env ?? systemEnv;
  let running: Running | undefined;
  return {
    async start() {
      if (running !== undefined) throw new Error('The service has been started already.');
      checkPlace(options);
      if (options.dir === undefined) requireSharedKeys(options);
      const lock = options.dir === undefined ? undefined : await lockFolder(options.dir, env.now());
      const log = correlated(options.log ?? silentLog);
      if (options.dir !== undefined) closeFolder(options.dir, log);
      const care = await createCare(options, env, log);
      // The probes last: until then they see that the service is stopping, not that it is gone.
      const stops = [async () => await care.close(), async () => await lock?.release()];
      const starting: Running = { care, parts: [], stops };
      running = starting;
      try {
        const health = await care.listen();
        const { url, parts, ...token } = await open(starting, options, { own: env, log, lock });
        care.readiness.started();
        return { url, parts: health === undefined ? parts : { ...parts, health }, ...token };
      } catch (error) {
        await stopAll(starting, options);
        running = undefined;
        throw error;
      }
    },
    async stop() {
      const stopping = running;
      if (stopping === undefined) return;
      stopping.stopped ??= (async () => {
        stopping.care.readiness.stop();
        if (options.drainMs !== undefined) await env.sleep(options.drainMs);
        running = undefined;
        await stopAll(stopping, options);
      })();
      await stopping.stopped;
    },
    async newToken() {
      if (running?.meta === undefined) throw new Error('The service has not been started.');
      return await createMasterToken(running.meta, env);
    },
    async newCode(token) {
      if (running?.meta === undefined) throw new Error('The service has not been started.');
      const row = await findTokenBySecret(running.meta, token);
      if (row === undefined) throw new Error('There is no such token.');
      return await createCode(running.meta, env, row);
    },
    async commandToken() {
      if (running?.meta === undefined) throw new Error('The service has not been started.');
      return await tokenOfCommands(running.meta, env, await databaseSecret(running.meta, env));
    },
    async fetch(input, init) {
      if (running?.app === undefined) throw new Error('The service has not been started.');
      return await injectFetch(running.app, new Request(input, init));
    },
  };
}

/** Makes a further master token for a folder or a database, also while a service runs over it. */
export async function newMasterToken(
  place: DatabaseOptions | string,
  env: Env = systemEnv,
  log: Log = silentLog,
): Promise<string> {
  if (typeof place === 'string') {
    refuseLostMetadata(place);
    return await masterTokenOf(join(place, 'meta.sqlite'), env);
  }
  const database = await openDatabase(place, log);
  try {
    return await masterTokenOf(database, env);
  } finally {
    await database.close();
  }
}

async function masterTokenOf(place: Database | string, env: Env): Promise<string> {
  const meta = await openMeta(place);
  try {
    await openProject(meta, env, { name: DEFAULT_NAME, region: DEFAULT_REGION });
    return await createMasterToken(meta, env);
  } finally {
    await meta.destroy();
  }
}

const DEFAULT_NAME = 'My project';
const DEFAULT_REGION = 'us-east-1';

/** Opens the storage and starts what the roles of this process need, from the database up to the API. */
async function open(
  running: Running,
  options: ServiceOptions,
  { own, log, lock }: { readonly own: Env; readonly log: Log; readonly lock: FolderLock | undefined },
): Promise<Addresses> {
  const { care, parts, stops } = running;
  const { metrics, admission, readiness } = care;
  const { dir, isEmbedded = false } = options;

  // The metadata, in the folder or in a database that several processes share.
  if (dir !== undefined) await claimFolder(dir, options.database !== undefined);
  const database = options.database && (await openDatabase(options.database, log));
  stops.push(async () => await database?.close());
  const meta = await openMeta(database ?? join(dir ?? '', 'meta.sqlite'));
  running.meta = meta;
  stops.push(async () => await meta.destroy());
  await refuseUnfinished(meta);
  if (hasRole(options, 'api') || hasRole(options, 'worker')) {
    const { environment = process.env, duckdbExtensions } = options;
    await tryTables(meta, options.tables, extensionsFolder(environment, duckdbExtensions));
  }

  // The clock that all processes share: expiry and the deletion of old data depend on it.
  const clock = database && (await shareClock(meta, own, log));
  const env = clock?.env ?? own;
  if (clock !== undefined) readiness.add([clock.check]);
  stops.push(
    async () => await Promise.resolve(clock?.close()),
    async () => await reclaim(meta),
  );

  // Which storage it is: its files, its bucket, its project and its keys belong together.
  if (database !== undefined) {
    if (dir !== undefined && options.objects === undefined && !(await hasProject(meta)))
      refuseUsedFolder(dir);
    await agreeOnFiles(meta, options, env);
  }
  const place = placeName(database ?? dir ?? '');
  const objects = options.objects && { ...options.objects, owner: await ownerOf(meta, place, env) };
  const lookBack = async (store?: ObjectStore): Promise<void> => {
    if (database !== undefined) await lookForRecovery(meta, store, log);
  };
  if (objects === undefined) await lookBack();
  else await claimObjects(objects, { env, log, takesOver: options.takesOver === true }, lookBack);
  await agreeOnTables(meta, options.tables);
  care.watch(meta, env, database && (() => connectionsOf(database)));
  const named = { name: options.projectName ?? DEFAULT_NAME, region: options.region ?? DEFAULT_REGION };
  const project = await openProject(meta, env, named);
  const observer = createObserver(meta, env, log);
  stops.push(async () => await observer.flush());
  const context: HttpContext = {
    dir,
    meta,
    database,
    keys: await agreeOnKeys(meta, options, env, log),
    project,
    catalogue: createCatalogue([
      ...builtInComponents(options.extractorSchema ?? {}),
      ...(options.componentsDir === undefined ? [] : await readComponents(options.componentsDir)),
    ]),
    env,
    log,
    observer,
    queue: await openQueue(meta, env, log),
    metrics,
    admission,
    readiness,
    publicUrl: options.publicUrl && trimEnd(options.publicUrl, '/'),
  };

  // The work of the process: tables and files, runs, the building of sources.
  for (const make of options.parts ?? [dataPart]) {
    const part = await make(context, { ...options, ...(objects && { objects }) });
    parts.push(part);
    stops.push(async () => await part.stop?.());
  }
  readiness.add(parts.flatMap(({ checks = [] }) => checks));

  // The API.
  let url = '';
  if (hasRole(options, 'api')) {
    const services = parts.flatMap((part) => part.services ?? []);
    const routes = [
      ...coreRoutes(context, services),
      ...parts.flatMap((part) => part.routes ?? []),
      ...consoleRoutes(context, {
        roles: options.roles ?? ROLES,
        // Another process may do them.
        runs: parts.some(({ doesRuns }) => doesRuns === true) || dir === undefined,
      }),
    ];
    requireOperations(routes.flatMap(({ enqueues = [] }) => enqueues));
    const app = await createApp(context, routes, care.probes);
    running.app = app;
    stops.push(async () => await app.close());
    url = isEmbedded ? await withoutNetwork(app) : await listen(app, options);
  }
  const addresses: Record<string, string> = {};
  for (const part of parts) Object.assign(addresses, await part.start?.(url));
  if (url === '' || isEmbedded) return { url, parts: addresses };
  await lock?.announce(url, { isInDatabase: database !== undefined });
  // Last, so that a start that fails does not make a token that nobody sees.
  const masterToken = await firstMasterToken(meta, env);
  return { url, parts: addresses, ...(masterToken === undefined ? {} : { masterToken }) };
}

/** Loaded where it is needed only. */
async function shareClock(meta: Meta, own: Env, log: Log): Promise<SharedClock> {
  const module = await import('../stores/metadata/shared-clock.ts');
  return await module.shareClock(meta, own, log);
}

/**
 * Checks that the options name either a folder for one process, or a database and an object store for several.
 *
 * @throws {RunError} `command.invalid` when something is missing for the options given
 */
function checkPlace({ dir, database, objects, isWhollyInDatabase, roles = ROLES }: ServiceOptions): void {
  const isShared = database !== undefined && (objects !== undefined || isWhollyInDatabase === true);
  if (dir === undefined && !isShared)
    throw new RunError('command.invalid', 'The service has no folder for its files.', {
      hint: 'Name one, or a PostgreSQL database and an object store.',
    });
  const isWhole = ROLES.every((role) => hasRole({ roles }, role));
  if (isWhole || (dir === undefined && isShared)) return;
  throw new RunError(
    'command.invalid',
    'A process with a part of the roles has no one to share the work with.',
    {
      hint: 'Several processes share a database and an object store: --database and --s3.',
    },
  );
}

/** Returns the address for requests to `fetch`, without listening on the network. */
async function withoutNetwork(app: FastifyInstance): Promise<string> {
  await app.ready();
  return 'http://storage.invalid';
}

async function listen(app: FastifyInstance, options: ServiceOptions): Promise<string> {
  const host = options.host ?? '127.0.0.1';
  await app.listen({ host, port: options.port ?? 0 });
  return addressOf(app.server, host);
}

/**
 * Milliseconds for giving back space. A service that is restarted often does it at these times only; but nobody
 * should wait long for it.
 */
const RECLAIM_MS = 2000;

async function reclaim(meta: Meta): Promise<void> {
  const begin = performance.now();
  while ((await reclaimSpace(meta)) > 0 && performance.now() - begin < RECLAIM_MS);
}

async function stopAll(
  { app, care, parts, stops }: Running,
  { graceMs = GRACE_MS }: ServiceOptions,
): Promise<void> {
  const drain = async (): Promise<void> => {
    // All at once, as they share the time; an upload that is half sent might never end.
    const closing = app === undefined ? [] : [closeServer(app.server, graceMs)];
    const hurry = setTimeout(() => care.readiness.hurry(), graceMs / 2);
    await Promise.all([...closing, ...parts.map(async (part) => await part.drain?.())]);
    clearTimeout(hurry);
    care.readiness.hurry();
  };
  const failures: unknown[] = [];
  for (const step of [drain, ...stops.toReversed()])
    await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
