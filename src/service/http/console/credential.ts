import type { FastifyRequest } from 'fastify';
import type { Context } from '../../domain/context.ts';
import { ApiError } from '../../domain/api-error.ts';
import { originOf } from '../origin.ts';
import { findSession } from '../../stores/metadata/console-sessions.ts';
import { authenticate, callerOf, runIdOf, tokenOf, type Caller } from '../../domain/tokens/caller.ts';
import { sessionOf } from './cookie.ts';
import { requireOwnPage } from './guard.ts';

/** Credential of a request: a token, or the session of the console. */
export interface Credential {
  readonly secret: string;
  /** Finds the caller. @throws {ApiError} 401 */
  find(): Promise<Caller>;
}

/**
 * Returns the credential of a request. A token has priority over a session, as it is always sent on purpose. @throws
 * {ApiError} 403 for a session, from another site
 */
export function credentialOf(context: Context, request: FastifyRequest): Credential | undefined {
  const { meta, env, publicUrl } = context;
  const { headers } = request;
  const token = tokenOf(headers);
  if (token !== undefined)
    return { secret: token, find: async () => await authenticate(meta, headers, env.now()) };
  const session = sessionOf(request, publicUrl ?? originOf(request));
  if (session === undefined) return undefined;
  requireOwnPage(request, publicUrl);
  return {
    secret: session,
    async find() {
      const found = await findSession(meta, env, session);
      if (found !== undefined) return callerOf(found.token, undefined, runIdOf(headers));
      throw new ApiError(401, 'console.signedOut', 'The session has ended: sign in again.');
    },
  };
}
