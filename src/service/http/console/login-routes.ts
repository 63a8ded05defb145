import { decryptValue, encryptValue, type Scope } from '../../../lib/encryption/index.ts';
import { keyFileText } from '../../../lib/encryption/keys.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { encodeExact } from '../../../lib/json/index.ts';
import {
  LoginProgress,
  LoginStart,
  StartedLogin,
  type LoginProgress as Progress,
} from '../../../storage/protocol/login.ts';
import { accessDenied, ApiError, notFound } from '../../domain/api-error.ts';
import type { AskedToLogIn, LoggedIn } from '../../domain/builder/builder-types.ts';
import type { Desk } from '../../domain/builder/desk.ts';
import { documentOf, keepLogins, readLogins } from '../../domain/configurations/logins.ts';
import { requireWhole } from '../../domain/configurations/read-configuration.ts';
import { callerOf } from '../../domain/tokens/caller.ts';
import { requireComponent } from '../../domain/tokens/permissions.ts';
import { findBranch } from '../../stores/metadata/branches.ts';
import {
  createLogin,
  findLogin,
  finishLogin,
  loginIdOf,
  newLoginSecrets,
  takeLogin,
} from '../../stores/metadata/console-logins.ts';
import { findSessionByHash, newSecret } from '../../stores/metadata/console-sessions.ts';
import type { ConfigurationKey, ConsoleLoginRow } from '../../stores/metadata/tables.ts';
import type { Transact } from '../../stores/metadata/transaction.ts';
import { Answer } from '../answer.ts';
import type { HttpContext } from '../http-context.ts';
import { keyFrom } from '../parsing/configuration.ts';
import { KNOWN_COMPONENT } from '../routes/builder.ts';
import { route, type Route } from '../route.ts';
import { loginCookie, loginCookieOf, sessionOf } from './cookie.ts';
import { loginPage } from './login-page.ts';

const CALLBACK = '/console/logins/callback';
const RESULT = '/console/logins/result';
/** Milliseconds that a provider may take to exchange a code: the browser waits. */
const EXCHANGE_MS = 60_000;
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Task for when the browser comes back; encrypted in the database. */
interface Task {
  readonly login: Omit<AskedToLogIn, 'answer' | 'keys'>;
  /** The configuration that gets the login; undefined for a source that is not saved yet. */
  readonly key: ConfigurationKey | undefined;
}

/**
 * Makes the routes by which a person logs in to an API through the service: the authorization code grant with PKCE. A
 * login belongs to the session that began it, and to the browser, whose cookie comes back with it; its `state` is good
 * once.
 */
