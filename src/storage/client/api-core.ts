import type { Env } from '../../lib/env.ts';
import type { Json } from '../../lib/json/value.ts';
import type { Log } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { queryText, type Query } from './encode.ts';

/** One call of the API. */
export interface ApiCall {
  readonly method: 'DELETE' | 'GET' | 'POST' | 'PUT';
  /** Below `/v2/storage/`, escaped. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /**
   * `plain`: never with a branch in the path (tokens, jobs, tickets). `branch`: always, `default` when the client has
   * none. Otherwise with the branch that the client has.
   */
  readonly scope?: 'branch' | 'plain' | undefined;
  /**
   * True for a request that would take effect twice if repeated: it is sent again only when the first was certainly not
   * accepted.
   */
  readonly isOnce?: boolean | undefined;
  /** Sent as `Idempotency-Key` with a request that changes something; a unique one by default. */
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Dependencies shared by the groups of operations, in any program: nothing of it belongs to one runtime. */
export interface ApiCore {
  readonly env: Env;
  readonly log: Log;
  readonly secrets: Redactor;
  /** `scheme://host[/prefix]`, without a slash at the end. */
  readonly base: string;
  readonly maxRetries: number;
  /** The answer as JSON; undefined when it has no body. */
  call(call: ApiCall): Promise<Json | undefined>;
  /** The answer in lines of JSON, each as it comes. Whoever stops reading ends the answer. */
  lines(call: ApiCall): AsyncIterable<Json>;
  /**
   * Tells whether the service does a request once, however often and late it arrives, when it has an `Idempotency-Key`.
   */
  knowsKeys(signal: AbortSignal | undefined): Promise<boolean>;
  /** Ended by the client's signal and by that of the call. */
  signalOf(signal: AbortSignal | undefined): AbortSignal;
}

/** Redacts the secrets of a text. */
export type Redactor = Pick<Secrets, 'redact'>;

/** The address of a call, with its branch. */
export function urlOf(
  base: string,
  { path, query, scope }: ApiCall,
  branchOf: string | number | undefined,
): string {
  const branch = branchOf ?? (scope === 'branch' ? 'default' : undefined);
  const prefix =
    branch === undefined || scope === 'plain' ? '' : `branch/${encodeURIComponent(String(branch))}/`;
  return `${base}/v2/storage/${prefix}${path}`.replace(/\/$/, '') + queryText(query);
}

/** `GET tables/in.c-main.users`, for messages. */
export function whatOf({ method, path }: ApiCall): string {
  return `${method} ${path === '' ? '/v2/storage' : decodeURIComponent(path)}`;
}
