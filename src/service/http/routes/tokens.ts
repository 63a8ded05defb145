import { Type } from 'typebox';
import { Token, TokenCreate, TokenShare, TokenUpdate } from '../../../storage/protocol/token.ts';
import { authorOf, type Caller } from '../../domain/tokens/caller.ts';
import type { Context } from '../../domain/context.ts';
import { accessDenied, badRequest, notFound } from '../../domain/api-error.ts';
import { doerOf, recordEvent } from '../../domain/events/system-event.ts';
import { findBranch } from '../../stores/metadata/branches.ts';
import { listBucketIds } from '../../stores/metadata/buckets.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { TokenRow } from '../../stores/metadata/tables.ts';
import {
  createToken,
  deleteToken,
  findToken,
  listTokens,
  refreshToken,
  updateToken,
} from '../../stores/metadata/tokens.ts';
import { readBucketPermissions } from '../../domain/tokens/bucket-permissions.ts';
import { requireTokenManagement } from '../../domain/tokens/permissions.ts';
import { routesOf, type Call, type Route } from '../route.ts';
import { projectReply, tokenReplies } from '../../domain/presenters/token.ts';
import { TOKENS } from '../../stores/metadata/transaction.ts';

/** Makes the routes of tokens. The master token manages all; every other may read, refresh and delete itself. */
export function tokenRoutes(context: Context): Route[] {
  return [...readRoutes(context), ...writeRoutes(context)];
}

const route = routesOf('Tokens');

type Who = Pick<Call<unknown, unknown, unknown>, 'branch' | 'caller' | 'origin'>;

function readRoutes(context: Context): Route[] {
  const { meta, project } = context;
  const detail = async (call: Who, token: TokenRow, secret?: string) => ({
    ...(await repliesTo(context, call))(token, secret),
    ...projectReply(project, await projectSize(context)),
  });
  return [
    route('GET', '/tokens/verify', {
      isForRuns: true,
      summary: 'The token of this request, and the project',
      response: Token,
      handle: async (call) => await detail(call, call.caller.token, call.caller.secret),
    }),
    route('GET', '/tokens', {
      summary: 'All tokens but those of runs; of a token that is not the master, itself alone',
      response: Type.Array(Token),
      handle: async (call) => {
        const { caller } = call;
        // Tokens of runs belong to no user, and end with the runs.
        const tokens = caller.isMaster
          ? (await listTokens(meta)).filter(({ run_limits }) => run_limits === null)
          : [caller.token];
        const show = await repliesTo(context, call);
        return tokens.map((token) => show(token));
      },
    }),
    route('GET', '/tokens/:token', {
      summary: 'A token, and the project',
      response: Token,
      handle: async ({ params, ...call }) => {
        const token = await requireToken(context, call.caller, params.token);
        return await detail(call, token, token.id === call.caller.id ? call.caller.secret : undefined);
      },
    }),
  ];
}

