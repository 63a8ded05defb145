import { Type } from 'typebox';
import { VERSION } from '../../../lib/version.ts';
import type { HttpContext } from '../http-context.ts';
import { Answer } from '../answer.ts';
import { accessDenied, ApiError, notFound } from '../../domain/api-error.ts';
import { route, type Route } from '../route.ts';
import {
  createCode,
  createSession,
  endSession,
  findSession,
  useCode,
  type ConsoleSession,
} from '../../stores/metadata/console-sessions.ts';
import { findTokenBySecret } from '../../stores/metadata/tokens.ts';
import { isExpired } from '../../domain/tokens/caller.ts';
import type { TokenRow } from '../../stores/metadata/tables.ts';
import { noCookie, sessionCookie, sessionOf } from './cookie.ts';
import { consoleFiles } from './files.ts';
import { requireOwnPage } from './guard.ts';
import { pageAnswer, PLACES, SAFE } from './page.ts';
import { trimEnd } from '../../../lib/trim.ts';

/** Abilities of the service, for a page that shows only the views that work. */
export interface Abilities {
  readonly runs: boolean;
  readonly roles: readonly string[];
}

/** Makes the routes of the console in the browser: its files, and its sign-in. */
export function consoleRoutes(context: HttpContext, abilities: Abilities): Route[] {
  return [...sessionRoutes(context, abilities), ...fileRoutes(context)];
}

const OUTSIDE = { scope: 'plain', isOutside: true, tag: 'Console' } as const;
const PUBLIC = { ...OUTSIDE, access: 'public' } as const;

function sessionRoutes(context: HttpContext, abilities: Abilities): Route[] {
  const { meta, env, publicUrl, project, database } = context;
  const shown = (session: ConsoleSession | undefined) => {
    if (session === undefined) return { isSignedIn: false, version: VERSION };
    const { token, expires } = session;
    return {
      isSignedIn: true,
      version: VERSION,
      expires,
      token: {
        id: String(token.id),
        description: token.description,
        isMaster: token.is_master === 1,
        canManageBuckets: token.can_manage_buckets === 1,
        canReadAllFiles: token.can_read_all_files === 1,
        isReadOnly: token.is_read_only === 1,
        // Written by this service.
        buckets: JSON.parse(token.bucket_permissions) as Record<string, string>,
        components: JSON.parse(token.component_access) as string[],
        expires: token.expires,
      },
      project: { id: String(project.id), name: project.name },
      database: database === undefined ? 'sqlite' : 'postgresql',
      ...abilities,
    };
  };
  return [
    route({
      ...PUBLIC,
      method: 'GET',
      path: '/console/session',
      summary: 'Who is signed in to the console, and what the service can do',
      status: 200,
      async handle({ request, origin }) {
        const secret = sessionOf(request, origin);
        if (secret !== undefined) requireOwnPage(request, publicUrl);
        const session = secret === undefined ? undefined : await findSession(meta, env, secret);
        return new Answer(200, shown(session), PRIVATE);
      },
    }),
    route({
      ...PUBLIC,
      method: 'POST',
      path: '/console/session',
      summary: 'Signs a browser in to the console, by a code or a token',
      status: 201,
      makesSecret: true,
      judge: ({ request }) => requireOwnPage(request, publicUrl),
      body: Type.Object({ code: Type.Optional(Type.String()), token: Type.Optional(Type.String()) }),
      async handle({ request, origin, body }) {
        const address = context.admission.clients.addressOf(request.raw);
        const token = await context.admission.admitToken(
          { address, secret: body.code ?? body.token ?? '' },
          async () => await signInBy(body),
        );
        const before = sessionOf(request, origin);
        if (before !== undefined) await endSession(meta, before);
        const secret = await createSession(meta, env, token);
        const session = await findSession(meta, env, secret);
        return new Answer(201, shown(session), { ...PRIVATE, 'set-cookie': sessionCookie(origin, secret) });
      },
    }),
    route({
      ...PUBLIC,
      method: 'DELETE',
      path: '/console/session',
      summary: 'Signs a browser out',
      judge: ({ request }) => requireOwnPage(request, publicUrl),
      async handle({ request, origin }) {
        const secret = sessionOf(request, origin);
        if (secret !== undefined) await endSession(meta, secret);
        return new Answer(204, undefined, { 'set-cookie': noCookie(origin) });
      },
    }),
    route({
      ...OUTSIDE,
      method: 'POST',
      path: '/console/codes',
      isReading: true,
      summary: 'Makes a code by which a browser may sign in with the token of this request, once',
      status: 201,
      makesSecret: true,
      // Not by a session: a session made with the code would outlive it.
      judge: ({ caller }) => {
        if (caller.secret === undefined) throw accessDenied();
      },
      response: Type.Object({ code: Type.String() }),
      handle: async ({ caller }) => ({ code: await createCode(meta, env, caller.token) }),
    }),
  ];

  /** Returns the token of a sign-in. @throws {ApiError} 401, without saying anything about the token */
  async function signInBy(by: { readonly code?: string; readonly token?: string }): Promise<TokenRow> {
    if (by.code !== undefined) {
      const token = await useCode(meta, env, by.code);
      if (token !== undefined) return token;
      throw new ApiError(
        401,
        'console.codeInvalid',
        'The link has been used already, or is too old. Ask for a new one with “gex ui”.',
      );
    }
    const token = await findTokenBySecret(meta, (by.token ?? '').trim());
    if (token === undefined || isExpired(token, env.now()))
      throw new ApiError(401, 'storage.tokenInvalid', 'Invalid access token');
    if (token.run_limits !== null) throw accessDenied();
    return token;
  }
}

/** Headers of answers for this browser alone. */
const PRIVATE = { 'content-type': 'application/json', 'cache-control': 'no-store' } as const;

function fileRoutes({ env, publicUrl }: HttpContext): Route[] {
  const files = consoleFiles();
  const base = publicUrl === undefined ? '' : trimEnd(new URL(publicUrl).pathname, '/');
  const shared = { ...PUBLIC, method: 'GET', isHidden: true, status: 200 } as const;
  const page: Route['handle'] = async ({ request }) => {
    if (request.headers.accept?.includes('text/html') !== true) throw notFound('Not found');
    return await pageAnswer(files, env, base);
  };
  const unknown: Route['handle'] = async (call) => {
    const { body, headers } = (await page(call)) as Answer; // made above
    return new Answer(404, body, headers);
  };
  return [
    ...['/', ...PLACES.flatMap((place) => [`/${place}`, `/${place}/*`])].map((path) =>
      route({ ...shared, path, summary: 'The console', handle: page as () => Promise<Answer> }),
    ),
    // The page says that there is nothing; programs are told as ever.
    route({ ...shared, path: '/*', summary: 'The console', handle: unknown as () => Promise<Answer> }),
    route({
      ...shared,
      path: '/assets/:name',
      summary: 'A file of the console',
      async handle({ params, request }) {
        const asset = await files.asset(params.name, request.headers['accept-encoding'] ?? '');
        if (asset === undefined) throw notFound('Not found');
        // The name changes with the content.
        const cache = 'public, max-age=31536000, immutable';
        return new Answer(200, asset.body, { ...asset.headers, 'cache-control': cache, ...SAFE });
      },
    }),
  ];
}
