import type { Env } from '../../lib/env.ts';
import type { Json } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import type { Check } from '../platform/health/readiness.ts';
import type { HttpContext } from '../http/http-context.ts';
import type { DatabaseOptions } from '../platform/database/database.ts';
import type { ExternalStoreOptions } from '../stores/objects/external-store.ts';
import type { Route } from '../http/route.ts';
import type { NamedService } from '../http/routes/index.ts';

/** What a process does: it answers requests, does the jobs of the storage, or runs configurations. */
export const ROLES = ['api', 'worker', 'runner'] as const;
export type Role = (typeof ROLES)[number];

export const hasRole = ({ roles = ROLES }: Pick<ServiceOptions, 'roles'>, role: Role): boolean =>
  roles.includes(role);

export interface ServiceOptions {
  /**
   * Folder that everything is kept in; it is made when it isn't there. One process has it for itself. With `database`
   * and `objects` there is none, and any number of processes may do the same.
   */
  readonly dir?: string;
  /** Default: all. Less than all needs `database` and `objects`. */
  readonly roles?: readonly Role[];
  /** Address to listen on; default `127.0.0.1`, so that only this machine reaches it. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Address under which clients reach the API, such as `https://storage.example.com`; default: as they called it. */
  readonly publicUrl?: string;
  /** Address under which clients reach the object store; default: where it listens. */
  readonly s3PublicUrl?: string;
  /** Name of the project that the first start makes; default `My project`. */
  readonly projectName?: string;
  /** Default `us-east-1`. */
  readonly region?: string;
  /** The extractor's `configurationSchema` in the catalogue. */
  readonly extractorSchema?: Json;
  /** Folder of further components of the catalogue, as JSON files. */
  readonly componentsDir?: string;
  /** Port of the object store; default 0: any free one. */
  readonly s3Port?: number;
  /** Port of the importer alone; it is below the API's own address as well. Default 0: any free one. */
  readonly importerPort?: number;
  /** A PostgreSQL database for the metadata instead of the folder: several processes may work on it. */
  readonly database?: DatabaseOptions;
  /** An outside object store instead of the folder. */
  readonly objects?: Omit<ExternalStoreOptions, 'env'>;
  /** Its bucket may be that of another database with the same storage, which is gone: it is this one's from now on. */
  readonly takesOver?: boolean;
  /** How long running requests and jobs may go on when the service stops; default 8 seconds each. */
  readonly graceMs?: number;
  /** How long it goes on with `/ready` at 503 before it stops, so that a proxy sends nothing more; default 0. */
  readonly drainMs?: number;
  /** Port of the probes alone (`/health`, `/ready`, `/metrics`), which are asked without a token; default: none. */
  readonly healthPort?: number;
  /** Address to listen on for them; default `127.0.0.1`. */
  readonly healthHost?: string;
  /** Requests a minute of each token, and of each address without one; default: no limit. */
  readonly requestsPerMinute?: number;
  /** Requests that are answered at the same time; more get 503. Default 500. */
  readonly maxRequests?: number;
  /** Bytes of bodies in memory at the same time; requests with more get 503. Default 192 MB, half of it for one token. */
  readonly maxHeldBytes?: number;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed; default: none. */
  readonly trustedProxies?: readonly string[];
  /** Days that finished jobs, runs and events are kept; default 90. */
  readonly keepDays?: number;
  /** Jobs at a time; default 4. */
  readonly concurrency?: number;
  /** The parts of the service, started in this order, stopped in the other; default: files, tables and jobs. */
  readonly parts?: readonly MakePart[];
  /**
   * For a command that uses the folder itself: the API is reached by `fetch` alone, nothing is announced to others, and
   * the first master token is left for the first start that shows it. Default: false.
   */
  readonly isEmbedded?: boolean;
  /** Where `GEX_ENCRYPTION_KEY` and `GEX_ENCRYPTION_KEY_FILE` are looked up; default: those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly env?: Env;
  readonly log?: Log;
}

/** Default of `graceMs`. */
export const GRACE_MS = 8000;

/** Makes a part of the service when the metadata is open and before anything listens. */
export type MakePart = (context: HttpContext, options: ServiceOptions) => Part | Promise<Part>;

/** Something that lives as long as the service: routes, listeners, workers. */
export interface Part {
  readonly routes?: readonly Route[];
  /** Services that the index names; a `url` that starts with `/` is below the API's own address. */
  readonly services?: readonly NamedService[];
  /** True when it does runs of configurations. Default: false. */
  readonly doesRuns?: boolean;
  /** What it cannot work without. */
  readonly checks?: readonly Check[];
  /** Runs when the API listens at that address. Gives the addresses it listens at itself, by name. */
  start?(apiUrl: string): Promise<Readonly<Record<string, string>> | void>;
  /** Takes no more requests, and lets those that run end or cuts them; before `stop`, and beside other parts. */
  drain?(): Promise<void>;
  /** Ends what runs; what is acknowledged is on disk when it returns. Called once, also when `start` failed. */
  stop?(): Promise<void>;
}
