import {
  childrenOf,
  getKey,
  isObject,
  isScalar,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { isHttpUrl } from '../url.ts';

/** Settings in which the configuration may name an address. */
export interface TrustSources {
  /** Evaluated `api.baseUrl`. */
  readonly baseUrl: string;
  /** The `api` section: logins, token endpoints and scroll requests are found in it. */
  readonly api: AnyObject;
  /** `config.jobs`. */
  readonly jobs: Json | undefined;
  /** Evaluates a function of attributes, which a login may have in place of an address. */
  readonly evaluate?: ((value: AnyObject) => Json | undefined) | undefined;
}

/**
 * Returns the addresses that the configuration itself names: `baseUrl`, and whole URLs written as the endpoint of a
 * job, a child, a login or a scroll request, or as a token endpoint. An address whose host comes from a placeholder is
 * not among them.
 */
export function trustedOriginsOf({ baseUrl, api, jobs, evaluate }: TrustSources): readonly string[] {
  const found = [baseUrl];
  const scheme = baseUrl.slice(0, baseUrl.indexOf(':') + 1);
  const add = (endpoint: Json): void => {
    if (!isScalar(endpoint)) return;
    const text = toText(endpoint);
    const url = text.startsWith('//') ? `${scheme}${text}` : text;
    const [origin = ''] = /^https?:\/\/[^/?#]*/i.exec(url) ?? [];
    if (!/[{}]/.test(origin) && isHttpUrl(origin)) found.push(origin);
  };
  collect(getKey(api, 'authentication'), (endpoint) =>
    add(isObject(endpoint) ? (evaluate?.(endpoint) ?? null) : endpoint),
  );
  collect(getKey(api, 'pagination'), add);
  collectJobs(jobs, add);
  return [...new Set(found)];
}

const ADDRESS_KEYS = new Set(['endpoint', 'tokenUrl']);

function collect(node: Json | undefined, add: (endpoint: Json) => void): void {
  for (const [key, value] of childrenOf(node) ?? []) {
    if (ADDRESS_KEYS.has(key)) add(value);
    collect(value, add);
  }
}

/**
 * Collects the addresses of jobs from `endpoint`, `pagination` and `children` only: a URL in a parameter is no address
 * of a request.
 */
function collectJobs(jobs: Json | undefined, add: (endpoint: Json) => void): void {
  for (const [, job] of childrenOf(jobs) ?? []) {
    if (!isObject(job)) continue;
    const endpoint = getKey(job, 'endpoint');
    if (endpoint !== undefined) add(endpoint);
    collect(getKey(job, 'pagination'), add);
    collect(getKey(job, 'export'), add);
    collectJobs(getKey(job, 'children'), add);
  }
}

/**
 * Returns the names of headers, in lower case, whose configured value takes a `#` attribute anywhere in its functions.
 *
 * @param maps `api.http.headers`, `config.http.headers`, `headers` of jobs, as they stand in the configuration
 */
export function secretHeadersOf(maps: Iterable<Json | undefined>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const map of maps) {
    for (const [name, value] of childrenOf(map) ?? [])
      if (name.startsWith('#') || refersToSecret(value)) names.add(name.toLowerCase());
  }
  return names;
}

function refersToSecret(value: Json): boolean {
  return (childrenOf(value) ?? []).some(
    ([key, item]) =>
      (key === 'attr' && typeof item === 'string' && /(?:^|\.)#/.test(item)) || refersToSecret(item),
  );
}
