import type { FastifyRequest } from 'fastify';
import { credentialOf } from './console/credential.ts';
import type { HttpContext } from './http-context.ts';
import { findBranch } from '../stores/metadata/branches.ts';
import { sharedLook } from '../stores/metadata/shared-look.ts';
import type { BranchRow } from '../stores/metadata/tables.ts';
import { authenticate, type Caller } from '../domain/tokens/caller.ts';
import { accessDenied, notFound } from '../domain/api-error.ts';
import { requireNamed } from './named.ts';
import type { Route } from './route.ts';

/** Request that may be done, as far as its headers and its address tell. */
export interface Admitted {
  /** Undefined for an open route. */
  readonly caller: Caller | undefined;
  readonly branch: BranchRow;
}

/**
 * Checks a request before any of its body is read.
 *
 * @throws {ApiError} 401, 403, 404, 429, 503
 */
export async function judge(
  context: HttpContext,
  route: Route,
  request: FastifyRequest,
  isOpen: boolean,
): Promise<Admitted> {
  const caller = await admit(context, request, isOpen);
  if (caller?.runLimits !== undefined && route.isForRuns !== true) throw accessDenied();
  const params = request.params as Readonly<Record<string, string>>;
  const id = route.scope === 'plain' ? 'default' : (params['branch'] ?? 'default');
  const branch = await lookForBranch(context.meta, id);
  if (branch === undefined) throw notFound(`Branch id:"${id}" was not found.`);
  if (caller !== undefined) requireNamed(context, { caller, branch, params });
  // Only open routes are called without one, and none of them uses the caller.
  route.judge?.({ caller: caller as Caller, request });
  return { caller, branch };
}

const lookForBranch = sharedLook(findBranch);

/**
 * Returns the caller of a request, when the route needs one and the rate limit allows it. @throws {ApiError} 401,
 * 429, 503
 */
export async function admit(
  context: HttpContext,
  request: FastifyRequest,
  isOpen: boolean,
): Promise<Caller | undefined> {
  const { admission, meta, env } = context;
  const { headers, raw, visit } = request;
  const address = admission.clients.addressOf(raw);
  const credential = isOpen ? undefined : credentialOf(context, request);
  if (credential !== undefined)
    return await admission.admitToken(
      { address, secret: credential.secret, visit },
      async () => await credential.find(),
    );
  admission.admitAddress(address, visit);
  return isOpen ? undefined : await authenticate(meta, headers, env.now());
}
