import type { ConfigurationRow, RowCopy, RowCreate, RowUpdate, RowVersion } from '../protocol/index.ts';
import type { Static } from 'typebox';
import type { ApiCore, ApiCall } from './api-core.ts';
import { path } from './encode.ts';
import type { OnceOptions } from './client-options.ts';
import { deleteOnce, isOwnDoing } from './repeated.ts';
import { listOf, shaped } from './shape.ts';

/** Text of the version that a change makes. */
export interface Note {
  readonly changeDescription?: string | undefined;
}

/** The rows of one configuration. Every change makes a new version of the configuration, too. */
export interface Rows {
  /** In the order of `rowsSortOrder`. */
  list(): Promise<ConfigurationRow[]>;
  detail(rowId: string): Promise<ConfigurationRow>;
  create(row: RowCreate): Promise<ConfigurationRow>;
  update(rowId: string, changes: RowUpdate): Promise<ConfigurationRow>;
  /** Replaces the state and makes no version. */
  updateState(rowId: string, state: unknown, options?: OnceOptions): Promise<ConfigurationRow>;
  /** For good. */
  delete(rowId: string, note?: Note): Promise<void>;
  /** Newest first. */
  versions(
    rowId: string,
    query?: { readonly limit?: number | undefined; readonly offset?: number | undefined },
  ): Promise<RowVersion[]>;
  version(rowId: string, version: number): Promise<RowVersion>;
  rollback(rowId: string, version: number, note?: Note): Promise<ConfigurationRow>;
  /** Makes a new row from a version, in this configuration or in another. */
  copy(rowId: string, version: number, copy?: Static<typeof RowCopy>): Promise<ConfigurationRow>;
}

const FIELDS = { id: 'id', version: 'number' } as const;

/** @param base path of the rows, escaped */
export function createRows(api: ApiCore, base: string): Rows {
  const call = async (call: Omit<ApiCall, 'scope'>) => await api.call({ ...call, scope: 'branch' });
  const one = async (given: Omit<ApiCall, 'scope'>): Promise<ConfigurationRow> =>
    shaped<ConfigurationRow>(await call(given), 'row', FIELDS);
  const at = (rowId: string) => `${base}/${path`${rowId}`}`;
  const rows: Rows = {
    list: async () => listOf<ConfigurationRow>(await call({ method: 'GET', path: base }), 'row', FIELDS),
    detail: async (rowId) => await one({ method: 'GET', path: at(rowId) }),
    async create(body) {
      const id = body.rowId ?? '';
      try {
        return await one({ method: 'POST', path: base, body, isOnce: id === '' });
      } catch (error) {
        if (!isOwnDoing(error, /AlreadyExists$/i)) throw error;
        return await rows.detail(id);
      }
    },
    update: async (rowId, body) => await one({ method: 'PUT', path: at(rowId), body }),
    updateState: async (rowId, state, { key } = {}) =>
      await one({ method: 'PUT', path: `${at(rowId)}/state`, body: { state }, key }),
    async delete(rowId, body = {}) {
      await deleteOnce(call({ method: 'DELETE', path: at(rowId), body }));
    },
    async versions(rowId, query = {}) {
      const json = await call({ method: 'GET', path: `${at(rowId)}/versions`, query: { ...query } });
      return listOf<RowVersion>(json, 'version', { version: 'number' });
    },
    async version(rowId, version) {
      const json = await call({ method: 'GET', path: `${at(rowId)}/versions/${version}` });
      return shaped<RowVersion>(json, 'version', { version: 'number' });
    },
    rollback: async (rowId, version, body = {}) =>
      await one({ method: 'POST', path: `${at(rowId)}/versions/${version}/rollback`, body, isOnce: true }),
    copy: async (rowId, version, body = {}) =>
      await one({ method: 'POST', path: `${at(rowId)}/versions/${version}/create`, body, isOnce: true }),
  };
  return rows;
}
