import { Readable } from 'node:stream';
import { HttpError, StorageError } from '../../lib/errors.ts';
import { systemEnv } from '../../lib/env.ts';
import { silentLog } from '../../lib/log.ts';
import type { ApiRequest, ApiResponse, Send } from '../../engine/shared/message.ts';
import { CURL, RETRYABLE_CURL } from '../../engine/http/send/network-error.ts';
import { DEFAULT_RETRY, retry } from '../../engine/http/retry.ts';
import { USER_AGENT } from '../../engine/http/user-agent.ts';
import { getKey, isObject, type Json } from '../../lib/json/index.ts';
import { Secrets } from '../../lib/secrets.ts';
import { urlOf, whatOf, type ApiCore, type ApiCall } from './api-core.ts';
import { bodyText } from './encode.ts';
import { CHECK_ADDRESS, failureOf, jsonOf, unreadable } from './failure.ts';
import { openBy, sendBy } from './in-process.ts';
import type { Network, OpenBody, SendCall } from './network.ts';
import type { StorageClientOptions } from './client-options.ts';
import { linesOf, lostOn } from './lines.ts';
import { isUnsure, NOT_SENT, NOT_TAKEN } from './unsure.ts';
import { trimEnd } from '../../lib/trim.ts';

/** A call to another address of the service, with a body that can be opened again. */
export interface RawCall {
  readonly url: string;
  readonly what: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly openBody: OpenBody;
  readonly signal?: AbortSignal | undefined;
}

/** Dependencies shared by the groups of operations here. */
export interface Api extends ApiCore {
  readonly secrets: Secrets;
  readonly options: StorageClientOptions;
  /** The answer as it comes; the caller reads it to its end or destroys it. */
  open(call: ApiCall): Promise<Readable>;
  /** A POST with a stream. */
  post(call: RawCall): Promise<Json | undefined>;
}

const DEFAULT_RETRIES = 6;
const QUICK_RETRIES = 2;
/** An address that has never answered is more likely wrong than busy. */
const FIRST_ATTEMPTS = 3;
/** Every 5xx but 501, as the public clients do. */
const PASSING = [
  408,
  409,
  423,
  429,
  ...Array.from({ length: 100 }, (_, i) => 500 + i).filter((code) => code !== 501),
];
export function createApi(options: StorageClientOptions, network: Network): Api {
  const { env = systemEnv, log = silentLog, runId } = options;
  const base = baseOf(options.url);
  const token = tokenOf(options.token);
  if (runId !== undefined && !HEADER_VALUE.test(runId))
    throw new StorageError('storage.refused', 'The run id has signs that no header may have.', {
      hint: 'Run ids are numbers with dots between them, such as 123.456.',
    });
  const secrets = new Secrets();
  secrets.add(token);
  const { origin } = new URL(base);
  const maxRetries = options.retry?.maxRetries ?? DEFAULT_RETRIES;
  const bottom = options.fetch === undefined ? network.send : sendBy(options.fetch);
  const openAt = options.fetch === undefined ? network.open : openBy(options.fetch);
  const reached = { service: false };
  const headers = {
    'X-StorageApi-Token': token,
    'User-Agent': USER_AGENT,
    Accept: 'application/json',
    ...(runId === undefined ? {} : { 'X-KBC-RunId': runId }),
  };

  const signalOf = (signal: AbortSignal | undefined): AbortSignal => {
    const signals = [options.signal, signal].filter((each) => each !== undefined);
    return signals.length === 1 && signals[0] !== undefined ? signals[0] : AbortSignal.any(signals);
  };

  async function send(request: ApiRequest, what: string, how: How): Promise<ApiResponse> {
    const signal = signalOf(how.signal);
    signal.throwIfAborted();
    const call = { what, origin, attempts: 0 };
    const once: Send = async (each, sendOptions) => {
      call.attempts++;
      try {
        const response = await (how.bottom ?? bottom)(each, { ...sendOptions, openBody: how.openBody });
        reached.service = true;
        return response;
      } catch (error) {
        const isHopeless = !reached.service && call.attempts >= FIRST_ATTEMPTS;
        throw isHopeless ? unreachable(error, call, secrets) : error;
      }
    };
    const policy = {
      maxRetries: how.isQuick === true ? Math.min(maxRetries, QUICK_RETRIES) : maxRetries,
      codes: how.isOnce === true ? NOT_TAKEN : PASSING,
      retryHeader: DEFAULT_RETRY.retryHeader,
      maxRetryAfterMs: DEFAULT_RETRY.maxRetryAfterMs,
      curlCodes: how.isOnce === true ? NOT_SENT : RETRYABLE_CURL,
    };
    const response = await retry(policy, { env, log, secrets })(once)(request, { signal }).catch(
      (error: unknown) => {
        throw unreachable(error, call, secrets);
      },
    );
    if (response.status < 200 || response.status >= 300) throw failureOf(response, call, secrets);
    return response;
  }

  function requestOf(call: ApiCall): ApiRequest {
    const { method, body, key = newKey() } = call;
    return {
      method,
      url: urlOf(base, call, options.branch),
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(method === 'GET' ? {} : { 'Idempotency-Key': key }),
      },
      ...(body === undefined ? {} : { body: bodyText(body) }),
    };
  }

  async function answer(call: ApiCall): Promise<ApiResponse> {
    const request = requestOf(call);
    const what = whatOf(call);
    if (call.method !== 'GET') await options.beforeChange?.(signalOf(call.signal));
    try {
      return await send(request, what, call);
    } catch (error) {
      if (call.isOnce !== true || !isUnsure(error) || !(await knowsKeys(call.signal))) throw error;
      log.info(`The answer to ${what} was lost; it is requested again under its key.`);
      return await send(request, what, { ...call, isOnce: false });
    }
  }

  async function open(call: ApiCall): Promise<Readable> {
    let stream: Readable | undefined;
    await send(requestOf(call), whatOf(call), {
      signal: call.signal,
      isOnce: call.isOnce,
      async bottom(each, sendOptions) {
        const opened = await openAt(each, sendOptions);
        stream = opened.stream;
        return opened.response;
      },
    });
    return stream ?? Readable.from([]);
  }

  const newKey = (): string => Buffer.from(env.randomBytes(16)).toString('hex');

  let known: boolean | undefined;
  async function knowsKeys(signal: AbortSignal | undefined): Promise<boolean> {
    if (known !== undefined) return known;
    try {
      const index: ApiCall = { method: 'GET', path: '', scope: 'plain', query: { exclude: 'components' } };
      const request = { method: 'GET', url: urlOf(base, index, options.branch), headers } as const;
      const json = jsonOf(await send(request, whatOf(index), { signal, isQuick: true }));
      const features = json !== undefined && isObject(json) ? getKey(json, 'features') : undefined;
      return (known = Array.isArray(features) && features.includes('idempotency-key'));
    } catch {
      signalOf(signal).throwIfAborted();
      return false;
    }
  }

  const jsonFrom = (response: ApiResponse, what: string): Json | undefined => {
    if (response.body.length === 0 || response.status === 204) return undefined;
    const json = jsonOf(response);
    if (json === undefined) throw unreadable(response, { what, origin, attempts: 1 });
    return json;
  };

  return {
    env,
    log,
    secrets,
    options,
    base,
    maxRetries,
    signalOf,
    knowsKeys,
    call: async (call) => jsonFrom(await answer(call), whatOf(call)),
    open,
    async *lines(call) {
      const stream = await open(call);
      try {
        yield* linesOf(stream, whatOf(call));
      } catch (error) {
        signalOf(call.signal).throwIfAborted();
        throw error instanceof StorageError ? error : lostOn(whatOf(call), error);
      } finally {
        stream.destroy();
      }
    },
    async post({ url, what, headers: more, openBody, signal }) {
      await options.beforeChange?.(signalOf(signal));
      const request: ApiRequest = { method: 'POST', url, headers: { ...headers, ...more } };
      return jsonFrom(await send(request, what, { openBody, signal }), what);
    },
  };
}

