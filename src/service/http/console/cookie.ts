import type { FastifyRequest } from 'fastify';

/** Tells whether browsers reach the service by TLS, also that of a proxy. */
const isSecure = (origin: string): boolean => origin.startsWith('https:');

/**
 * Returns the name of the cookie. Cookies ignore ports: services on several ports of one machine would overwrite each
 * other's. With TLS, the prefix makes browsers refuse a cookie that was set for more than this host.
 */
function nameOf(origin: string): string {
  const { port } = new URL(origin);
  return `${isSecure(origin) ? '__Host-' : ''}gex-console${port === '' ? '' : `-${port}`}`;
}

/** Returns the secret that a browser got when it signed in. */
export function sessionOf({ headers }: Pick<FastifyRequest, 'headers'>, origin: string): string | undefined {
  const name = nameOf(origin);
  for (const pair of (headers.cookie ?? '').split(';')) {
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

export function noCookie(origin: string): string {
  return [`${nameOf(origin)}=`, 'Max-Age=0', ...attributesOf(origin)].join('; ');
}

function attributesOf(origin: string): string[] {
  return ['Path=/', 'HttpOnly', 'SameSite=Strict', ...(isSecure(origin) ? ['Secure'] : [])];
}
