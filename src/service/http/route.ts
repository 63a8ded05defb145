import type { FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Answer } from './answer.ts';
import type { Reply } from '../domain/reply.ts';
import type { Caller } from '../domain/tokens/caller.ts';
import type { JobName } from '../domain/jobs/operations/all.ts';
import type { BranchRow } from '../stores/metadata/tables.ts';
import type { Transact } from '../stores/metadata/transaction.ts';

/** Operation of the API, as a value: its parameters, and its handler. */
export interface Route {
  readonly method: 'DELETE' | 'GET' | 'POST' | 'PUT';
  /** Path below `/v2/storage`, such as `/tokens/:token`; `*` at the end takes the rest of the path. */
  readonly path: string;
  readonly summary: string;
  /** Heading in the documentation. */
  readonly tag: string;
  /** Access to the route: `public` needs no token; in its branch form it does. Default `token`. */
  readonly access?: 'public' | 'token';
  /** True when the token of a run may use it, too: every other route is closed to it. Default: false. */
  readonly isForRuns?: boolean;
  /** True when a token that changes nothing may use it although it is no GET. Default: false. */
  readonly isReading?: boolean;
  /** Scope of the path: below `/v2/storage`, below `/v2/storage/branch/<branch>`, or both (the default). */
  readonly scope?: 'branch' | 'both' | 'plain';
  /** True for a path below the root of the server instead of `/v2/storage`. */
  readonly isOutside?: boolean;
  /** True when it is no operation of the API, and not documented. Default: false. */
  readonly isHidden?: boolean;
  /** Status of a plain answer; default 200. */
  readonly status?: number;
  readonly query?: TObject;
  readonly body?: TObject;
  readonly response?: TSchema;
  /** Code of the error that names wrong fields; default `storage.validation`. */
  readonly validationCode?: string;
  /**
   * Checks the caller by the headers, before any of the body is read; the handler checks again where permissions
   * depend on more. The resource that the address names (a bucket, a table, a component) is checked for every route.
   *
   * @throws {ApiError}
   */
  readonly judge?: (asked: {
    /** Caller; absent for an open route. */
    readonly caller: Caller;
    readonly request: FastifyRequest;
  }) => void;
  /**
   * Largest body, in bytes; default that of a configuration, or less where the address names nothing that needs
   * permissions.
   */
  readonly maxBodyBytes?: number;
  /** True when the body is passed unchanged: the route checks it itself, or reads a multipart body as a stream. */
  readonly isRaw?: boolean;
  /** Kinds of storage jobs that it may enqueue. Default: none. */
  readonly enqueues?: readonly JobName[];
  /**
   * True when the body carries a file, which is not compared with that of an earlier request: no `Idempotency-Key`
   * then.
   */
  readonly takesFile?: boolean;
  /**
   * True when the answer has a secret that is stored nowhere: such an answer is not kept for repetitions under its key.
   */
  readonly makesSecret?: boolean;
  /**
   * Does the operation, in one transaction where possible. For a request that is repeated under its key because its
   * answer was lost, it is called again, with the result of the stored transaction in place of a new one
   * (`replayingTransactions`): so the answer depends on that, and on data that is read, and on no id or time that was
   * made outside.
   */
  readonly handle: (call: Call<Readonly<Record<string, string>>, unknown, unknown>) => unknown;
}

/** Caller of a route, and the branch that it names. */
export type Who = Pick<Call<unknown, unknown, unknown>, 'branch' | 'caller'>;

/** Request to a route. */
export interface Call<Params, Query, Body, Name = JobName> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Caller; absent for an open route, which is called without a token. */
  readonly caller: Caller;
  readonly branch: BranchRow;
  /** Scheme, host and port under which the client reached the service. */
  readonly origin: string;
  /** Value of `X-KBC-RunId`. */
  readonly runId: string | null;
  readonly isForm: boolean;
  /** Runs work in a transaction of the request: with its `Idempotency-Key`, or the kept result of an earlier attempt. */
  readonly transact: Transact;
  /** The file that an earlier attempt of the request made. */
  readonly madeFile: number | undefined;
  /** Kinds of storage jobs that the route may enqueue. */
  readonly enqueues: readonly Name[];
  readonly request: FastifyRequest;
}

export type Handled = Answer | Reply | undefined;

/**
 * Defines a route, with its types checked against its schemas and its path; the rest of the program sees a plain
 * {@link Route}.
 */
export function route<
  Path extends string,
  Query extends TObject,
  Body extends TObject,
  Name extends JobName = never,
>(definition: Definition<Path, Query, Body, Name>): Route {
  // The app reads query and body by the same schemas, and the router gives every parameter of the path.
  return definition as unknown as Route;
}

interface Definition<
  Path extends string,
  Query extends TObject,
  Body extends TObject,
  Name extends JobName,
> extends Omit<Route, 'body' | 'enqueues' | 'handle' | 'path' | 'query'> {
  readonly path: Path;
  readonly query?: Query;
  readonly body?: Body;
  readonly enqueues?: readonly Name[];
  readonly handle: (
    call: Call<ParamsOf<Path>, Readonly<Static<Query>>, Readonly<Static<Body>>, Name>,
  ) => Promise<Handled> | Handled;
}

/** Makes a {@link route} function for the routes under one heading of the documentation; the cast has the same reason. */
export function routesOf(tag: string) {
  return <Path extends string, Query extends TObject, Body extends TObject, Name extends JobName = never>(
    method: Route['method'],
    path: Path,
    definition: Omit<Definition<Path, Query, Body, Name>, 'method' | 'path' | 'tag'>,
  ): Route => ({ method, path, tag, ...definition }) as unknown as Route;
}

/** Names in a path such as `/tokens/:token/events`. */
type ParamsOf<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : Path extends `${string}:${infer Name}/${infer Rest}`
    ? { readonly [Key in Name]: string } & ParamsOf<`/${Rest}`>
    : Path extends `${string}:${infer Name}`
      ? { readonly [Key in Name]: string }
      : Path extends `${string}*`
        ? { readonly '*': string }
        : object;