interface How {
  /** In the place of the way that answers take which are read whole. */
  readonly bottom?: SendCall | undefined;
  /** True for a side request, which has few retries. */
  readonly isQuick?: boolean | undefined;
  readonly isOnce?: boolean | undefined;
  readonly openBody?: OpenBody | undefined;
  readonly signal?: AbortSignal | undefined;
}

const HEADER_VALUE = /^[\x21-\x7e]+$/;

/** Returns the token; one that no header may have is refused here: the runtime would show it in its message. */
function tokenOf(given: string): string {
  const token = given.trim();
  if (HEADER_VALUE.test(token)) return token;
  throw new StorageError(
    'storage.unauthorized',
    token === ''
      ? 'There is no token for the storage service.'
      : 'The token for the storage service has signs in it that no token has.',
    { hint: 'Give one, by KBC_TOKEN for example: one line, without spaces or quotes.' },
  );
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new StorageError('storage.unreachable', 'The address of the storage service is no URL.', {
      hint: 'It looks like http://127.0.0.1:8080 or https://storage.example.com.',
    });
  return trimEnd(parsed.origin + parsed.pathname, '/').replace(/\/v2\/storage$/, '');
}

/** Translates a network failure; everything else stays. */
function unreachable(
  error: unknown,
  call: { readonly what: string; readonly attempts: number },
  secrets: Secrets,
): unknown {
  if (!(error instanceof HttpError)) return error;
  const text = `${error.message.replace(/\.$/, '')}, for ${call.what}.`;
  const { curl } = error.details;
  return new StorageError('storage.unreachable', secrets.redact(text), {
    hint: error.code === 'http.proxy' ? error.hint : hintOf(curl),
    recovery: error.recovery,
    cause: error,
    details: { attempts: call.attempts, curl },
  });
}

function hintOf(curl: unknown): string {
  return curl === undefined ? LATER : curl === CURL.certificate ? TRUST : CHECK_ADDRESS;
}

/** The service asked for a wait that is too long. */
const LATER = 'Try it again after that time.';
const TRUST =
  'If the service uses a private authority, name a file with its certificate in NODE_EXTRA_CA_CERTS.';
