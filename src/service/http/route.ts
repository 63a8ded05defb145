import type { FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Answer } from './answer.ts';
import type { Reply } from '../domain/reply.ts';
import type { Caller } from '../domain/tokens/caller.ts';
import type { BranchRow } from '../stores/metadata/tables.ts';

/** One operation of the API, as a value: what it is called with, and what it does. */
export interface Route {
  readonly method: 'DELETE' | 'GET' | 'POST' | 'PUT';
  /** Below `/v2/storage`, such as `/tokens/:token`; `*` at the end takes the rest of the path. */
  readonly path: string;
  readonly summary: string;
  /** Heading in the documentation. */
  readonly tag: string;
  /** `public` needs no token; in its branch form it does. Default `token`. */
  readonly access?: 'public' | 'token';
  /** True when the token of a run may come here, too: every other route is closed to it. Default: false. */
  readonly isForRuns?: boolean;
  /** Whether it exists below `/v2/storage`, below `/v2/storage/branch/<branch>`, or both (the default). */
  readonly scope?: 'branch' | 'both' | 'plain';
  /** Below the root of the server instead of `/v2/storage`. */
  readonly isOutside?: boolean;
  /** It is no operation of the API, and not described. Default: false. */
  readonly isHidden?: boolean;
  /** Status of a plain answer; default 200. */
  readonly status?: number;
  readonly query?: TObject;
  readonly body?: TObject;
  readonly response?: TSchema;
  /** Code of the error that names wrong fields; default `storage.validation`. */
  readonly validationCode?: string;
  /**
   * Judges who asks by what the headers say, before anything of the body is read; the handler does so again where it
   * depends on more. What the address names (a bucket, a table, a component) is judged for every route.
   *
   * @throws {ApiError}
   */
  readonly judge?: (asked: {
    /** Not for an open route. */
    readonly caller: Caller;
    readonly request: FastifyRequest;
  }) => void;
  /** Largest body; default that of a configuration, or less where the address names nothing that needs rights. */
  readonly maxBodyBytes?: number;
  /** The body is given untouched: the route checks it itself, or reads a multipart body as it comes. */
  readonly isRaw?: boolean;
  /** The body carries a file, which is not compared with that of an earlier request: no `Idempotency-Key` then. */
  readonly takesFile?: boolean;
  /** The answer has a secret that is nowhere else: it is not kept for a request that is repeated under its key. */
  readonly makesSecret?: boolean;
  /**
   * Does what is asked, in one transaction where that can be. For a request that is repeated under its key because nobody
   * got the answer it is called again, with what the transaction gave in place of it (`made-by-request.ts`): so the answer
   * is made of that, and of what is read, and of no id or time that was made outside.
   */
  readonly handle: (call: Call<Readonly<Record<string, string>>, unknown, unknown>) => unknown;
}

/** One request to a route. */
export interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Not for an open route, which is called without a token. */
  readonly caller: Caller;
  readonly branch: BranchRow;
  /** Scheme, host and port that the client reached the service under. */
  readonly origin: string;
  /** `X-KBC-RunId`. */
  readonly runId: string | null;
  readonly isForm: boolean;
  readonly request: FastifyRequest;
}

export type Handled = Answer | Reply | undefined;

/**
 * Checks the types of a route against its schemas and its path; the rest of the program sees a plain {@link Route}.
 */
export function route<Path extends string, Query extends TObject, Body extends TObject>(
  definition: Omit<Route, 'body' | 'handle' | 'path' | 'query'> & {
    readonly path: Path;
    readonly query?: Query;
    readonly body?: Body;
    readonly handle: (
      call: Call<ParamsOf<Path>, Readonly<Static<Query>>, Readonly<Static<Body>>>,
    ) => Promise<Handled> | Handled;
  },
): Route {
  // The app reads query and body by the same schemas, and the router gives every parameter of the path.
  return definition as unknown as Route;
}

/** The names in a path such as `/tokens/:token/events`. */
type ParamsOf<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : Path extends `${string}:${infer Name}/${infer Rest}`
    ? { readonly [Key in Name]: string } & ParamsOf<`/${Rest}`>
    : Path extends `${string}:${infer Name}`
      ? { readonly [Key in Name]: string }
      : Path extends `${string}*`
        ? { readonly '*': string }
        : object;
