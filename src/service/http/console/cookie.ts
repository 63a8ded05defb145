import type { FastifyRequest } from 'fastify';

/** Tells whether browsers reach the service by TLS, also that of a proxy. */
const isSecure = (origin: string): boolean => origin.startsWith('https:');

/**
 * Returns the name of the cookie. Cookies ignore ports: services on several ports of one machine would overwrite each
 * other's. With TLS, the prefix makes browsers refuse a cookie that was set for more than this host.
 */
function nameOf(origin: string, what = 'console'): string {
  const { port } = new URL(origin);
  return `${isSecure(origin) ? '__Host-' : ''}gex-${what}${port === '' ? '' : `-${port}`}`;
}

/** Returns the secret that a browser got when it signed in. */
export function sessionOf({ headers }: Pick<FastifyRequest, 'headers'>, origin: string): string | undefined {
  return valueOf(headers.cookie, nameOf(origin));
}

/** Returns what a browser got when it began a login. */
export function loginCookieOf(
  { headers }: Pick<FastifyRequest, 'headers'>,
  origin: string,
  id: string,
): string | undefined {
  return valueOf(headers.cookie, nameOf(origin, loginName(id)));
}

function valueOf(cookie = '', name: string): string | undefined {
  for (const pair of cookie.split(';')) {
    const [key = '', value = ''] = pair.trim().split('=', 2);
    if (key === name && value !== '') return value;
  }
  return undefined;
}

/**
 * Returns the cookie of a session. It lasts until the browser is closed or the session ends. No script can read it,
 * and it is not sent from other sites.
 */
export function sessionCookie(origin: string, secret: string): string {
  return [`${nameOf(origin)}=${secret}`, ...attributesOf(origin)].join('; ');
}

/**
 * Returns the cookie of a login that a browser begins. The provider sends the browser back from another site, so this
 * cookie comes along with a link (`Lax`), where that of the session does not.
 */
export function loginCookie(origin: string, id: string, secret: string, seconds: number): string {
  const attributes = attributesOf(origin, 'Lax');
  return [`${nameOf(origin, loginName(id))}=${secret}`, `Max-Age=${seconds}`, ...attributes].join('; ');
}

/** Several logins may be under way at a time. */
const loginName = (id: string): string => `login-${id.slice(0, 16)}`;

export function noCookie(origin: string): string {
  return [`${nameOf(origin)}=`, 'Max-Age=0', ...attributesOf(origin)].join('; ');
}

function attributesOf(origin: string, site: 'Lax' | 'Strict' = 'Strict'): string[] {
  return ['Path=/', 'HttpOnly', `SameSite=${site}`, ...(isSecure(origin) ? ['Secure'] : [])];
}
