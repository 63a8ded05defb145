import { parseAwsCredentials, type AwsCredentials } from '../http/sign.ts';
import type { AllowedHost } from '../http/trust/allowed-hosts.ts';
import { readUserData } from '../jobs/user-data.ts';
import {
  entriesOf,
  getKey,
  isEmpty,
  isObject,
  objectOf,
  sizeOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { readApi, type ApiConfig } from './api-config.ts';
import { normalise } from './normalise.ts';
import {
  readAction,
  readAllowedHosts,
  readCache,
  readOAuthCredentials,
  readSshProxy,
  type CacheConfig,
} from './platform-config.ts';
import { pathOf } from './path.ts';
import { asItems, asObject, kindOf } from '../../lib/read-settings.ts';
import { EMPTY, invalid, read, wholeOf, type ConfigWarning } from './config-settings.ts';
import { isWrapped, WRAPPED_HINT } from './resource.ts';
import type { SshProxy } from '../http/tunnel/ssh-tunnel.ts';

/** A component configuration as the runtime uses it. Functions in it are not evaluated yet. */
export interface ExtractorConfig {
  readonly api: ApiConfig;
  /** One for each iteration, or the base alone when there are none. Never empty. */
  readonly configs: readonly EffectiveConfig[];
  readonly sshProxy: SshProxy | undefined;
  /** `parameters.aws`; undefined when requests are not signed. */
  readonly aws: AwsCredentials | undefined;
  readonly cache: CacheConfig | undefined;
  /** `authorization.oauth_api.credentials`, as it is. */
  readonly oauthCredentials: AnyObject | undefined;
  /** `image_parameters.allowed_hosts`; empty when requests may go anywhere. */
  readonly allowedHosts: readonly AllowedHost[];
  /** `run`, or the name of a sync action. */
  readonly action: string;
  /** Warnings about settings that work, but should be written differently. */
  readonly warnings: readonly ConfigWarning[];
}

/** `config` after the shallow replacement by one iteration. */
export interface EffectiveConfig {
  /** The whole node: attributes of functions are read from it. */
  readonly node: AnyObject;
  /** JSON path of `config`, for messages. */
  readonly at: string;
  /** Index in `iterations`; undefined for the base. */
  readonly iteration: number | undefined;
  /** Settings of the iteration itself; undefined for the base. */
  readonly own: AnyObject | undefined;
  /** The node of the jobs, as it is written. */
  readonly jobs: Json;
  readonly jobsAt: string;
  /** Bucket without `in.c-`; undefined when there is none. */
  readonly outputBucket: string | undefined;
  readonly incrementalOutput: boolean;
  readonly debug: boolean;
  /** Data type to mapping; undefined in automatic mode. */
  readonly mappings: AnyObject | undefined;
  readonly mappingsAt: string;
  /** Extra columns of top-level jobs; a single value is `{ userData: value }`. */
  readonly userData: AnyObject;
  readonly userDataAt: string;
  readonly compatLevel: 1 | 2 | 3;
  /** JSON text in cells keeps numbers and characters as the API wrote them. */
  readonly exactJson: boolean;
  /** `api.http.headers` with `config.http.headers` over it, by exact name. Values may be functions. */
  readonly headers: AnyObject;
  /** JSON path of one of them. */
  readonly headerAt: (name: string) => string;
}

/**
 * Reads a component configuration: root and row merged, secrets in place.
 * Functions are left as they are; jobs, pagination, mappings and authentication are read by their stages.
 *
 * @throws {ConfigError} at the first thing that a run could not use, with its JSON path
 */
export function parseExtractorConfig(configuration: AnyObject): ExtractorConfig {
  const root = asObject(normalise(configuration)) ?? EMPTY;
  const parameters = read.map(root, 'parameters', '') ?? EMPTY;
  const base = configNode(root, parameters);
  const warnings: ConfigWarning[] = [];
  const api = readApi(parameters, warnings);
  return {
    api,
    configs: effectiveConfigs(parameters, base, api),
    sshProxy: readSshProxy(parameters),
    aws: parseAwsCredentials(getKey(parameters, 'aws')),
    cache: readCache(parameters),
    oauthCredentials: readOAuthCredentials(root),
    allowedHosts: readAllowedHosts(root),
    action: readAction(root),
    warnings,
  };
}

function configNode(root: AnyObject, parameters: AnyObject): AnyObject {
  const value = getKey(parameters, 'config');
  if (isObject(value) && sizeOf(value) > 0) return value;
  const hint = isWrapped(root)
    ? WRAPPED_HINT
    : 'Add "config": {"jobs": [{"endpoint": "…"}]} to the parameters.';
  if (isEmpty(value)) throw invalid('parameters.config', 'The `config` section is missing.', hint);
  throw invalid(
    'parameters.config',
    `The \`config\` section must be an object, and it is ${kindOf(value)}.`,
    hint,
  );
}

function effectiveConfigs(parameters: AnyObject, base: AnyObject, api: ApiConfig): EffectiveConfig[] {
  const iterations = getKey(parameters, 'iterations');
  if (isEmpty(iterations)) return [effectiveConfig(base, undefined, api)];
  const list = asItems(iterations);
  if (list === undefined)
    throw invalid(
      'parameters.iterations',
      `\`iterations\` must be a list of objects, and it is ${kindOf(iterations)}.`,
    );
  return list.map((item, index) => {
    const over = asObject(item);
    if (over === undefined)
      throw invalid(
        `parameters.iterations[${index}]`,
        `An iteration must be an object, and it is ${kindOf(item)}.`,
      );
    return effectiveConfig(objectOf([...entriesOf(base), ...entriesOf(over)]), { index, over }, api);
  });
}

function effectiveConfig(
  node: AnyObject,
  iteration: { readonly index: number; readonly over: AnyObject } | undefined,
  api: ApiConfig,
): EffectiveConfig {
  /** Returns the node that a key of the effective config is written in. */
  const place = (key: string): string =>
    iteration !== undefined && getKey(iteration.over, key) !== undefined
      ? `parameters.iterations[${iteration.index}]`
      : 'parameters.config';
  const at = (key: string): string => pathOf(place(key), key);

  const headers = read.map(read.map(node, 'http', place('http')) ?? EMPTY, 'headers', at('http')) ?? EMPTY;
  checkRequiredHeaders(headers, api.requiredHeaders, `${at('http')}.headers`);
  const mappings = read.map(node, 'mappings', place('mappings')) ?? EMPTY;
  return {
    node,
    at: 'parameters.config',
    iteration: iteration?.index,
    own: iteration?.over,
    jobs: getKey(node, 'jobs') ?? null,
    jobsAt: at('jobs'),
    outputBucket: readBucket(node, place, api.name),
    incrementalOutput: readFlag(node, 'incrementalOutput', at),
    debug: !isEmpty(getKey(node, 'debug')),
    mappings: sizeOf(mappings) === 0 ? undefined : mappings,
    mappingsAt: at('mappings'),
    userData: readUserData(getKey(node, 'userData'), 'userData') ?? EMPTY,
    userDataAt: at('userData'),
    compatLevel: readCompatLevel(getKey(node, 'compatLevel'), at('compatLevel')),
    exactJson: readFlag(node, 'exactJson', at),
    headers: objectOf([...entriesOf(api.headers), ...entriesOf(headers)]),
    headerAt: (name) =>
      pathOf(getKey(headers, name) === undefined ? `${api.at}.http.headers` : `${at('http')}.headers`, name),
  };
}

function readBucket(node: AnyObject, place: (key: string) => string, apiName: string): string | undefined {
  const given = read.text(node, 'outputBucket', place('outputBucket'));
  const id = given === undefined ? read.text(node, 'id', place('id')) : undefined;
  const bucket = given ?? (id === undefined ? undefined : `ex-api-${apiName}-${id}`);
  const key = given !== undefined ? 'outputBucket' : 'id';
  const stage = /^(?:in|out)\.c-/.exec(bucket ?? '')?.[0];
  if (stage !== undefined)
    throw invalid(
      pathOf(place(key), key),
      `The output bucket “${bucket}” begins with “${stage}”, which the tables get by themselves.`,
      `Write ${JSON.stringify(bucket?.slice(stage.length))}.`,
    );
  if (bucket === undefined || !bucket.includes('/')) return bucket;
  throw invalid(
    pathOf(place(key), key),
    `The output bucket “${bucket}” has a slash, and buckets name files.`,
    'Use letters, digits, `-` and `_`.',
  );
}

function readFlag(node: AnyObject, key: string, at: (key: string) => string): boolean {
  const value = getKey(node, key);
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw invalid(at(key), `\`${key}\` must be true or false, and it is ${kindOf(value)}.`);
}

function readCompatLevel(value: Json | undefined, at: string): 1 | 2 | 3 {
  if (isEmpty(value)) return 3;
  const level = wholeOf(value);
  if (level === 1 || level === 2 || level === 3) return level;
  throw invalid(at, '`compatLevel` must be 1, 2 or 3.', 'Leave it out to get 3, the present behaviour.');
}

function checkRequiredHeaders(headers: AnyObject, required: readonly string[], at: string): void {
  for (const name of required) {
    if (!isEmpty(getKey(headers, name))) continue;
    throw invalid(
      pathOf(at, name),
      `The header “${name}” is required by \`api.http.requiredHeaders\` and missing.`,
      `Add "${name}" to the \`headers\` of \`config.http\`; the name is compared with its case.`,
    );
  }
}
