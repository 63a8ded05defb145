import { HttpError } from '../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isIntegerLike,
  isList,
  isObject,
  JsonMap,
  objectOf,
  toText,
  withoutKey,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { mergeOver } from '../shared/merge-request.ts';
import { encodeBody } from './body.ts';
import { hasParams, type ListStyle } from './encode.ts';
import {
  headerOf,
  type ApiRequest,
  type BodyFormat,
  type Headers,
  type JobRequest,
} from '../shared/message.ts';
import { mergeIntoLink, mergeParams, resolveUrl } from './url.ts';
import { USER_AGENT } from './user-agent.ts';

export interface RequestOptions {
  /** Absolute; endpoints are resolved against it. */
  readonly baseUrl: string;
  /** `api.http.headers` with `config.http.headers` over them, functions evaluated. */
  readonly headers: AnyObject;
  /** `api.http.defaultOptions`: `params`, `headers`, `method`. */
  readonly defaultOptions?: AnyObject;
  /** How lists of parameters are written; by default indexed. */
  readonly lists?: ListStyle | undefined;
  /** Default: this package's name and version. */
  readonly userAgent?: string;
  /** The name of the job, for messages. */
  readonly label?: string;
}

/** Encodings that every bottom decodes, in the order of preference of most servers. */
const ACCEPT_ENCODING = 'gzip, deflate, br';

/**
 * Turns what a job asks for into what goes over the wire.
 *
 * | method | parameters | Content-Type |
 * |---|---|---|
 * | GET, DELETE | query | |
 * | POST, PUT, PATCH | JSON body; `[]` without parameters | `application/json` |
 * | FORM (a POST) | form body | `application/x-www-form-urlencoded` |
 *
 * A `body` is sent by any method. One that is a map takes in the parameters that go to the body, over its own; beside a
 * list or a text they go into the query.
 *
 * @throws {HttpError} `job.invalid` for an unknown method, an impossible address or header, a body that its format
 * cannot write
 */
export function buildRequest(job: JobRequest, options: RequestOptions): ApiRequest {
  const isDownload = job.isDownload === true;
  const { defaultOptions = {} } = options;
  // an address that is signed is good as it stands alone
  const merged = withDefaults(job, isDownload ? withoutKey(defaultOptions, 'params') : defaultOptions);
  const { method, params, query, endpoint } = merged;
  const wire = WIRE[method];
  if (wire === undefined) throw unknownMethod(method);
  const inBody = paramsGoToBody(merged);
  const inQuery = inBody ? (query ?? {}) : query === undefined ? params : mergeOver(query, params);
  const merge = merged.fromResponse === true ? mergeIntoLink : mergeParams;
  const url = resolveUrl(options.baseUrl, merge(endpoint, inQuery, options.lists));
  const whole = inBody ? withParams(merged.body, params) : merged.body;
  const isNone = job.emptyBody === 'none' && isObject(whole) && entriesOf(whole).length === 0;
  const content = isNone ? undefined : whole;
  const format = content === undefined ? undefined : formatOf(merged, content);
  const sent =
    content === undefined || format === undefined ? undefined : encodeBody(content, format, options.lists);
  return {
    method: wire.method,
    url,
    headers: sent === undefined ? headersWithoutBody(job, options) : headersWith(sent, job, format, options),
    ...(sent === undefined ? {} : { body: sent.body }),
    ...(options.label === undefined ? {} : { label: options.label }),
    ...(isDownload ? { isDownload } : {}),
  };
}

/** Headers of requests without a body, by those of the job: the pages of a job have the same ones. */
const bodyless = new WeakMap<AnyObject, { readonly options: HeaderOptions; readonly made: Headers }>();
type HeaderOptions = readonly (AnyObject | string | undefined)[];

function headersWithoutBody(job: JobRequest, options: RequestOptions): Headers {
  const from: HeaderOptions = [options.headers, options.defaultOptions, options.userAgent];
  const known = bodyless.get(job.headers);
  if (known?.options.every((option, i) => option === from[i]) === true) return known.made;
  const made = headersOf(allHeaders(job, options), options.userAgent);
  bodyless.set(job.headers, { options: from, made });
  return made;
}

function headersWith(
  { contentType }: { readonly contentType: string },
  job: JobRequest,
  format: BodyFormat | undefined,
  options: RequestOptions,
): Headers {
  const all = allHeaders(job, options);
  const typed = keepsType(job, all, format) ? all : mergeHeaders({ 'Content-Type': contentType }, all);
  return headersOf(typed, options.userAgent);
}

/** Headers of a request, under them those of the default options, and under these those of all requests. */
function allHeaders(job: JobRequest, { headers, defaultOptions = {} }: RequestOptions): AnyObject {
  return mergeHeaders(mergeHeaders(job.headers, mapAt(defaultOptions, 'headers')), headers);
}

/** Tells whether the parameters of a request are in its body. */
function paramsGoToBody({
  method,
  paramsIn,
  body,
}: Pick<JobRequest, 'method' | 'paramsIn' | 'body'>): boolean {
  if (body !== undefined && !isObject(body)) return false;
  return (paramsIn ?? WIRE[method]?.paramsIn) === 'body';
}