function writeRoutes(context: Context): Route[] {
  const { env } = context;
  const tell = async (
    tx: Meta,
    { caller, branch }: Who,
    token: TokenRow,
    name: string,
    did: string,
    params: Record<string, string> = {},
  ): Promise<void> => {
    const { id, description } = token;
    await recordEvent(tx, env, doerOf(branch.id, caller), {
      name,
      message: `${did} "${description}"`,
      object: { type: 'token', id: String(id), name: description },
      params: { description, ...params },
    });
  };
  return [
    route('POST', '/tokens', {
      makesSecret: true,
      summary: 'Makes a token; only this answer shows it',
      judge: ({ caller }) => requireTokenManagement(caller),
      status: 201,
      body: TokenCreate,
      response: Token,
      handle: async ({ body, ...call }) => {
        const { caller, branch } = call;
        requireTokenManagement(caller);
        const made = await call.transact([TOKENS], async (tx) => {
          const rights = {
            ...body,
            description: described(body.description) ?? `Created by ${caller.creator_description}`,
            bucketPermissions: await readBucketPermissions(tx, branch.id, body.bucketPermissions),
            bucketBranchId: branch.id,
          };
          const created = await createToken(tx, env, rights, authorOf(caller));
          await tell(tx, call, created.row, 'tokenCreated', 'Created the token');
          return created;
        });
        return (await repliesTo(context, call))(made.row, made.token);
      },
    }),
    route('PUT', '/tokens/:token', {
      summary: 'Changes what a token may do',
      judge: ({ caller }) => requireTokenManagement(caller),
      body: TokenUpdate,
      response: Token,
      handle: async ({ params, body, ...call }) => {
        const { caller, branch } = call;
        requireTokenManagement(caller);
        const token = await requireToken(context, caller, params.token);
        await call.transact([TOKENS], async (tx) => {
          const bucketPermissions = await readBucketPermissions(tx, branch.id, body.bucketPermissions);
          await updateToken(tx, token.id, { ...body, bucketPermissions, bucketBranchId: branch.id });
          await tell(tx, call, token, 'tokenUpdated', 'Changed the token');
        });
        return (await repliesTo(context, call))(await requireToken(context, caller, params.token));
      },
    }),
    route('DELETE', '/tokens/:token', {
      summary: 'Ends a token',
      handle: async ({ params, ...call }) => {
        const token = await requireToken(context, call.caller, params.token);
        if (token.is_master === 1)
          throw badRequest('storage.token.cannotDeleteMasterToken', 'The master token cannot be deleted.');
        await call.transact([TOKENS], async (tx) => {
          await deleteToken(tx, token.id);
          await tell(tx, call, token, 'tokenDeleted', 'Deleted the token');
        });
        return undefined;
      },
    }),
    route('DELETE', '/tokens', {
      summary: 'Refused: the id of the token is missing',
      handle: () => {
        throw noSuchToken();
      },
    }),
    route('POST', '/tokens/:token/refresh', {
      makesSecret: true,
      summary: 'Gives a token a new secret; only this answer shows it',
      response: Token,
      handle: async ({ params, ...call }) => {
        const known = await requireToken(context, call.caller, params.token);
        const secret = await call.transact([TOKENS], async (tx) => {
          await tell(tx, call, known, 'tokenRefreshed', 'Refreshed the token');
          return await refreshToken(tx, env, known.id);
        });
        const token = await requireToken(context, call.caller, params.token);
        return (await repliesTo(context, call))(token, secret);
      },
    }),
    route('POST', '/tokens/:token/share', {
      summary: 'Accepted, but this service sends no e-mail: the log says so',
      body: TokenShare,
      handle: async ({ params, body, ...call }) => {
        const token = await requireToken(context, call.caller, params.token);
        if (token.is_master === 1)
          throw badRequest('storage.token.cannotShareMasterToken', 'The master token cannot be shared.');
        const { recipientEmail } = body;
        await call.transact([], async (tx) => {
          await tell(tx, call, token, 'tokenShared', 'Asked to share the token', { recipientEmail });
        });
        context.log.warn(
          'A token was to be shared, but this service sends no e-mail: hand it over yourself',
          {
            token: token.id,
            recipient: recipientEmail,
          },
        );
        return undefined;
      },
    }),
  ];
}

/**
 * Returns the presenter of tokens. Permissions for all buckets are shown as those of the default branch, in any
 * branch.
 */
async function repliesTo({ meta, env }: Context, { branch, origin }: Who) {
  const main = branch.is_default === 1 ? branch : ((await findBranch(meta, 'default')) ?? branch);
  return tokenReplies({ origin, now: env.now(), buckets: await listBucketIds(meta, main.id) });
}

const described = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** Returns the token of an id, when the caller is that token or the master. */
async function requireToken(context: Context, caller: Caller, id: string): Promise<TokenRow> {
  const found = /^\d{1,15}$/.test(id) ? await findToken(context.meta, Number(id)) : undefined;
  if (caller.id !== found?.id && !caller.isMaster) throw accessDenied();
  if (found === undefined) throw noSuchToken();
  return found;
}

// Without the id, which may be a token that was put in its place.
const noSuchToken = (): Error => notFound('resource not found');

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
