import type { FastifyRequest } from 'fastify';
import type { HttpContext } from './http-context.ts';
import { findBranch } from '../stores/metadata/branches.ts';
import { sharedLook } from '../stores/metadata/shared-look.ts';
import type { BranchRow } from '../stores/metadata/tables.ts';
import { authenticate, callerOf, runIdOf, tokenOf, type Caller } from '../domain/tokens/caller.ts';
import { accessDenied, notFound, readOnly, ApiError } from '../domain/api-error.ts';
import type { Route } from './route.ts';
import type { Context } from '../domain/context.ts';
import { requireBucket, requireComponent } from '../domain/tokens/permissions.ts';
import { isOwnConfiguration } from '../stores/metadata/run-limits.ts';
import { originOf } from './origin.ts';
import { findSession } from '../stores/metadata/console-sessions.ts';
import { sessionOf } from './console/cookie.ts';
import { requireOwnPage } from './console/guard.ts';

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
  const params = request.params as Readonly<Record<string, string>>;
  const id = route.scope === 'plain' ? 'default' : (params['branch'] ?? 'default');
  const { caller, branch } = await admit(context, request, { isOpen, branch: id });
  if (caller?.runLimits !== undefined && route.isForRuns !== true) throw accessDenied();
  if (caller?.isReadOnly === true && route.method !== 'GET' && route.isReading !== true) throw readOnly();
  if (branch === undefined) throw notFound(`Branch id:"${id}" was not found.`);
  if (caller !== undefined) requireNamed(context, { caller, branch, params });
  // Only open routes are called without one, and none of them uses the caller.
  route.judge?.({ caller: caller as Caller, request });
  return { caller, branch };
}

const lookForBranch = sharedLook(findBranch);

/** A caller, undefined where the route is open to all, and the branch that it names when there is one. */
interface Found<Who> {
  readonly caller: Who;
  readonly branch: BranchRow | undefined;
}

/**
 * Returns the caller of a request, when the route needs one and the rate limit allows it. @throws {ApiError} 401,
 * 429, 503
 */
export async function admit(
  context: HttpContext,
  request: FastifyRequest,
  { isOpen, branch }: { readonly isOpen: boolean; readonly branch: string },
): Promise<Found<Caller | undefined>> {
  const { admission, meta, env } = context;
  const { headers, raw, visit } = request;
  const address = admission.clients.addressOf(raw);
  const credential = isOpen ? undefined : credentialOf(context, request);
  if (credential !== undefined)
    return await admission.admitToken({ address, secret: credential.secret, visit }, async () => {
      const found = await credential.find(branch);
      return { ...found, id: found.caller.id };
    });
  admission.admitAddress(address, visit);
  if (!isOpen) return await authenticate(meta, headers, { branch, now: env.now() });
  return { caller: undefined, branch: await lookForBranch(meta, branch) };
}

/**
 * Refuses callers who may not even read the resource that the address names: a bucket, one of its tables, or a
 * component. Each route checks further permissions itself.
 *
 * @throws {ApiError} 403, 404
 */
function requireNamed(
  { catalogue }: Pick<Context, 'catalogue'>,
  {
    caller,
    branch,
    params: { bucket, table, component, configuration = '' },
  }: {
    readonly caller: Caller;
    readonly branch: BranchRow;
    readonly params: Readonly<Record<string, string>>;
  },
): void {
  if (bucket !== undefined) requireBucket(caller, branch.id, bucket, 'read');
  if (table !== undefined) requireBucket(caller, branch.id, table.split('.').slice(0, 2).join('.'), 'read');
  if (component === undefined) return;
  if (catalogue.find(component) === undefined) throw notFound(`Component ${component} not found`);
  const key = { branch_id: branch.id, component_id: component, configuration_id: configuration };
  if (!isOwnConfiguration(caller.runLimits, key)) requireComponent(caller, component);
}

/** Credential of a request: a token, or the session of the console. */
interface Credential {
  readonly secret: string;
  /** Finds the caller, and the branch of that id. @throws {ApiError} 401 */
  find(branch: string): Promise<Found<Caller>>;
}

/**
 * Returns the credential of a request. A token has priority over a session, as it is always sent on purpose. @throws
 * {ApiError} 403 for a session, from another site
 */
function credentialOf(context: Context, request: FastifyRequest): Credential | undefined {
  const { meta, env, publicUrl } = context;
  const { headers } = request;
  const token = tokenOf(headers);
  if (token !== undefined)
    return {
      secret: token,
      find: async (branch) => await authenticate(meta, headers, { branch, now: env.now() }),
    };
  const session = sessionOf(request, publicUrl ?? originOf(request));
  if (session === undefined) return undefined;
  requireOwnPage(request, publicUrl);
  return {
    secret: session,
    async find(branch) {
      const found = await findSession(meta, env, session);
      if (found !== undefined)
        return {
          caller: callerOf(found.token, undefined, runIdOf(headers)),
          branch: await lookForBranch(meta, branch),
        };
      throw new ApiError(401, 'console.signedOut', 'The session has ended: sign in again.');
    },
  };
}
