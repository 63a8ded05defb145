import { secretsOf } from '../service/platform/database/address.ts';
import { RunError } from '../lib/errors.ts';
import { ROLES, type Role, type ServiceOptions } from '../service/start/service-options.ts';
import { listed, valued, type Args, type Io, type Option } from './command.ts';

/** The options of `gex serve` for several processes. */
export const databaseOptions = {
  database: valued(
    'URL',
    'Keep the metadata in this PostgreSQL database (15 or newer) and not in the folder; GEX_DATABASE_URL by default',
  ),
  'database-schema': valued('NAME', 'Its schema; gex by default'),
  'database-connections': valued('N', 'Connections to it that this process has at most; 10 by default'),
  role: listed(
    'ROLE',
    `What this process does: ${ROLES.join(', ')}, several with commas; GEX_ROLE by default, else everything`,
  ),
} as const satisfies Record<string, Option>;

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws {RunError} `command.invalid` */
export function databaseArgs(
  args: Args,
  io: Io,
  environment: Environment,
): Pick<ServiceOptions, 'database' | 'roles'> {
  const roles = rolesOf(args, environment);
  const url = args.text('database') ?? environment['GEX_DATABASE_URL'] ?? '';
  if (url === '') {
    const stray = ['database-schema', 'database-connections'].find((name) => args.text(name) !== undefined);
    if (stray !== undefined)
      throw new RunError('command.invalid', `--${stray} says something of a database that is not named.`, {
        hint: 'Add --database URL, or leave it out to keep everything in the folder.',
      });
    return roles === undefined ? {} : { roles };
  }
  // A text that cannot be parsed as an address may still hold a password.
  const password = /^[^/]*\/\/[^:@/]*:(?<password>.*)@/.exec(url)?.groups?.['password'] ?? '';
  const secrets = [password, decoded(password), ...(URL.canParse(url) ? secretsOf(url) : [])];
  for (const secret of secrets) if (secret !== '') io.secrets.add(secret);
  const schema = args.text('database-schema');
  const connections = args.text('database-connections');
  return {
    database: {
      url,
      ...(schema === undefined ? {} : { schema }),
      ...(connections === undefined ? {} : { poolSize: poolSize(connections) }),
    },
    ...(roles === undefined ? {} : { roles }),
  };
}

function rolesOf(args: Args, environment: Environment): Role[] | undefined {
  const given = args.list('role');
  const names = (given.length > 0 ? given : [environment['GEX_ROLE'] ?? ''])
    .flatMap((list) => list.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) return undefined;
  return names.map((name) => {
    const role = ROLES.find((known) => known === name);
    if (role !== undefined) return role;
    throw new RunError('command.invalid', `There is no role “${name}”.`, {
      hint: `Roles are ${ROLES.join(', ')}; write for example --role api.`,
    });
  });
}

function poolSize(text: string): number {
  if (/^[2-9]$|^[1-9]\d{1,2}$/.test(text)) return Number(text);
  throw new RunError(
    'command.invalid',
    `--database-connections is a number from 2 to 999, and not “${text}”.`,
    {
      hint: 'Write for example --database-connections 10.',
    },
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
