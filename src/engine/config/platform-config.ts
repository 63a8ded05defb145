import { parseAllowedHosts, type AllowedHost } from '../http/trust/allowed-hosts.ts';
import { getKey, isEmpty, isObject, type AnyObject } from '../../lib/json/index.ts';
import { kindOf, numericOf } from '../../lib/read-settings.ts';
import { EMPTY, invalid, read, wholeOf } from './config-settings.ts';
import type { SshProxy } from '../http/tunnel/ssh-tunnel.ts';

/** `parameters.cache`. */
export interface CacheConfig {
  readonly ttlSeconds: number;
}

const DEFAULT_CACHE_SECONDS = 604_800;

/** @throws {ConfigError} listing every key that is missing */
export function readSshProxy(parameters: AnyObject): SshProxy | undefined {
  const node = read.map(parameters, 'sshProxy', 'parameters') ?? EMPTY;
  if (isEmpty(node)) return undefined;
  const at = 'parameters.sshProxy';
  const keys = ['user', 'host', 'port', '#privateKey'] as const;
  const missing = keys.filter((key) => isEmpty(getKey(node, key)));
  if (missing.length > 0)
    throw invalid(
      at,
      `The SSH proxy lacks ${missing.map((key) => `\`${key}\``).join(', ')}.`,
      'All four keys are needed.',
    );
  const port = wholeOf(getKey(node, 'port'));
  if (port === undefined || port < 1 || port > 65_535)
    throw invalid(`${at}.port`, '`port` must be a whole number from 1 to 65535.');
  return {
    user: read.text(node, 'user', at) ?? '',
    host: read.text(node, 'host', at) ?? '',
    port,
    privateKey: read.text(node, '#privateKey', at) ?? '',
  };
}

/** Reads the cache; any value that is not empty turns it on. */
export function readCache(parameters: AnyObject): CacheConfig | undefined {
  const value = getKey(parameters, 'cache');
  if (isEmpty(value)) return undefined;
  const ttl = isObject(value) ? getKey(value, 'ttl') : undefined;
  if (ttl === undefined || ttl === null) return { ttlSeconds: DEFAULT_CACHE_SECONDS };
  const seconds = numericOf(ttl);
  if (seconds !== undefined && seconds >= 0) return { ttlSeconds: seconds };
  throw invalid('parameters.cache.ttl', `\`ttl\` must be a number of seconds, and it is ${kindOf(ttl)}.`);
}

/** The credentials as they are; the authentication types check what they need. */
export function readOAuthCredentials(root: AnyObject): AnyObject | undefined {
  const oauth = read.map(read.map(root, 'authorization', '') ?? EMPTY, 'oauth_api', 'authorization') ?? EMPTY;
  const credentials = read.map(oauth, 'credentials', 'authorization.oauth_api') ?? EMPTY;
  return isEmpty(credentials) ? undefined : credentials;
}

/** @throws {ConfigError} for an entry that cannot be read */
export function readAllowedHosts(root: AnyObject): readonly AllowedHost[] {
  return parseAllowedHosts(getKey(read.map(root, 'image_parameters', '') ?? EMPTY, 'allowed_hosts'));
}

/** @throws {ConfigError} when the action is no text */
export function readAction(root: AnyObject): string {
  return read.text(root, 'action', '') ?? 'run';
}
