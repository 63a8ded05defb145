import type {
  Alert,
  AlertCreate,
  AlertMessage,
  AlertMessagesQuery,
  AlertsQuery,
  AlertUpdate,
} from '../protocol/alert.ts';
import type { ApiCore } from './api-core.ts';
import { path } from './encode.ts';
import { deleteOnce } from './repeated.ts';
import { listOf, shaped } from './shape.ts';

/** Alerts, which tell people when runs go wrong; for the master token. */
export interface Alerts {
  /** All alerts: 1,000 by default. */
  list(query?: AlertsQuery): Promise<Alert[]>;
  detail(id: string): Promise<Alert>;
  /** Creates an alert; only this answer has its `secret`. */
  create(alert: AlertCreate): Promise<Alert>;
  /** Updates an alert; omitted fields stay. */
  update(id: string, changes: AlertUpdate): Promise<Alert>;
  delete(id: string): Promise<void>;
  /** Sends a message to try the address. */
  test(id: string): Promise<AlertMessage>;
  /** Messages, the newest first: 100 by default. */
  messages(id: string, query?: AlertMessagesQuery): Promise<AlertMessage[]>;
  /** Sends a message again, under its id. */
  send(id: string, message: string): Promise<AlertMessage>;
}

const FIELDS = { id: 'id', name: 'string', url: 'string', kinds: 'list', wrong: 'list' } as const;
const MESSAGE = { id: 'id', event: 'string', status: 'string' } as const;

const at = (id: string): string => path`alerts/${id}`;

export function createAlerts(api: ApiCore): Alerts {
  return {
    list: async (query = {}) =>
      listOf<Alert>(await api.call({ method: 'GET', path: 'alerts', query: { ...query } }), 'alert', FIELDS),
    detail: async (id) => shaped<Alert>(await api.call({ method: 'GET', path: at(id) }), 'alert', FIELDS),
    create: async (body) =>
      shaped<Alert>(await api.call({ method: 'POST', path: 'alerts', body, isOnce: true }), 'alert', FIELDS),
    update: async (id, body) =>
      shaped<Alert>(await api.call({ method: 'PUT', path: at(id), body }), 'alert', FIELDS),
    async delete(id) {
      await deleteOnce(api.call({ method: 'DELETE', path: at(id), isOnce: true }));
    },
    test: async (id) =>
      shaped<AlertMessage>(
        await api.call({ method: 'POST', path: `${at(id)}/test`, body: {}, isOnce: true }),
        'message',
        MESSAGE,
      ),
    async messages(id, query = {}) {
      const json = await api.call({ method: 'GET', path: `${at(id)}/messages`, query: { ...query } });
      return listOf<AlertMessage>(json, 'message', MESSAGE);
    },
    send: async (id, message) =>
      shaped<AlertMessage>(
        await api.call({
          method: 'POST',
          path: `${at(id)}/${path`messages/${message}`}/send`,
          body: {},
          isOnce: true,
        }),
        'message',
        MESSAGE,
      ),
  };
}
