import type {
  Configuration,
  ConfigurationCopy,
  ConfigurationCreate,
  ConfigurationLogin,
  ConfigurationUpdate,
  ConfigurationVersion,
  MayRun,
  FilledTable,
} from '../protocol/index.ts';
import type { Json } from '../../lib/json/value.ts';
import type { ConfigurationProblem } from '../protocol/workshop.ts';
import type { ApiCore, ApiCall } from './api-core.ts';
import { createRows, type Note, type Rows } from './configuration-rows.ts';
import { path } from './encode.ts';
import { metadataAt, type Metadata } from './metadata.ts';
import type { OnceOptions } from './client-options.ts';
import { isOwnDoing, orUndefined } from './repeated.ts';
import { createSchedules, type Schedules } from './schedules.ts';
import { listOf, shaped } from './shape.ts';

/** Which versions, and what of them. */
export interface VersionsQuery {
  readonly include?: readonly ('configuration' | 'description' | 'name')[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export interface ValidateConfigurationOptions {
  /** Id of the configuration, when it is stored. */
  readonly configuration?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The configurations of one component. Their content is given exactly: a number that a double would change is a
 * `JsonNumber`, an object whose keys JavaScript would reorder a `JsonMap`.
 */
export interface Configurations {
  list(query?: { readonly isDeleted?: boolean | undefined }): Promise<Configuration[]>;
  detail(id: string): Promise<Configuration>;
  /** The configuration; undefined when there is none. */
  find(id: string): Promise<Configuration | undefined>;
  create(configuration: ConfigurationCreate): Promise<Configuration>;
  /**
   * Updates a configuration. Omitted fields stay; `configuration` is replaced as a whole. A change makes a new version.
   * With `ifVersion` it is refused (status 412, the version in `details.params`) when another version was made
   * meanwhile.
   */
  update(id: string, changes: ConfigurationUpdate): Promise<Configuration>;
  /**
   * Returns the problems in the text of a configuration, as `gex validate` reports them; nothing is stored.
   *
   * @param text what `config.json` would hold: the content of a configuration, or one with rows
   */
  validate(text: string, options?: ValidateConfigurationOptions): Promise<ConfigurationProblem[]>;
  /** Replaces the state and makes no version. `{}` makes the next run a first one. */
  updateState(id: string, state: unknown, options?: OnceOptions): Promise<Configuration>;
  /** The logins that are kept between runs, and whether they still hold. Nothing of them is secret. */
  logins(id: string): Promise<ConfigurationLogin[]>;
  /** Tells whether the token may run it as it is, and why not. */
  runRights(id: string): Promise<MayRun>;
  /** Into the trash; from the trash it is gone for good. */
  delete(id: string): Promise<void>;
  restore(id: string, note?: Note): Promise<Configuration>;
  /** In a development branch: takes what the default branch has. */
  resetToDefault(id: string): Promise<void>;
  /** Newest first. */
  versions(id: string, query?: VersionsQuery): Promise<ConfigurationVersion[]>;
  version(id: string, version: number): Promise<Omit<Configuration, 'state'>>;
  /** Makes a new version that is like the one given; gives its number. */
  rollback(id: string, version: number, note?: Note): Promise<{ readonly version: string }>;
  /** Makes a new configuration from a version; gives its id. */
  copy(id: string, version: number, copy: ConfigurationCopy): Promise<{ readonly id: string }>;
  /** Lists the tables that its runs have loaded, the last loaded first. */
  tables(id: string): Promise<FilledTable[]>;
  rows(id: string): Rows;
  metadata(id: string): Metadata;
  schedules(id: string): Schedules;
}

const FIELDS = { id: 'id', name: 'string', version: 'number' } as const;

export function createConfigurations(api: ApiCore, componentId: string): Configurations {
  const base = path`components/${componentId}/configs`;
  const scope = 'branch';
  const call = async (call: Omit<ApiCall, 'scope'>) => await api.call({ ...call, scope });
  const one = async (given: Omit<ApiCall, 'scope'>): Promise<Configuration> =>
    shaped<Configuration>(await call(given), 'configuration', FIELDS);
  const at = (id: string) => `${base}/${path`${id}`}`;
  const configurations: Configurations = {
    list: async (query = {}) =>
      listOf<Configuration>(
        await call({ method: 'GET', path: base, query: { ...query } }),
        'configuration',
        FIELDS,
      ),
    detail: async (id) => await one({ method: 'GET', path: at(id) }),
    find: async (id) => await orUndefined(configurations.detail(id)),
    async create(body) {
      const id = body.configurationId ?? '';
      try {
        return await one({ method: 'POST', path: base, body, isOnce: id === '' });
      } catch (error) {
        if (!isOwnDoing(error, /AlreadyExists$/i)) throw error;
        return await configurations.detail(id);
      }
    },
    update: async (id, body) => await one({ method: 'PUT', path: at(id), body }),
    async validate(text, { configuration, signal } = {}) {
      const body = { text, component: componentId, configuration };
      const json = await api.call({
        method: 'POST',
        path: 'workshop/validate',
        body,
        scope: 'plain',
        signal,
      });
      const { problems } = shaped<{ problems: Json }>(json, 'validation', { problems: 'list' });
      return listOf<ConfigurationProblem>(problems, 'problem', { severity: 'string', message: 'string' });
    },
    updateState: async (id, state, { key } = {}) =>
      await one({ method: 'PUT', path: `${at(id)}/state`, body: { state }, key }),
    runRights: async (id) =>
      shaped<MayRun>(await call({ method: 'GET', path: `${at(id)}/run-rights` }), 'run rights', {
        canRun: 'boolean',
      }),
    logins: async (id) =>
      listOf<ConfigurationLogin>(await call({ method: 'GET', path: `${at(id)}/logins` }), 'login', {
        at: 'string',
        state: 'string',
      }),
    async delete(id) {
      // A second sending would delete it from the trash.
      await call({ method: 'DELETE', path: at(id), isOnce: true });
    },
    restore: async (id, body = {}) =>
      await one({ method: 'POST', path: `${at(id)}/restore`, body, isOnce: true }),
    async resetToDefault(id) {
      await call({ method: 'POST', path: `${at(id)}/reset-to-default`, body: {} });
    },
    async versions(id, { include, ...query } = {}) {
      const json = await call({
        method: 'GET',
        path: `${at(id)}/versions`,
        query: { ...query, include: include?.join(',') },
      });
      return listOf<ConfigurationVersion>(json, 'version', { version: 'number' });
    },
    async version(id, version) {
      const json = await call({ method: 'GET', path: `${at(id)}/versions/${version}` });
      return shaped<Omit<Configuration, 'state'>>(json, 'version', { version: 'number' });
    },
    async rollback(id, version, body = {}) {
      const json = await call({
        method: 'POST',
        path: `${at(id)}/versions/${version}/rollback`,
        body,
        isOnce: true,
      });
      return shaped<{ version: string }>(json, 'rollback', { version: 'id' });
    },
    async copy(id, version, body) {
      const json = await call({
        method: 'POST',
        path: `${at(id)}/versions/${version}/create`,
        body,
        isOnce: true,
      });
      return shaped<{ id: string }>(json, 'copy', { id: 'id' });
    },
    tables: async (id) =>
      listOf<FilledTable>(await call({ method: 'GET', path: `${at(id)}/tables` }), 'table', {
        table: 'string',
        lastRun: 'id',
      }),
    rows: (id) => createRows(api, `${at(id)}/rows`),
    metadata: (id) => metadataAt(api, `${at(id)}/`, scope),
    schedules: (id) => createSchedules(api, at(id)),
  };
  return configurations;
}
