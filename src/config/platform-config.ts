import { parseAllowedHosts } from '../http/allowed-hosts.ts';
import { getKey, isEmpty, isObject, type AnyObject, type Json } from '../json/index.ts';
import { invalid, kindOf, numericOf, objectAt, textAt, wholeOf } from './settings.ts';

/** `parameters.sshProxy` (spec extractor 6.9). */
export interface SshProxyConfig {
  readonly user: string;
  readonly host: string;
  readonly port: number;
  readonly privateKey: string;
}

/** `parameters.cache` (spec extractor 6.11). */
export interface CacheConfig {
  readonly ttlSeconds: number;
}

const DEFAULT_CACHE_SECONDS = 604_800;

/** @throws {ConfigError} listing every key that is missing */
export function readSshProxy(parameters: AnyObject): SshProxyConfig | undefined {
  const node = objectAt(parameters, 'sshProxy', 'parameters');
  if (isEmpty(node)) return undefined;
  const at = 'parameters.sshProxy';
  const keys = ['user', 'host', 'port', '#privateKey'] as const;
  const missing = keys.filter((key) => isEmpty(getKey(node, key)));
  if (missing.length > 0) {
    throw invalid(
      at,
      `The SSH proxy lacks ${missing.map((key) => `\`${key}\``).join(', ')}.`,
      'All four keys are needed.',
    );
  }
  const port = wholeOf(getKey(node, 'port'));
  if (port === undefined || port < 1 || port > 65_535) {
    throw invalid(`${at}.port`, '`port` must be a whole number from 1 to 65535.');
  }
  return {
    user: textAt(node, 'user', at) ?? '',
    host: textAt(node, 'host', at) ?? '',
    port,
    privateKey: textAt(node, '#privateKey', at) ?? '',
  };
}

/**
 * The node `parameters.aws`, which the HTTP stage reads; undefined when requests are not signed (spec extractor 6.10).
 *
 * @throws {ConfigError} naming the key that is missing
 */
export function readAws(parameters: AnyObject): AnyObject | undefined {
  const aws = objectAt(parameters, 'aws', 'parameters');
  const signature = objectAt(aws, 'signature', 'parameters.aws');
  const node = objectAt(signature, 'credentials', 'parameters.aws.signature');
  if (isEmpty(node)) return undefined;
  const at = 'parameters.aws.signature.credentials';
  for (const key of ['accessKeyId', '#secretKey', 'serviceName', 'regionName']) {
    if (textAt(node, key, at) !== undefined) continue;
    throw invalid(`${at}.${key}`, `The AWS signature needs \`${key}\`.`, `Set \`${key}\` in ${at}.`);
  }
  return aws;
}

/** Anything that is not empty turns the cache on. */
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
  const oauth = objectAt(objectAt(root, 'authorization', ''), 'oauth_api', 'authorization');
  const credentials = objectAt(oauth, 'credentials', 'authorization.oauth_api');
  return isEmpty(credentials) ? undefined : credentials;
}

/**
 * The node `image_parameters.allowed_hosts`, which the HTTP stage reads; undefined when any host is allowed.
 *
 * @throws {ConfigError} for an entry that the stage could not read
 */
export function readAllowedHosts(root: AnyObject): Json | undefined {
  const value = getKey(objectAt(root, 'image_parameters', ''), 'allowed_hosts');
  if (value === undefined || isEmpty(value)) return undefined;
  parseAllowedHosts(value);
  return value;
}

/** @throws {ConfigError} when the action is no text */
export function readAction(root: AnyObject): string {
  return textAt(root, 'action', '') ?? 'run';
}
