import { isHttpUrl } from '../http/url.ts';
import {
  jsonOf,
  getKey,
  isEmpty,
  isObject,
  isScalar,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { pathOf } from './path.ts';
import { withDefaults } from './scroll-defaults.ts';
import { asItems, asObject, kindOf, numericOf } from '../../lib/read-settings.ts';
import { EMPTY, invalid, read, wholeOf, type ConfigWarning } from './config-settings.ts';

/** `parameters.api`, defaults filled in. Functions are not evaluated. */
export interface ApiConfig {
  /** The whole node, for keys that stages read themselves. */
  readonly node: AnyObject;
  readonly at: string;
  /** An http or https URL, or a function that gives one. */
  readonly baseUrl: string | AnyObject;
  /** Names the implicit bucket. */
  readonly name: string;
  /** PEM bundle that replaces the system's; undefined when not set. */
  readonly caCertificate: string | undefined;
  /** PEM of a client certificate and its key. */
  readonly clientCertificate: string | undefined;
  /** The node of the pagination; undefined when none. */
  readonly pagination: AnyObject | undefined;
  /** The node of the authentication; undefined when none. The older `api.query` is read with it, from `node`. */
  readonly authentication: AnyObject | undefined;
  readonly retry: RetryConfig;
  /** `api.http.headers`; values may be functions. */
  readonly headers: AnyObject;
  readonly requiredHeaders: readonly string[];
  /** Job-like options under every request. */
  readonly defaultOptions: AnyObject;
  /** How lists of parameters are written; undefined for the default. */
  readonly lists: 'indexed' | 'repeated' | undefined;
  readonly ignoreErrors: readonly number[];
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** Limits of `api.http`; what is not set is left to the HTTP client. */
  readonly requestsPerSecond?: number;
  readonly concurrency?: number | 'auto';
  readonly maxBodyBytes?: number;
}

/** `api.retryConfig`; what is not set is left to the HTTP client. */
export interface RetryConfig {
  readonly maxRetries?: number;
  /** Statuses that are tried again. */
  readonly codes?: readonly number[];
  readonly retryHeader?: string;
  readonly maxRetryAfterMs?: number;
  /** Network failures that are tried again, by their curl numbers. */
  readonly curlCodes?: readonly number[];
}

const AT = 'parameters.api';

/** @throws {ConfigError} with the JSON path of what is missing or wrong */
export function readApi(parameters: AnyObject, warnings: ConfigWarning[]): ApiConfig {
  const value = getKey(parameters, 'api');
  const node = asObject(value);
  if (node === undefined) {
    const problem = isEmpty(value) ? 'is missing' : `must be an object, and it is ${kindOf(value)}`;
    throw invalid(
      AT,
      `The \`api\` section ${problem}.`,
      'Add "api": {"baseUrl": "https://…"} to the parameters.',
    );
  }
  const http = read.map(node, 'http', AT) ?? EMPTY;
  const at = `${AT}.http`;
  const defaultOptions = read.map(http, 'defaultOptions', at) ?? EMPTY;
  return {
    node,
    at: AT,
    baseUrl: readBaseUrl(getKey(node, 'baseUrl'), warnings),
    name: read.text(node, 'name', AT) ?? 'generic',
    caCertificate: readCertificate(node),
    clientCertificate: read.text(node, '#clientCertificate', AT),
    pagination: readPagination(getKey(node, 'pagination'), defaultOptions),
    authentication: readAuthentication(node),
    retry: readRetry(read.map(node, 'retryConfig', AT) ?? EMPTY),
    headers: read.map(http, 'headers', at) ?? EMPTY,
    requiredHeaders: readNames(getKey(http, 'requiredHeaders'), `${at}.requiredHeaders`),
    defaultOptions,
    lists: read.word(http, 'lists', at, ['indexed', 'repeated']),
    ignoreErrors: readCodes(getKey(http, 'ignoreErrors'), `${at}.ignoreErrors`) ?? [],
    connectTimeoutMs: secondsAt(http, 'connectTimeout', 30),
    requestTimeoutMs: secondsAt(http, 'requestTimeout', 300),
    ...limits(http, at),
  };
}

function readBaseUrl(value: Json | undefined, warnings: ConfigWarning[]): string | AnyObject {
  const at = `${AT}.baseUrl`;
  if (isEmpty(value) || value === undefined)
    throw invalid(at, '`baseUrl` is missing.', 'Add "baseUrl": "https://api.example.com/v1/" to `api`.');
  if (isObject(value)) return value;
  if (typeof value !== 'string')
    throw invalid(at, `\`baseUrl\` must be a URL or a function, and it is ${kindOf(value)}.`);
  if (isHttpUrl(value)) return value;
  const inner = objectIn(value);
  if (inner !== undefined) {
    warnings.push({
      path: at,
      message: 'A function in the text of `baseUrl` is deprecated: write it as an object.',
    });
    return inner;
  }
  const hint = value.includes('://')
    ? 'Only http and https are supported.'
    : `A URL starts with https:// or http://; was “https://${value}” meant?`;
  throw invalid(at, `\`baseUrl\` is not a valid URL: “${value}”.`, hint);
}

function objectIn(text: string): AnyObject | undefined {
  const value = text.trimStart().startsWith('{') ? jsonOf(text) : undefined;
  return isObject(value) ? value : undefined;
}

function readCertificate(node: AnyObject): string | undefined {
  const value = getKey(node, 'caCertificate');
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(
    `${AT}.caCertificate`,
    `\`caCertificate\` must be a text, and it is ${kindOf(value)}.`,
    'Give a PEM bundle, or leave the key out.',
  );
}

/** Reads the pagination; a node that is no map is ignored, as the reference does. */
function readPagination(value: Json | undefined, defaultOptions: AnyObject): AnyObject | undefined {
  if (!isObject(value)) return undefined;
  return withDefaults(value, defaultOptions);
}

function readAuthentication(node: AnyObject): AnyObject | undefined {
  const authentication = read.map(node, 'authentication', AT) ?? EMPTY;
  return isEmpty(authentication) ? undefined : authentication;
}

/** Reads the retries; the flat keys of older configurations replace `http`. */
function readRetry(node: AnyObject): RetryConfig {
  const at = `${AT}.retryConfig`;
  const old = getKey(node, 'headerName') !== undefined || getKey(node, 'httpCodes') !== undefined;
  const http = read.map(node, 'http', at) ?? EMPTY;
  const curl = read.map(node, 'curl', at) ?? EMPTY;
  const maxRetries = readRetries(getKey(node, 'maxRetries'), `${at}.maxRetries`);
  const codes = old
    ? readCodes(getKey(node, 'httpCodes'), `${at}.httpCodes`)
    : readCodes(getKey(http, 'codes'), `${at}.http.codes`);
  const retryHeader = old ? read.text(node, 'headerName', at) : read.text(http, 'retryHeader', `${at}.http`);
  const maxRetryAfter = readSeconds(getKey(node, 'maxRetryAfter'), `${at}.maxRetryAfter`);
  const curlCodes =
    readCodes(getKey(node, 'curlCodes'), `${at}.curlCodes`) ??
    readCodes(getKey(curl, 'codes'), `${at}.curl.codes`);
  return {
    ...(maxRetries === undefined ? {} : { maxRetries }),
    ...(codes === undefined ? {} : { codes }),
    ...(retryHeader === undefined ? {} : { retryHeader }),
    ...(maxRetryAfter === undefined ? {} : { maxRetryAfterMs: maxRetryAfter * 1000 }),
    ...(curlCodes === undefined ? {} : { curlCodes }),
  };
}

function readRetries(value: Json | undefined, at: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  // the reference casts to an integer: true is 1
  const count = typeof value === 'boolean' ? Number(value) : numericOf(value);
  if (count !== undefined && count >= 0) return Math.trunc(count);
  throw invalid(at, `\`maxRetries\` must be a number of 0 or more, and it is ${kindOf(value)}.`);
}

function readSeconds(value: Json | undefined, at: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  const seconds = numericOf(value);
  if (seconds !== undefined && seconds >= 0) return seconds;
  throw invalid(at, `A number of seconds is expected, and here is ${kindOf(value)}.`);
}

/** Numbers, or texts of digits; undefined when the key is missing or null. */
function readCodes(value: Json | undefined, at: string): readonly number[] | undefined {
  if (value === undefined || value === null) return undefined;
  const list = asItems(value);
  if (list === undefined) throw invalid(at, `A list of numbers is expected, and here is ${kindOf(value)}.`);
  return list.map((item, index) => {
    const code = wholeOf(item);
    if (code !== undefined) return code;
    throw invalid(pathOf(at, index), `A whole number is expected, and here is ${kindOf(item)}.`);
  });
}

function readNames(value: Json | undefined, at: string): readonly string[] {
  if (isEmpty(value)) return [];
  const list = asItems(value);
  if (list === undefined || !list.every((item) => isScalar(item)))
    throw invalid(at, `A list of header names is expected, and here is ${kindOf(value)}.`);
  return list.map((item) => toText(item));
}

/** Reads seconds as a timeout in milliseconds. 0 and anything that is no number leave the default. */
function secondsAt(http: AnyObject, key: string, fallback: number): number {
  const seconds = numericOf(getKey(http, key));
  return (seconds === undefined || seconds <= 0 ? fallback : seconds) * 1000;
}

function limits(
  http: AnyObject,
  at: string,
): Partial<Pick<ApiConfig, 'requestsPerSecond' | 'concurrency' | 'maxBodyBytes'>> {
  const requestsPerSecond = positiveAt(http, 'requestsPerSecond', at, numericOf);
  const concurrency =
    getKey(http, 'concurrency') === 'auto' ? 'auto' : positiveAt(http, 'concurrency', at, wholeOf);
  const maxBodyBytes = positiveAt(http, 'maxBodyBytes', at, wholeOf);
  return {
    ...(requestsPerSecond === undefined ? {} : { requestsPerSecond }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
  };
}

function positiveAt(
  http: AnyObject,
  key: string,
  at: string,
  read: (value: Json | undefined) => number | undefined,
): number | undefined {
  const value = getKey(http, key);
  if (value === undefined || value === null || value === '') return undefined;
  const number = read(value);
  if (number !== undefined && number > 0) return number;
  throw invalid(`${at}.${key}`, `\`${key}\` must be a number above 0, and it is ${kindOf(value)}.`);
}
