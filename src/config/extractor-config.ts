import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  objectOf,
  sizeOf,
  type AnyObject,
  type Json,
} from '../json/index.ts';
import { readApi, type ApiConfig } from './api-config.ts';
import { asObject, normalise } from './normalise.ts';
import {
  readAction,
  readAllowedHosts,
  readAws,
  readCache,
  readOAuthCredentials,
  readSshProxy,
  type CacheConfig,
  type SshProxyConfig,
} from './platform-config.ts';
import { pathOf } from './path.ts';
import { EMPTY, invalid, kindOf, objectAt, textAt, wholeOf, type ConfigWarning } from './settings.ts';
import { isWrapped, WRAPPED_HINT } from './resource.ts';

/** A component configuration as the runtime uses it. Functions in it are not evaluated yet. */
export interface ExtractorConfig {
  readonly api: ApiConfig;
  /** One for each iteration, or the base alone when there are none. Never empty. */
  readonly configs: readonly EffectiveConfig[];
  readonly sshProxy: SshProxyConfig | undefined;
  /** `parameters.aws`, complete; undefined when requests are not signed. */
  readonly aws: AnyObject | undefined;
  readonly cache: CacheConfig | undefined;
  /** `authorization.oauth_api.credentials`, as it is. */
  readonly oauthCredentials: AnyObject | undefined;
  /** `image_parameters.allowed_hosts`, checked; undefined when requests may go anywhere. */
  readonly allowedHosts: Json | undefined;
  /** `run`, or the name of a sync action. */
  readonly action: string;
  /** What works and should be written otherwise. */
  readonly warnings: readonly ConfigWarning[];
}

