/**
 * The nouns that cross the seams between stages: a request of the configuration, a request on the wire,
 * its response. All are plain data; none is changed after it was made.
 */
import type { AnyObject, Json } from '../json/index.ts';

/** What a job asks for, before default options, base URL and encoding are applied. JSON. */
export interface JobRequest {
  /** Relative to `baseUrl`, an absolute path, or a whole URL (spec extractor 6.1). */
  readonly endpoint: string;
  /** Upper case: GET, POST, FORM, PUT, PATCH, DELETE. */
  readonly method: string;
  readonly params: AnyObject;
  readonly headers: AnyObject;
  /** Where the parameters go; by default the query of GET and DELETE, the body of the others. */
  readonly paramsIn?: 'query' | 'body';
  /** Parameters that go into the query whatever the method is: those of the job, and `queryParamIn: "query"`. */
  readonly query?: AnyObject;
  /** The body, apart from parameters that go there: a map takes them in, a list or a text leaves them to the query. */
  readonly body?: Json;
  /** How the body is written; by default as usual for the method and the kind of the body. */
  readonly bodyFormat?: BodyFormat;
  /** True when the endpoint was taken from a response: it is used as it is and is no place for credentials. */
  readonly fromResponse?: boolean;
}

/** A form is `application/x-www-form-urlencoded`; a multipart body is one of `multipart/form-data`. */
export type BodyFormat = 'json' | 'form' | 'text' | 'xml' | 'multipart';

/** Header fields; names compare without case, the last spelling set wins. */
export type Headers = Readonly<Record<string, string>>;

/** A request as it goes over the wire. */
export interface ApiRequest {
  /** The method of the wire: a FORM is a POST here. */
  readonly method: string;
  /** Absolute; path and query are sent byte for byte as they stand here. */
  readonly url: string;
  readonly headers: Headers;
  readonly body?: string | Uint8Array;
  /** The name of the job, for messages. */
  readonly label?: string;
  /** True for a login: its body holds credentials, so it never leaves the origins that the configuration names. */
  readonly isLogin?: boolean;
}

/**
 * A response, whole. The body is decoded (gzip, deflate, br, zstd) and complete: a body that was cut is an error
 * of the request and is retried like one.
 */
export interface ApiResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Headers;
  /** The URL that answered, after redirects. */
  readonly url: string;
  readonly body: Uint8Array;
  /** Times that the request was sent until this came; absent when it was once. */
  readonly attempts?: number;
}

export interface SendOptions {
  readonly signal: AbortSignal;
}

/** Sends one request. Concerns are wrappers: `retry(pace(auth(send)))`. */
export type Send = (request: ApiRequest, options: SendOptions) => Promise<ApiResponse>;
export type SendWrapper = (next: Send) => Send;

export function headerOf(headers: Headers, name: string): string | undefined {
  const direct = headers[name];
  if (direct !== undefined) return direct;
  const wanted = name.toLowerCase();
  for (const key of Object.keys(headers)) if (key.toLowerCase() === wanted) return headers[key];
  return undefined;
}

/** A copy with one header set; other spellings of the name are dropped. */
export function withHeader(headers: Headers, name: string, value: string): Headers {
  return { ...withoutHeader(headers, name), [name]: value };
}

export function withoutHeader(headers: Headers, name: string): Headers {
  const wanted = name.toLowerCase();
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key.toLowerCase() !== wanted));
}