export function consoleLoginRoutes(context: HttpContext, desk: Desk): Route[] {
  const { meta, env, keys, project } = context;
  const ownScope: Scope = { project: String(project.id), component: 'console-logins' };

  const OUTSIDE = { scope: 'plain', isOutside: true, tag: 'Console' } as const;
  const PUBLIC = { ...OUTSIDE, access: 'public', method: 'GET' } as const;
  return [
    route({
      ...OUTSIDE,
      method: 'POST',
      path: '/console/logins',
      summary: 'Begins the login of a person to an API, in the browser of this session',
      status: 201,
      makesSecret: true,
      maxBodyBytes: MAX_BODY_BYTES,
      body: LoginStart,
      response: StartedLogin,
      // The browser that comes back needs the cookie of the one that began.
      judge: ({ caller }) => {
        if (caller.secret !== undefined) throw accessDenied();
      },
      async handle({ body, request, origin, caller }) {
        const session = sessionOf(request, origin);
        if (session === undefined) throw accessDenied();
        const { component = KNOWN_COMPONENT, configuration, row } = body;
        requireComponent(caller, component);
        const key = configuration === undefined ? undefined : await keyOfSaved({ ...body, configuration });
        const document =
          key === undefined
            ? // As the parser of bodies made it.
              encodeExact((body.document ?? {}) as Parameters<typeof encodeExact>[0])
            : await documentOf(meta, await requireWhole(meta, key));
        const secrets = newLoginSecrets(env);
        const login = {
          kind: 'login',
          document,
          row,
          scope: { project: String(project.id), component, configuration },
          redirectUri: origin + CALLBACK,
          state: secrets.state,
          verifier: newSecret(env) + newSecret(env),
        } as const;
        const { address } = await desk.ask({ ...login, keys: keyFileText(keys) }, (said) =>
          'opened' in said ? said.opened : undefined,
        );
        const task: Task = { login, key };
        const sealed = encryptValue(JSON.stringify(task), ownScope, keys, env);
        const expires = await createLogin(meta, env, secrets, { session, task: sealed });
        const id = loginIdOf(secrets.state);
        const seconds = Math.round((Date.parse(expires) - env.now()) / 1000);
        return new Answer(
          201,
          { id, address, redirectUri: login.redirectUri, expires },
          {
            'content-type': 'application/json',
            'cache-control': 'no-store',
            'set-cookie': loginCookie(origin, id, secrets.browser, seconds),
          },
        );

        async function keyOfSaved(of: { branch?: string; configuration: string }): Promise<ConfigurationKey> {
          const branch = await findBranch(meta, of.branch ?? 'default');
          if (branch === undefined) throw notFound('Branch not found');
          return keyFrom(context, { caller, branch }, component, of.configuration);
        }
      },
    }),
    route({
      ...PUBLIC,
      path: CALLBACK,
      summary: 'Where a provider sends the browser back to after a login',
      status: 303,
      async handle({ request, origin, transact }) {
        const url = new URL(request.url, origin);
        const id = loginIdOf(url.searchParams.get('state') ?? '');
        const login = await loginOf(request, origin, id);
        if (login === undefined || !(await takeLogin(meta, id))) return loginPage(env, 400, STRANGE);
        const progress = await finish(login, `${origin}${CALLBACK}${url.search}`, transact);
        await finishLogin(meta, id, JSON.stringify(progress));
        // Elsewhere, so that the code stays neither in the address nor in the history.
        return new Answer(303, undefined, {
          location: `${origin}${RESULT}?id=${id}`,
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
        });
      },
    }),
    route({
      ...PUBLIC,
      path: RESULT,
      summary: 'How a login ended, for the tab in which a person logged in',
      status: 200,
      async handle({ request, origin }) {
        const id = new URL(request.url, origin).searchParams.get('id') ?? '';
        const login = await loginOf(request, origin, id);
        if (login === undefined || login.answer === null) return loginPage(env, 400, STRANGE);
        const { status, error } = progressOf(login);
        return status === 'done'
          ? loginPage(env, 200, DONE)
          : loginPage(env, 200, { title: 'Not logged in', text: `${error ?? ''} ${CLOSE}` });
      },
    }),
    route({
      ...OUTSIDE,
      method: 'GET',
      path: '/console/logins/:login',
      summary: 'How far a login is that this session began',
      response: LoginProgress,
      async handle({ params, request, origin }) {
        const session = sessionOf(request, origin);
        const login =
          session === undefined ? undefined : await findLogin(meta, env, params.login, { session });
        if (login === undefined)
          throw notFound('There is no such login, or its ten minutes are over: begin it anew.');
        return progressOf(login);
      },
    }),
  ];

  async function loginOf(
    request: Parameters<typeof loginCookieOf>[0],
    origin: string,
    id: string,
  ): Promise<ConsoleLoginRow | undefined> {
    const browser = loginCookieOf(request, origin, id);
    return browser === undefined ? undefined : await findLogin(meta, env, id, { browser });
  }

  /** Exchanges the code, and stores what came. It never fails: how it ended is for the page that began. */
  async function finish(login: ConsoleLoginRow, answer: string, transact: Transact): Promise<Progress> {
    try {
      const session = await findSessionByHash(meta, env, login.session_hash);
      if (session === undefined) throw new ApiError(401, 'console.signedOut', 'The session has ended.');
      // Written by this service.
      const { value: text } = decryptValue(login.task, ownScope, keys);
      const { login: asked, key } = JSON.parse(typeof text === 'string' ? text : '') as Task;
      // Permissions may have been taken back meanwhile.
      requireComponent(callerOf(session.token), asked.scope.component);
      const done = await desk.ask(
        { ...asked, keys: keyFileText(keys), answer },
        (said) => ('loggedIn' in said ? said.loggedIn : undefined),
        Math.min(EXCHANGE_MS, desk.patienceMs),
      );
      if (key !== undefined) await keepLogins(transact, key, readLogins(done.logins));
      return { status: 'done', login: shown(done, key === undefined) };
    } catch (error) {
      if (error instanceof ApiError) return { status: 'failed', error: error.message };
      context.log.error('Login failed', { detail: String(error) });
      return { status: 'failed', error: 'This should not have happened: the log of the service says more.' };
    }
  }
}

function shown(
  { logins, hasRefreshToken, renewAt }: LoggedIn,
  isHeld: boolean,
): NonNullable<Progress['login']> {
  return {
    hasRefreshToken,
    ...(hasRefreshToken || renewAt === undefined ? {} : { endsAt: isoTime(renewAt * 1000) }),
    ...(isHeld ? { logins } : {}),
  };
}

function progressOf({ answer, is_taken }: ConsoleLoginRow): Progress {
  // Written by this service.
  if (answer !== null) return JSON.parse(answer) as Progress;
  return { status: is_taken === 1 ? 'exchanging' : 'waiting' };
}

const CLOSE = 'You can close this tab and go back to the console.';
const DONE = { title: 'Logged in', text: `The login is kept encrypted. ${CLOSE}` } as const;
const STRANGE = {
  title: 'Not logged in',
  text: 'This is no answer to a login that was begun in this browser, or it was used already, or it is older than ten minutes. Go back to the console, and begin the login anew.',
} as const;
