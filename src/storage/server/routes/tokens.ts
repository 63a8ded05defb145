import { Type } from 'typebox';
import { Token, TokenCreate, TokenShare, TokenUpdate } from '../../protocol/token.ts';
import { authorOf, type Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { accessDenied, badRequest, notFound, notImplemented } from '../errors.ts';
import type { TokenRow } from '../meta/tables.ts';
import {
  createToken,
  deleteToken,
  findToken,
  listTokens,
  refreshToken,
  updateToken,
} from '../meta/tokens.ts';
import { requireTokenManagement } from '../permissions.ts';
import { route, type Route } from '../route.ts';
import { tokenReply, verifyReply } from '../shapes/token.ts';

/** Tokens (storage 1.1, 6.3). Only the master token manages others; every token may look at and refresh itself. */
export function tokenRoutes(context: Context): Route[] {
  const { meta, env, project } = context;
  const tag = 'Tokens';
  return [
    route({
      method: 'GET',
      path: '/tokens/verify',
      summary: 'The token of this request, and the project',
      tag,
      response: Token,
      handle: async ({ caller, origin }) => ({
        ...tokenReply(caller.token, origin, env.now(), caller.secret),
        ...verifyReply(caller.token, project, await projectSize(context)),
      }),
    }),
    route({
      method: 'GET',
      path: '/tokens',
      summary: 'All tokens',
      tag,
      response: Type.Array(Token),
      handle: async ({ caller, origin }) => {
        requireTokenManagement(caller);
        return (await listTokens(meta)).map((token) => tokenReply(token, origin, env.now()));
      },
    }),
    route({
      method: 'GET',
      path: '/tokens/:token',
      summary: 'A token',
      tag,
      response: Token,
      handle: async ({ params, caller, origin }) =>
        tokenReply(await requireToken(context, caller, params.token), origin, env.now()),
    }),
    route({
      method: 'POST',
      path: '/tokens',
      summary: 'Makes a token; only this answer shows it',
      tag,
      status: 201,
      body: TokenCreate,
      response: Token,
      handle: async ({ body, caller, origin }) => {
        requireTokenManagement(caller);
        const rights = { ...body, description: body.description ?? '' };
        const made = await meta.transaction().execute((tx) => createToken(tx, env, rights, authorOf(caller)));
        return tokenReply(made.row, origin, env.now(), made.token);
      },
    }),
    route({
      method: 'PUT',
      path: '/tokens/:token',
      summary: 'Changes what a token may do',
      tag,
      body: TokenUpdate,
      response: Token,
      handle: async ({ params, body, caller, origin }) => {
        requireTokenManagement(caller);
        const { id } = await requireToken(context, caller, params.token);
        await updateToken(meta, id, body);
        return tokenReply(await requireToken(context, caller, params.token), origin, env.now());
      },
    }),
    route({
      method: 'DELETE',
      path: '/tokens/:token',
      summary: 'Ends a token',
      tag,
      handle: async ({ params, caller }) => {
        requireTokenManagement(caller);
        const token = await requireToken(context, caller, params.token);
        if (token.is_master === 1)
          throw badRequest('storage.token.cannotDeleteMasterToken', 'The master token cannot be deleted.');
        await deleteToken(meta, token.id);
        return undefined;
      },
    }),
    route({
      method: 'POST',
      path: '/tokens/:token/refresh',
      summary: 'Gives a token a new secret; only this answer shows it',
      tag,
      response: Token,
      handle: async ({ params, caller, origin }) => {
        const { id } = await requireToken(context, caller, params.token);
        const secret = await refreshToken(meta, env, id);
        return tokenReply(await requireToken(context, caller, params.token), origin, env.now(), secret);
      },
    }),
    route({
      method: 'POST',
      path: '/tokens/:token/share',
      summary: 'Sends a token by e-mail: not supported',
      tag,
      body: TokenShare,
      handle: async ({ params, caller }) => {
        const token = await requireToken(context, caller, params.token);
        if (token.is_master === 1)
          throw badRequest('storage.token.cannotShareMasterToken', 'The master token cannot be shared.');
        throw notImplemented('Sharing a token by e-mail');
      },
    }),
  ];
}

/** The token of an id, when the caller is that token or the master. */
async function requireToken(context: Context, caller: Caller, id: string): Promise<TokenRow> {
  const found = /^\d{1,15}$/.test(id) ? await findToken(context.meta, Number(id)) : undefined;
  if (caller.id !== found?.id && !caller.isMaster) throw accessDenied();
  if (found === undefined) throw notFound(`The token "${/^\d+$/.test(id) ? id : ''}" was not found.`);
  return found;
}

async function projectSize({ meta }: Context): Promise<{ bytes: number; rows: number }> {
  const sums = await meta
    .selectFrom('tables')
    .select(({ fn }) => [
      fn.sum<number | null>('data_bytes').as('bytes'),
      fn.sum<number | null>('rows_count').as('rows'),
    ])
    .executeTakeFirst();
  return { bytes: sums?.bytes ?? 0, rows: sums?.rows ?? 0 };
}