/** `config` after the shallow replacement by one iteration (spec extractor 1.1, 1.3). */
export interface EffectiveConfig {
  /** The whole node: attributes of functions are read from it. */
  readonly node: AnyObject;
  /** JSON path of `config`, for messages. */
  readonly at: string;
  /** Index in `iterations`; undefined for the base. */
  readonly iteration: number | undefined;
  /** The node of the jobs, a list or an object of objects, not empty. */
  readonly jobs: Json;
  readonly jobsAt: string;
  /** Bucket without `in.c-`; undefined when there is none (spec extractor 7.2). */
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
  /** `api.http.headers` with `config.http.headers` over it, by exact name. Values may be functions. */
  readonly headers: AnyObject;
  /** Texts of `username` or `#username`, `password` or `#password`; the plain key wins unless it is empty. */
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/**
 * Reads a component configuration (spec extractor 1.1 to 1.3, 7.2): root and row merged, secrets in place.
 * Functions are left as they are; jobs, pagination, mappings and authentication are read by their stages.
 *
 * @throws {ConfigError} at the first thing that a run could not use, with its JSON path
 */
export function parseExtractorConfig(configuration: AnyObject): ExtractorConfig {
  const root = asObject(normalise(configuration)) ?? EMPTY;
  const parameters = objectAt(root, 'parameters', '');
  const base = configNode(root, parameters);
  const warnings: ConfigWarning[] = [];
  const api = readApi(parameters, warnings);
  return {
    api,
    configs: effectiveConfigs(parameters, base, api),
    sshProxy: readSshProxy(parameters),
    aws: readAws(parameters),
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
  const list = isList(iterations)
    ? iterations
    : isObject(iterations)
      ? entriesOf(iterations).map(([, item]) => item)
      : undefined;
  if (list === undefined) {
    throw invalid(
      'parameters.iterations',
      `\`iterations\` must be a list of objects, and it is ${kindOf(iterations)}.`,
    );
  }
  return list.map((item, index) => {
    const over = asObject(item);
    if (over === undefined) {
      throw invalid(
        `parameters.iterations[${index}]`,
        `An iteration must be an object, and it is ${kindOf(item)}.`,
      );
    }
    return effectiveConfig(objectOf([...entriesOf(base), ...entriesOf(over)]), { index, over }, api);
  });
}

function effectiveConfig(
  node: AnyObject,
  iteration: { readonly index: number; readonly over: AnyObject } | undefined,
  api: ApiConfig,
): EffectiveConfig {
  /** Where a key of the effective config is written. */
  const place = (key: string): string =>
    iteration !== undefined && getKey(iteration.over, key) !== undefined
      ? `parameters.iterations[${iteration.index}]`
      : 'parameters.config';
  const at = (key: string): string => pathOf(place(key), key);

  const headers = objectAt(objectAt(node, 'http', place('http')), 'headers', at('http'));
  checkRequiredHeaders(headers, api.requiredHeaders, `${at('http')}.headers`);
  const mappings = objectAt(node, 'mappings', place('mappings'));
  return {
    node,
    at: 'parameters.config',
    iteration: iteration?.index,
    jobs: readJobs(getKey(node, 'jobs'), at('jobs')),
    jobsAt: at('jobs'),
    outputBucket: readBucket(node, place, api.name),
    incrementalOutput: readIncremental(getKey(node, 'incrementalOutput'), at('incrementalOutput')),
    debug: !isEmpty(getKey(node, 'debug')),
    mappings: sizeOf(mappings) === 0 ? undefined : mappings,
    mappingsAt: at('mappings'),
    userData: readUserData(getKey(node, 'userData')),
    userDataAt: at('userData'),
    compatLevel: readCompatLevel(getKey(node, 'compatLevel'), at('compatLevel')),
    headers: objectOf([...entriesOf(api.headers), ...entriesOf(headers)]),
    username: readCredential(node, 'username', place),
    password: readCredential(node, 'password', place),
  };
}

function readJobs(jobs: Json | undefined, at: string): Json {
  if (isEmpty(jobs) || jobs === undefined) {
    throw invalid(at, 'The configuration has no jobs.', 'Add "jobs": [{"endpoint": "…"}] to `config`.');
  }
  const items: [string, Json][] = isList(jobs)
    ? jobs.map((item, index) => [String(index), item])
    : isObject(jobs)
      ? entriesOf(jobs)
      : [];
  if (items.length === 0) throw invalid(at, `\`jobs\` must be a list of jobs, and it is ${kindOf(jobs)}.`);
  for (const [key, item] of items) {
    if (asObject(item) === undefined) {
      throw invalid(
        pathOf(at, key),
        `A job must be an object, and it is ${kindOf(item)}.`,
        'Write {"endpoint": "…"}.',
      );
    }
  }
  return jobs;
}

function readBucket(node: AnyObject, place: (key: string) => string, apiName: string): string | undefined {
  const given = textAt(node, 'outputBucket', place('outputBucket'));
  const id = given === undefined ? textAt(node, 'id', place('id')) : undefined;
  const bucket = given ?? (id === undefined ? undefined : `ex-api-${apiName}-${id}`);
  if (bucket === undefined || !bucket.includes('/')) return bucket;
  const key = given !== undefined ? 'outputBucket' : 'id';
  throw invalid(
    pathOf(place(key), key),
    `The output bucket “${bucket}” has a slash, and buckets name files.`,
    'Use letters, digits, `-` and `_`.',
  );
}

function readIncremental(value: Json | undefined, at: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw invalid(at, `\`incrementalOutput\` must be true or false, and it is ${kindOf(value)}.`);
}

function readUserData(value: Json | undefined): AnyObject {
  if (value === undefined || value === null || value === '') return EMPTY;
  return asObject(value) ?? objectOf([['userData', value]]);
}

function readCompatLevel(value: Json | undefined, at: string): 1 | 2 | 3 {
  if (isEmpty(value)) return 3;
  const level = wholeOf(value);
  if (level === 1 || level === 2 || level === 3) return level;
  throw invalid(at, '`compatLevel` must be 1, 2 or 3.', 'Leave it out to get 3, the present behaviour.');
}

function readCredential(node: AnyObject, name: string, place: (key: string) => string): string | undefined {
  return textAt(node, name, place(name)) ?? textAt(node, `#${name}`, place(`#${name}`));
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
