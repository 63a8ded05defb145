import { RunError } from '../../lib/errors.ts';
import type { OpenOptions } from '../../storage/client/open-options.ts';
import { secretsOf } from '../platform/database/address.ts';
import type { TablesKind } from '../stores/tables/kind.ts';

/** Place of a storage, as `--storage` names it. */
export type StoragePlace =
  | { readonly kind: 'service' }
  | { readonly kind: 'folder'; readonly dir: string; readonly tables: TablesKind | undefined }
  | DatabasePlace;

/** A PostgreSQL database. */
export interface DatabasePlace {
  readonly kind: 'database';
  /** With the password, where one is given. */
  readonly url: string;
  readonly schema: string | undefined;
  /** The same without the password: names it again. */
  readonly address: string;
  readonly tables: TablesKind | undefined;
}

/**
 * Reads the place of a storage: a folder, the address of a service, or `postgres://USER@HOST/DATABASE`; a folder or a
 * database with `lake:` in front has its tables in a lake.
 *
 * @throws {RunError} `command.invalid`
 */
export function readPlace({
  storage,
  environment,
  secrets,
}: Pick<OpenOptions, 'environment' | 'secrets' | 'storage'>): StoragePlace {
  if (/^https?:\/\//i.test(storage)) return { kind: 'service' };
  const isLake = storage.startsWith(LAKE);
  const rest = isLake ? storage.slice(LAKE.length) : storage;
  const tables: TablesKind | undefined = isLake ? 'lake' : undefined;
  if (/^postgres(?:ql)?:/i.test(rest)) {
    // The text may hold a password that cannot be parsed.
    const raw = /^[^/]*\/\/[^:@/]*:(?<password>.*)@/.exec(rest)?.groups?.['password'];
    if (raw !== undefined && !raw.startsWith('$env:')) secrets?.add(raw);
    const url = withVariables(rest, environment);
    if (URL.canParse(url)) for (const secret of secretsOf(url)) secrets?.add(secret);
    for (const secret of [environment['PGPASSWORD']]) if (secret) secrets?.add(secret);
    const { schema, url: withoutSchema } = schemaOf(url);
    return { kind: 'database', url: withoutSchema, schema, address: addressOf(storage), tables };
  }
  if (/^\w+:\/\//.test(rest) || /^[\w.-]+:\d+(?:\/|$)/.test(rest) || rest === '')
    throw new RunError(
      'command.invalid',
      `“${addressOf(storage)}” is no folder, and no address of a service or a database.`,
      {
        hint: 'An address begins with http://, https:// or postgres://, such as http://127.0.0.1:8080 or postgres://me@localhost/tables.',
      },
    );
  return { kind: 'folder', dir: rest, tables };
}

/** Returns the folder that `--storage` names; undefined when it names none. */
export function folderIn(storage: string): string | undefined {
  const rest = storage.startsWith(LAKE) ? storage.slice(LAKE.length) : storage;
  return /^\w+:\/\//.test(rest) ? undefined : rest;
}

const LAKE = 'lake:';

/** Puts the values of variables in the place of `$env:NAME`, as they are written in an address. */
function withVariables(url: string, environment: OpenOptions['environment']): string {
  return url.replaceAll(/\$env:(\w+)/g, (_, name: string) => {
    const value = environment[name] ?? '';
    if (value !== '') return encodeURIComponent(value);
    throw new RunError('command.invalid', `The environment variable ${name} is not set.`, {
      hint: `The address of the storage takes its value from there: set ${name}.`,
    });
  });
}

/** Takes the schema out of the parameters of an address: PostgreSQL's own clients know no such one. */
function schemaOf(url: string): { readonly url: string; readonly schema: string | undefined } {
  const schema = /[?&]schema=([^&]*)/.exec(url)?.[1];
  if (schema === undefined) return { url, schema };
  const without = url.replace(/([?&])schema=[^&]*&?/, '$1').replace(/[?&]$/, '');
  return { url: without, schema: schema === '' ? undefined : decodeURIComponent(schema) };
}

/** Returns an address without its password, unless it only says where that is. */
function addressOf(storage: string): string {
  return storage
    .replace(/^([^/]*\/\/[^:@/]*):(?!\$env:\w+@).*@/, '$1@')
    .replace(/([?&])password=(?!\$env:)[^&]*&?/, '$1')
    .replace(/[?&]$/, '');
}
