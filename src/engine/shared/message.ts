/**
 * The nouns that cross the seams between stages: a request of the configuration, a request on the wire,
 * its response. All are plain data; none is changed after it was made.
 */
import type { AnyObject, Json } from '../../lib/json/index.ts';

/** What a job asks for, before default options, base URL and encoding are applied. JSON. */
export interface JobRequest {
  /** Relative to `baseUrl`, an absolute path, or a whole URL. */
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
  /** The endpoint is a whole address that the API gave for a download: nothing is put into its query. */
  readonly isDownload?: boolean;
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
  /** The address came from the API for a download, and has its own rights: it needs no credentials on other hosts. */
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
  /** Where there is `large`, only how it begins. */
  readonly body: Uint8Array;
  /** The body, when it is too large for memory: only who asked for it by `SendOptions.file` gets one. */
  readonly large?: LargeBody;
  /** Present when the body was a packed file: it is here as it was packed. */
  readonly unpacked?: Unpacked;
  /** Times that the request was sent until this came; absent when it was once. */
  readonly attempts?: number;
  /** The configuration says that it is taken as it is, whatever its status. */
  readonly isTaken?: true;
}

/** A body that lies in a file, to be read in any order. */
export interface LargeBody {
  readonly bytes: number;
  /** Of all of it, in hexadecimal. */
  readonly sha1: string;
  /** Memory of its own; shorter where the body ends. */
  read(at: number, length: number): Uint8Array;
}

/** What a packed file was, and for an archive the files in it, one behind the other in the body. */
export interface Unpacked {
  readonly as: 'gzip' | 'zip';
  readonly members?: readonly { readonly name: string; readonly bytes: number }[];
}

/** Takes a body as it comes, for {@link LargeBody}. */
export interface BodySink {
  /** The bytes are copied, or written before it returns. */
  write(part: Uint8Array): void;
  /** All of it came. */
  end(sha1: string): LargeBody;
  /** It is not wanted any more. */
  abandon(): void;
}

/** How a body is received that may be a file: large, packed, and no JSON. */
export interface FileRule {
  /** Told of the answer before its body: true for a body that is to be received so, false for the usual way. */
  readonly takes: (headers: Headers) => boolean;
  /** `auto` looks at the first bytes. */
  readonly compression: 'auto' | 'gzip' | 'zip' | 'none';
  /** Which files of an archive are wanted. */
  readonly member: (name: string) => boolean;
  /** Where a large body goes; without it, all of it is held, as far as the limit of bodies admits. */
  readonly open?: (() => BodySink) | undefined;
  /** The same, for what is not kept. */
  readonly scratch?: (() => BodySink) | undefined;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  readonly file?: FileRule | undefined;
  /** What the configuration says about answers, before anybody else looks at them. */
  readonly react?: React;
  /** One attempt of several. */
  readonly attempt?: Attempt;
}

export interface Attempt {
  /** The same object for all attempts of one request. */
  readonly of: object;
  /** The login of the attempt before is no longer good. */
  readonly renewsLogin: boolean;
  /** The request was sent before: what was kept of its answer is no answer now. */
  readonly isAgain: boolean;
}

/**
 * Says what is to be done about an answer; undefined where it is to be taken as usual.
 *
 * @param isSpent whether the request was sent again for this reason as often as it may be
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

/** Why a request is sent again. Reasons are told apart by identity. */
export interface AgainReason {
  readonly isLogin: boolean;
  /** How often it may be sent again for it. */
  readonly times: number;
}

/** How long to wait: as the configuration says, as the answer says, or as usual. */
export type Pause =
  | { readonly by: 'configuration' | 'answer'; readonly ms: number }
  | { readonly by: 'usual' };

/** Sends one request. Concerns are wrappers: `retry(pace(auth(send)))`. */
export type Send = (request: ApiRequest, options: SendOptions) => Promise<ApiResponse>;
export type SendWrapper = (next: Send) => Send;

/** Bytes of a body, wherever it is. */
export function bodyBytes({ body, large }: Pick<ApiResponse, 'body' | 'large'>): number {
  return large?.bytes ?? body.length;
}

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
