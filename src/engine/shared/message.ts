/**
 * The nouns that cross the seams between stages: a request of the configuration, a request on the wire,
 * its response. All are plain data; none is changed after it was made.
 */
import type { AnyObject, Json } from '../../lib/json/index.ts';
import type { Scratch } from '../../lib/scratch.ts';

/** Request of a job, before default options, base URL and encoding are applied. JSON. */
export interface JobRequest {
  /** Relative to `baseUrl`, an absolute path, or a whole URL. */
  readonly endpoint: string;
  /** Upper case: GET, POST, FORM, PUT, PATCH, DELETE. */
  readonly method: string;
  readonly params: AnyObject;
  readonly headers: AnyObject;
  /** Place of the parameters; by default the query of GET and DELETE, the body of the others. */
  readonly paramsIn?: 'query' | 'body';
  /** Parameters that go into the query whatever the method is: those of the job, and `queryParamIn: "query"`. */
  readonly query?: AnyObject;
  /** The body, apart from parameters that go there: a map takes them in, a list or a text leaves them to the query. */
  readonly body?: Json;
  /** How the body is written; by default as usual for the method and the kind of the body. */
  readonly bodyFormat?: BodyFormat;
  /** A body that is an object without keys is not sent. */
  readonly emptyBody?: 'none';
  /** True when the endpoint is a whole address that the API gave for a download: nothing is put into its query. */
  readonly isDownload?: boolean;
  /** True when the endpoint was taken from a response: it is used as it is and gets no credentials. */
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
  /**
   * True when the API gave the address for a download. It has its own permissions and needs no credentials on other
   * hosts.
   */
  readonly isDownload?: boolean;
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
  /** Body; only its beginning where there is `large`. */
  readonly body: Uint8Array;
  /** Body that is too large for memory; only requests with `SendOptions.file` get one. */
  readonly large?: LargeBody;
  /** Present when the body was a packed file: it is here as it was packed. */
  readonly unpacked?: Unpacked;
  /** Times that the request was sent until this came; absent when it was once. */
  readonly attempts?: number;
  /** True when the configuration takes the answer as it is, whatever its status. */
  readonly isTaken?: true;
}

/** A body that lies in a file, to be read in any order. */
export interface LargeBody {
  readonly bytes: number;
  /** SHA-1 of the whole body, in hexadecimal. */
  readonly sha1: string;
  /**
   * Reads into memory of its own, or into that which is given; shorter where the body ends. A body that is in memory may
   * return a part of that.
   */
  read(at: number, length: number, into?: Scratch): Uint8Array;
}

/** Format of a packed file, and for an archive the files in it, one behind the other in the body. */
export interface Unpacked {
  readonly as: 'gzip' | 'zip';
  readonly members?: readonly { readonly name: string; readonly bytes: number }[];
}

/** Takes a body as it comes, for {@link LargeBody}. */
export interface BodySink {
  /** The bytes are copied, or written before it returns. */
  write(part: Uint8Array): void;
  /** Ends a complete body. */
  end(sha1: string): LargeBody;
  /** Discards a body that is not needed any more. */
  abandon(): void;
}

/** Rules for receiving a body that may be a file: large, packed, and not JSON. */
export interface FileRule {
  /** Decides by the headers, before the body: true for a body that these rules apply to, false for the usual way. */
  readonly takes: (headers: Headers) => boolean;
  /** `auto` looks at the first bytes. */
  readonly compression: 'auto' | 'gzip' | 'zip' | 'none';
  /** Tells whether a file of an archive is wanted. */
  readonly member: (name: string) => boolean;
  /**
   * Opens the target of a large body. Without it, the whole body is held in memory, as far as the limit of bodies
   * admits.
   */
  readonly open?: (() => BodySink) | undefined;
  /** Opens the target of a large body that is not stored. */
  readonly scratch?: (() => BodySink) | undefined;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  readonly file?: FileRule | undefined;
  /** Response rules of the configuration; they are applied before all others. */
  readonly react?: React;
  /** Place of this attempt among several. */
  readonly attempt?: SendAttempt;
}

export interface SendAttempt {
  /** Object that is the same for all attempts of one request. */
  readonly of: object;
  /** True when the login of the previous attempt is no longer valid. */
  readonly renewsLogin: boolean;
  /** True when the request was sent before: its stored answer must not be used again. */
  readonly isAgain: boolean;
}

/**
 * Decides how to treat an answer; returns undefined for the usual way.
 *
 * @param isSpent tells whether the request was sent again for this reason as often as it may be
 * @param nowMs milliseconds since 1970
 */
export type React = (
  response: ApiResponse,
  isSpent: (reason: AgainReason) => boolean,
  nowMs: number,
) => Reacted | undefined;

export type Reacted =
  | { readonly do: 'take' }
  | { readonly do: 'fail'; readonly error: Error }
  | { readonly do: 'again'; readonly reason: AgainReason; readonly why: string; readonly pause: Pause };

/** Reason for sending a request again. Reasons are compared by identity. */
export interface AgainReason {
  readonly isLogin: boolean;
  /** Number of times that it may be sent again for it. */
  readonly times: number;
}

/** Time to wait: as the configuration says, as the answer says, or as usual. */
export type Pause =
  | { readonly by: 'configuration' | 'answer'; readonly ms: number }
  | { readonly by: 'usual' };

/** Sends one request. Concerns are wrappers: `retry(limit(auth(send)))`. */
export type Send = (request: ApiRequest, options: SendOptions) => Promise<ApiResponse>;
export type SendWrapper = (next: Send) => Send;

/** Tells whether a method is for changing what is there. `POST` is not among them: many APIs search by it. */
export function changesData(method: string): boolean {
  return ['PUT', 'PATCH', 'DELETE'].includes(method.toUpperCase());
}

/** Returns the number of bytes of a body, in memory or not. */
export function bodyBytes({ body, large }: Pick<ApiResponse, 'body' | 'large'>): number {
  return large?.bytes ?? body.length;
}

export function headerOf(headers: Headers, name: string): string | undefined {
  const direct = headers[name];
  if (direct !== undefined) return direct;
  const wanted = name.toLowerCase();
  for (const key of Object.keys(headers)) if (isNamed(key, wanted)) return headers[key];
  return undefined;
}

/** Compares names, which are ASCII: those of another length are no match, and need no copy in lower case. */
function isNamed(key: string, wanted: string): boolean {
  return key.length === wanted.length && key.toLowerCase() === wanted;
}

/** Returns a copy with one header set; other spellings of the name are dropped. */
export function withHeader(headers: Headers, name: string, value: string): Headers {
  return { ...withoutHeader(headers, name), [name]: value };
}

export function withoutHeader(headers: Headers, name: string): Headers {
  const wanted = name.toLowerCase();
  const others: Record<string, string> = {};
  for (const key of Object.keys(headers)) if (!isNamed(key, wanted)) others[key] = headers[key] ?? '';
  return others;
}
