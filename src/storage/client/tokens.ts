import type { Static } from 'typebox';
import type { Token, TokenCreate, TokenUpdate } from '../protocol/index.ts';
import type { ApiCore } from './api-core.ts';
import { path } from './encode.ts';
import { deleteOnce } from './repeated.ts';
import { listOf, shaped } from './shape.ts';

/** Operations on tokens; most of them need a master token. */
export interface Tokens {
  /** Returns the identity and rights of the client's own token: the quickest way to check that it is valid. */
  verify(): Promise<Token>;
  list(): Promise<Token[]>;
  detail(id: string): Promise<Token>;
  /** The answer is the only one that shows the token itself. */
  create(token: Static<typeof TokenCreate>): Promise<Token>;
  update(id: string, changes: Static<typeof TokenUpdate>): Promise<Token>;
  delete(id: string): Promise<void>;
  /** Makes a new secret; the old one is no longer accepted. */
  refresh(id: string): Promise<Token>;
  share(id: string, options: { readonly recipientEmail: string; readonly message: string }): Promise<void>;
}

const FIELDS = { id: 'id', description: 'string' } as const;

export function createTokens(api: ApiCore): Tokens {
  const scope = 'plain';
  return {
    verify: async () =>
      shaped<Token>(await api.call({ method: 'GET', path: 'tokens/verify', scope }), 'token', FIELDS),
    list: async () =>
      listOf<Token>(await api.call({ method: 'GET', path: 'tokens', scope }), 'token', FIELDS),
    detail: async (id) =>
      shaped<Token>(await api.call({ method: 'GET', path: path`tokens/${id}`, scope }), 'token', FIELDS),
    async create(body) {
      const json = await api.call({ method: 'POST', path: 'tokens', body, scope, isOnce: true });
      return shaped<Token>(json, 'token', FIELDS);
    },
    update: async (id, body) =>
      shaped<Token>(
        await api.call({ method: 'PUT', path: path`tokens/${id}`, body, scope }),
        'token',
        FIELDS,
      ),
    async delete(id) {
      await deleteOnce(api.call({ method: 'DELETE', path: path`tokens/${id}`, scope }));
    },
    async refresh(id) {
      const json = await api.call({ method: 'POST', path: path`tokens/${id}/refresh`, scope, isOnce: true });
      return shaped<Token>(json, 'token', FIELDS);
    },
    async share(id, body) {
      await api.call({ method: 'POST', path: path`tokens/${id}/share`, body, scope, isOnce: true });
    },
  };
}
