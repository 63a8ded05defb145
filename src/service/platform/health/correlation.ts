import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';

const ids = new AsyncLocalStorage<string | null>();

/** Does work for a request: what is logged and asked for meanwhile carries its id. */
export function withRequestId<T>(id: string | null, work: () => T): T {
  return ids.run(id, work);
}

/** Returns the request that this work is done for, also when a job does it later; null for work without a request. */
export function currentRequestId(): string | null {
  return ids.getStore() ?? null;
}

/** A log whose lines name the request that they belong to. */
export function correlated(log: Log): Log {
  const at =
    (level: keyof Log): Log[typeof level] =>
    (message, fields = {}) => {
      const requestId = currentRequestId();
      log[level](message, requestId === null ? fields : { requestId, ...fields });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Characters allowed in an id: none has a meaning in a log, a header or a query. */
const SANE = /^[\w.:+=@/-]{1,128}$/;

/** `00-<trace id>-<parent id>-<flags>` (https://www.w3.org/TR/trace-context/#traceparent-header). */
const TRACE_PARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/** The id of a request: the client's, the trace that it belongs to, or a new one. */
export function requestIdOf(headers: IncomingHttpHeaders, env: Pick<Env, 'randomBytes'>): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && SANE.test(given)) return given;
  const trace = TRACE_PARENT.exec(String(headers['traceparent'] ?? ''))?.[1];
  return trace ?? Buffer.from(env.randomBytes(16)).toString('hex');
}