/**
 * Adds parameters to a body. No parameters are sent as `[]`, as the reference does; an empty body that was given stays
 * as it is.
 */
function withParams(body: Json | undefined, params: AnyObject): Json {
  if (isObject(body)) return objectOf([...entriesOf(body), ...entriesOf(params)]);
  return hasParams(params) ? listOrMap(params) : [];
}

function formatOf({ method, bodyFormat }: JobRequest, body: Json): BodyFormat {
  if (bodyFormat !== undefined) return bodyFormat;
  if (WIRE[method]?.form === true) return 'form';
  return isObject(body) || isList(body) ? 'json' : 'text';
}

/**
 * Merges a request with default options: parameters and headers of the request win, parameters of the defaults come
 * first. An empty `method` takes the default's, else GET.
 */
export function mergeRequests(job: JobRequest, base: AnyObject = {}): JobRequest {
  return { ...withDefaults(job, base), headers: mergeHeaders(job.headers, mapAt(base, 'headers')) };
}

function withDefaults(job: JobRequest, base: AnyObject): JobRequest {
  const method = job.method === '' ? toText(getKey(base, 'method')) || 'GET' : job.method;
  return {
    ...job,
    method: method.toUpperCase(),
    params: mergeOver(job.params, mapAt(base, 'params')),
  };
}

const WIRE: Readonly<Record<string, { method: string; paramsIn: 'query' | 'body'; form: boolean }>> = {
  GET: { method: 'GET', paramsIn: 'query', form: false },
  DELETE: { method: 'DELETE', paramsIn: 'query', form: false },
  POST: { method: 'POST', paramsIn: 'body', form: false },
  PUT: { method: 'PUT', paramsIn: 'body', form: false },
  PATCH: { method: 'PATCH', paramsIn: 'body', form: false },
  FORM: { method: 'POST', paramsIn: 'body', form: true },
};

function unknownMethod(method: string): HttpError {
  return new HttpError('job.invalid', `“${method}” is no request method.`, {
    hint: `Use one of ${Object.keys(WIRE).join(', ')}.`,
  });
}

/** Parameters whose keys are 0, 1, 2 … were a list in the configuration. */
function listOrMap(params: AnyObject): Json {
  if (!(params instanceof JsonMap)) return params;
  const entries = entriesOf(params);
  return entries.every(([key], index) => isIntegerLike(key) && Number(key) === index)
    ? entries.map(([, value]) => value)
    : params;
}

function mapAt(options: AnyObject, key: string): AnyObject {
  const value = getKey(options, key);
  return isObject(value) ? value : {};
}

/** Merges headers; names compare without case, and the winner's spelling stays. */
function mergeHeaders(winner: AnyObject, base: AnyObject): AnyObject {
  const names = new Set(entriesOf(winner).map(([name]) => name.toLowerCase()));
  return objectOf([
    ...entriesOf(base).filter(([name]) => !names.has(name.toLowerCase())),
    ...entriesOf(winner),
  ]);
}

/**
 * Tells whether the `Content-Type` of the headers is sent, and not that of the body's format.
 *
 * - A job that sets the header means it, and one that all requests share may be right about a `body` that was written
 *   out.
 * - Parameters of a POST or a FORM have the type of their format, whatever all requests share, as in the reference.
 * - A multipart body needs the type with its boundary.
 */
function keepsType(job: JobRequest, all: AnyObject, format: BodyFormat | undefined): boolean {
  if (format === 'multipart') return false;
  if (typeIn(job.headers) !== undefined) return true;
  const common = job.body === undefined ? undefined : typeIn(all);
  return common !== undefined && format !== undefined && TYPES[format].test(toText(common));
}

function typeIn(headers: AnyObject): Json | undefined {
  return entriesOf(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
}

/** Media types that a body of a format may have. */
const TYPES = { json: /json/i, form: /urlencoded/i, xml: /xml/i, text: /./ } as const;

function headersOf(all: AnyObject, userAgent = USER_AGENT): Headers {
  const headers: Record<string, string> = {};
  for (const [name, value] of entriesOf(all)) {
    if (value !== null) headers[name] = headerText(name, value);
  }
  if (headerOf(headers, 'User-Agent') === undefined) headers['User-Agent'] = userAgent;
  if (headerOf(headers, 'Accept-Encoding') === undefined) headers['Accept-Encoding'] = ACCEPT_ENCODING;
  return headers;
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const CONTROL = /(?!\t)\p{Cc}/u;

/** Returns the text of a header; a list is sent as one field, joined by commas (RFC 9110 section 5.3). */
function headerText(name: string, value: Json): string {
  if (!HEADER_NAME.test(name)) throw badHeader(`“${name}” is no name of a header.`);
  if (isObject(value)) throw badHeader(`The header “${name}” must be text, not an object.`);
  const text = (isList(value) ? value.map((item) => toText(item)).join(', ') : toText(value)).trim();
  if (CONTROL.test(text))
    throw badHeader(`The header “${name}” has a line break or another control character in its value.`);
  return text;
}

function badHeader(message: string): HttpError {
  return new HttpError('job.invalid', message, {
    hint: 'Correct the `headers` of the job, the pagination or the API.',
  });
}
