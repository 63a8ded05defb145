import { RunError } from '../../../lib/errors.ts';

/** An address of a database as it may be shown: without its password and its other parameters. */
export function shownAddress(url: string): string {
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}

/** Every text of an address that must not be shown: its password, as it is written and as it is meant. */
export function secretsOf(url: string): string[] {
  const { password, searchParams } = new URL(url);
  const all = [password, decodeURIComponent(password), searchParams.get('password') ?? ''];
  return [...new Set(all)].filter((text) => text !== '');
}

/** Hosts with commas between them, in their place or as a parameter, which the driver would take for one name. */
const SEVERAL_HOSTS =
  /^postgres(?:ql)?:\/\/(?:[^@/]*@)?(?:[^/?@,]*,[^/?@]*(?:[/?]|$)|.*[?&]host=[^&]*(?:,|%2c))/i;

/**
 * The address as the driver is given it: `sslmode` means what it means to every other client of PostgreSQL.
 *
 * @throws {RunError} `command.invalid` for what is no address of a PostgreSQL database
 */
export function driverAddress(url: string): string {
  // The text may hold a password, so no error names it.
  if (SEVERAL_HOSTS.test(url))
    throw new RunError('command.invalid', 'The address of the database names several hosts.', {
      hint: 'Name one: a proxy in front of them that leads to the server that takes changes.',
    });
  const address = URL.parse(url);
  if (address === null || !/^postgres(?:ql)?:$/.test(address.protocol) || !isDecodable(address.password))
    throw new RunError('command.invalid', 'The address of the database is none of PostgreSQL.', {
      hint: 'Write postgres://USER:PASSWORD@HOST:5432/DATABASE; signs such as @ and / of a password as %40 and %2F.',
    });
  if (address.searchParams.has('sslmode') && !address.searchParams.has('uselibpqcompat'))
    address.searchParams.set('uselibpqcompat', 'true');
  return address.href;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
