import type { FastifyRequest } from 'fastify';

/** Tells whether browsers reach the service by TLS, be it a proxy's. */
const isSecure = (origin: string): boolean => origin.startsWith('https:');

/**
 * Cookies know no ports: services on several of one machine would take each other's away. By TLS, the prefix makes
 * browsers refuse one that was set for more than this host.
 */
function nameOf(origin: string): string {
  const { port } = new URL(origin);
  return `${isSecure(origin) ? '__Host-' : ''}gex-console${port === '' ? '' : `-${port}`}`;
}

/** What a browser was given when it signed in. */
export function sessionOf({ headers }: Pick<FastifyRequest, 'headers'>, origin: string): string | undefined {
  const name = nameOf(origin);
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [key = '', value = ''] = pair.trim().split('=', 2);
    if (key === name && value !== '') return value;
  }
  return undefined;
}

/** Kept until the browser is closed, or the session is over. No script sees it, and no other site has it sent. */
export function sessionCookie(origin: string, secret: string): string {
  return [`${nameOf(origin)}=${secret}`, ...attributesOf(origin)].join('; ');
}

export function noCookie(origin: string): string {
  return [`${nameOf(origin)}=`, 'Max-Age=0', ...attributesOf(origin)].join('; ');
}

function attributesOf(origin: string): string[] {
  return ['Path=/', 'HttpOnly', 'SameSite=Strict', ...(isSecure(origin) ? ['Secure'] : [])];
}
