import { createAlerts, type Alerts } from './alerts.ts';
import type { Component } from '../protocol/index.ts';
import { createApi, type Api } from './api.ts';
import { createBranches, type Branches } from './branches.ts';
import { createBuckets, type Buckets } from './buckets.ts';
import { componentsOf } from './components.ts';
import { createConfigurations, type Configurations } from './configurations.ts';
import { path } from './encode.ts';
import { createEvents, type Events } from './events.ts';
import { createFiles } from './files.ts';
import type { Files } from './file-types.ts';
import { createJobs, type Jobs } from './jobs.ts';
import { createNetwork, type Network } from './network.ts';
import type { StorageClientOptions } from './client-options.ts';
import { shaped } from './shape.ts';
import { createTables } from './table-export.ts';
import type { Tables } from './table-types.ts';
import { createTokens, type Tokens } from './tokens.ts';
import { createRuns, type Runs } from './recordings.ts';
import { createAllSchedules, type AllSchedules } from './schedules.ts';
import { createSql, type Sql } from './sql.ts';
import { createWorkshop, type Workshop } from './workshop.ts';
import { createS3 } from './transfer/s3.ts';

/** Description of the service, available without a token. */
export interface Index {
  readonly host: string;
  readonly api: string;
  readonly version: string;
  readonly revision: string;
  readonly services: readonly { readonly id: string; readonly url: string }[];
  readonly features: readonly string[];
  readonly components?: readonly Component[];
  readonly urlTemplates?: Readonly<Record<string, string>>;
}

/**
 * A client of a storage and configuration service. All operations reject with a `StorageError`, with the reason of the
 * signal that ended them, or with what the disk, a body or a function of the caller's own throws. It may be used by many
 * callers at a time.
 *
 * ```ts
 * const storage = new StorageClient({ url: 'http://127.0.0.1:8080', token });
 * const file = await storage.files.upload(await fileBody('users.csv'), { name: 'users.csv' });
 * await storage.tables.load('in.c-main.users', { dataFileId: file.id, incremental: true });
 * ```
 */
export class StorageClient {
  readonly files: Files;
  readonly tables: Tables;
  readonly buckets: Buckets;
  readonly jobs: Jobs;
  readonly tokens: Tokens;
  readonly branches: Branches;
  readonly events: Events;
  readonly alerts: Alerts;
  readonly schedules: AllSchedules;
  readonly runs: Runs;
  readonly sql: Sql;
  readonly workshop: Workshop;
  readonly #api: Api;
  readonly #network: Network;

  /** @throws {StorageError} `storage.unreachable` for an address that is no URL, `storage.unauthorized` without a token */
  constructor(options: StorageClientOptions) {
    const { environment = process.env, s3: s3Options = {} } = options;
    this.#network = createNetwork(environment, s3Options.silentMs);
    const api = createApi(options, this.#network);
    const s3 = createS3(s3Options, this.#network, environment);
    this.#api = api;
    this.jobs = createJobs(api);
    this.files = createFiles(api, s3);
    this.tables = createTables(api, this.files, this.jobs);
    this.buckets = createBuckets(api, this.jobs);
    this.tokens = createTokens(api);
    this.branches = createBranches(api, this.jobs);
    this.events = createEvents(api);
    this.alerts = createAlerts(api);
    this.schedules = createAllSchedules(api);
    this.runs = createRuns(api);
    this.sql = createSql(api);
    this.workshop = createWorkshop(api);
  }

  /** The configurations of a component. */
  configurations(componentId: string): Configurations {
    return createConfigurations(this.#api, componentId);
  }

  /** Returns the description of the service: needs no valid token. */
  async index(
    query: { readonly exclude?: readonly ('componentDetails' | 'components')[] | undefined } = {},
  ): Promise<Index> {
    const exclude = query.exclude?.join(',');
    const json = await this.#api.call({ method: 'GET', path: '', scope: 'plain', query: { exclude } });
    return shaped<Index>(json, 'index', { services: 'list' });
  }

  /** Tells whether the service does a request with an `Idempotency-Key` once, however often and late it arrives. */
  async knowsKeys(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<boolean> {
    return await this.#api.knowsKeys(options.signal);
  }

  /** The components of the catalogue. */
  async components(): Promise<Component[]> {
    return componentsOf(await this.#api.call({ method: 'GET', path: '', scope: 'plain' }));
  }

  /** One component of the catalogue. */
  async component(id: string): Promise<Component> {
    const json = await this.#api.call({ method: 'GET', path: path`components/${id}`, scope: 'plain' });
    return shaped<Component>(json, 'component', { id: 'string' });
  }

  /** A number that no one else gets, as text: for run ids. */
  async ticket(): Promise<string> {
    const json = await this.#api.call({ method: 'POST', path: 'tickets', scope: 'plain' });
    return shaped<{ id: string }>(json, 'ticket', { id: 'id' }).id;
  }

  /** A code by which a browser may sign in to the console with the token of the client, once, within ten minutes. */
  async consoleCode(): Promise<string> {
    const url = `${this.#api.base}/console/codes`;
    const json = await this.#api.post({ url, what: 'POST console/codes', headers: {}, openBody: noBody });
    return shaped<{ code: string }>(json, 'code', { code: 'string' }).code;
  }

  /** Closes the connections that are kept open. The client can still be used afterwards. */
  close(): void {
    this.#network.close();
  }
}

async function* noBody(): AsyncGenerator<Uint8Array, void> {}
