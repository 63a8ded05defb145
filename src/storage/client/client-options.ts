import type { Env } from '../../lib/env.ts';
import type { Environment } from '../../engine/http/tunnel/proxy.ts';
import type { Log } from '../../lib/log.ts';
import type { OnProgress } from './transfer/progress.ts';

/** Options of a client; `url` and `token` are enough. */
export interface StorageClientOptions {
  /** Address of the service, such as `http://127.0.0.1:8080`; a path `/v2/storage` behind it is left out. */
  readonly url: string;
  readonly token: string;
  /** Id of a development branch, or `default`. Without it the service takes the default branch. */
  readonly branch?: string | number | undefined;
  /** Kept by the service on the files, jobs and events that come from this client (`X-KBC-RunId`). */
  readonly runId?: string | undefined;
  /** Sends in the place of the network, such as that of a service in this process; what is sent to the object store does not. */
  readonly fetch?: typeof fetch | undefined;
  /** Environment with `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` and `AWS_ENDPOINT_URL`. Default: `process.env`. */
  readonly environment?: Environment | undefined;
  readonly retry?: ClientRetry | undefined;
  readonly s3?: S3Options | undefined;
  /** Told of every piece of every upload and download. */
  readonly onProgress?: OnProgress | undefined;
  /** Ends whatever the client is doing. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each request that may change something, which is sent when it resolves, and not when it rejects. */
  readonly beforeChange?: BeforeChange | undefined;
  readonly env?: Env | undefined;
  readonly log?: Log | undefined;
}

/** @param signal ends the call */
export type BeforeChange = (signal: AbortSignal) => Promise<void>;

/** Limits for retries of a call. */
export interface ClientRetry {
  /** Attempts after the first one, each after twice the wait of the one before: 1, 2, 4 … seconds. Default: 6. */
  readonly maxRetries?: number | undefined;
}

/** How the object store is reached, and how much of a transfer happens at a time. */
export interface S3Options {
  /**
   * Address of the object store. Default: `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL` of the environment, else the host
   * in the signed address of the file.
   */
  readonly endpoint?: string | undefined;
  /** Size of a part, at least 5 MiB; what is smaller goes in one request. Default: 8 MiB; more when there would be over 9,000 parts. */
  readonly partBytes?: number | undefined;
  /** Parts or slices that are sent at a time. Default: 4. */
  readonly concurrency?: number | undefined;
  /** Milliseconds without data after which a connection is given up and made again. Default: 60,000. */
  readonly silentMs?: number | undefined;
}

/** How a change is asked for that must be done once. */
export interface OnceOptions {
  /**
   * Key by which the service knows the request (`Idempotency-Key`): the same request under the same key is done once,
   * however often and late it arrives, and by whichever process. Default: a unique one.
   */
  readonly key?: string | undefined;
}
