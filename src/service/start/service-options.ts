import type { Env } from '../../lib/env.ts';
import type { Json } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import type { Check } from '../platform/health/readiness.ts';
import type { HttpContext } from '../http/http-context.ts';
import type { MailOptions } from '../domain/alerts/mail.ts';
import type { MessageReach } from '../domain/alerts/post.ts';
import type { DatabaseOptions } from '../platform/database/database.ts';
import type { ExternalStoreOptions } from '../stores/objects/external-store.ts';
import type { QueryLimits } from '../stores/query/messages.ts';
import type { Route } from '../http/route.ts';
import type { TablesKind } from '../stores/tables/kind.ts';
import type { NamedService } from '../http/routes/index.ts';

/** Roles of a process: it answers requests, does the storage jobs, or runs configurations. */
export const ROLES = ['api', 'worker', 'runner'] as const;
export type Role = (typeof ROLES)[number];

export const hasRole = ({ roles = ROLES }: Pick<ServiceOptions, 'roles'>, role: Role): boolean =>
  roles.includes(role);

export interface ServiceOptions {
  /**
   * Folder of all data; it is created when it does not exist. Only one process may hold it. With `database` and
   * `objects` there is none, and any number of processes may work on the same data.
   */
  readonly dir?: string;
  /** Roles of this process. Default: all. A subset needs `database` and `objects`. */
  readonly roles?: readonly Role[];
  /** Address to listen on; default `127.0.0.1`, so that only this machine reaches it. */
  readonly host?: string;
  /** Port of the API. Default 0: any free one. */
  readonly port?: number;
  /**
   * Address under which clients reach the API, such as `https://storage.example.com`; default: the one that they
   * called.
   */
  readonly publicUrl?: string;
  /** Address under which clients reach the object store; default: the one that it listens at. */
  readonly s3PublicUrl?: string;
  /** Name of the project that the first start creates; default `My project`. */
  readonly projectName?: string;
  /** Region of the project and of the object store. Default `us-east-1`. */
  readonly region?: string;
  /** `configurationSchema` of the extractor in the catalogue. */
  readonly extractorSchema?: Json;
  /** Folder of further components of the catalogue, as JSON files. */
  readonly componentsDir?: string;
  /** Port of the object store; default 0: any free one. */
  readonly s3Port?: number;
  /** Port of the importer alone; it is below the API's own address as well. Default 0: any free one. */
  readonly importerPort?: number;
  /** A PostgreSQL database for the metadata instead of the folder: several processes may work on it. */
  readonly database?: DatabaseOptions;
  /** How the tables are kept: chosen by the first start. Default: as the storage has them, or in its folder or database. */
  readonly tables?: TablesKind;
  /** Folder with the extensions of DuckDB that a lake needs. Default: that of the environment, or those that DuckDB has. */
  readonly duckdbExtensions?: string;
  /**
   * True when the database keeps the bytes of files, too, so that a process needs nothing else: neither a folder nor an
   * object store. Default: false.
   */
  readonly isWhollyInDatabase?: boolean;
  /** An outside object store instead of the folder. */
  readonly objects?: Omit<ExternalStoreOptions, 'env'>;
  /**
   * True when its bucket may be that of another database with the same storage, which is gone: this storage then owns
   * it.
   */
  readonly takesOver?: boolean;
  /** Milliseconds that running requests and jobs may take when the service stops; default 8 seconds each. */
  readonly graceMs?: number;
  /**
   * Milliseconds for which `/ready` answers 503 before the service stops, so that a proxy sends nothing more; default
   * 0.
   */
  readonly drainMs?: number;
  /** Port of the probes alone (`/health`, `/ready`, `/metrics`), which need no token; default: none. */
  readonly healthPort?: number;
  /** Address on which the probes listen; default `127.0.0.1`. */
  readonly healthHost?: string;
  /** Requests a minute of each token, and of each address without one; default: no limit. */
  readonly requestsPerMinute?: number;
  /** Requests that are answered at the same time; more get 503. Default 500. */
  readonly maxRequests?: number;
  /** Bytes of bodies in memory at the same time; requests with more get 503. Default 192 MB, half of it for one token. */
  readonly maxHeldBytes?: number;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed; default: none. */
  readonly trustedProxies?: readonly string[];
  /** Days after which finished jobs, runs and events are deleted; default 90. */
  readonly keepDays?: number;
  /** Jobs at a time; default 4. */
  readonly concurrency?: number;
  /** Hosts that messages of alerts may go to; default: all. */
  readonly reach?: MessageReach | undefined;
  /** Mail server that messages of alerts go by; default: none, and alerts by mail are not sent. */
  readonly mail?: MailOptions | undefined;
  /** Most that a query in SQL may use. */
  readonly queryLimits?: QueryLimits;
  /** Modules of the service, started in this order and stopped in reverse; default: files, tables and jobs. */
  readonly parts?: readonly MakePart[];
  /**
   * True for a command that uses the folder or the database itself: the API is reached by `fetch` alone, nothing is
   * announced to others, and the first master token is left for the first start that shows it. Default: false.
   */
  readonly isEmbedded?: boolean;
  /** Environment with `GEX_ENCRYPTION_KEY` and `GEX_ENCRYPTION_KEY_FILE`; default: that of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly env?: Env;
  readonly log?: Log;
}

/** Default of `graceMs`. */
export const GRACE_MS = 8000;

/** Makes a part of the service, when the metadata is open and before anything listens. */
export type MakePart = (context: HttpContext, options: ServiceOptions) => Part | Promise<Part>;

/** Part with the lifetime of the service: routes, listeners, workers. */
export interface Part {
  readonly routes?: readonly Route[];
  /** Services that the index names; a `url` that starts with `/` is below the API's own address. */
  readonly services?: readonly NamedService[];
  /** True when it does runs of configurations. Default: false. */
  readonly doesRuns?: boolean;
  /** Checks of the resources that it needs to work. */
  readonly checks?: readonly Check[];
  /** Starts it when the API listens at that address. Returns the addresses that it listens at itself, by name. */
  start?(apiUrl: string): Promise<Readonly<Record<string, string>> | void>;
  /**
   * Stops accepting requests, and lets those at work end or cuts them; before `stop`, and in parallel with other
   * parts.
   */
  drain?(): Promise<void>;
  /** Ends its work; everything acknowledged is on disk when it returns. Called once, also when `start` failed. */
  stop?(): Promise<void>;
}
