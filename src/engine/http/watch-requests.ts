import type { Env } from '../../lib/env.ts';
import { HttpError } from '../../lib/errors.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { bodyBytes, type SendWrapper } from '../shared/message.ts';
import { bodyStart } from './body-start.ts';

/** A request as it goes out, or what came of it, without secrets. */
export interface RequestEvent {
  /** Number of the request in this connection, from 1: it relates answers to requests. */
  readonly number: number;
  /** `GET https://api.example.com/users?page=2`. */
  readonly request: string;
  readonly body?: string;
  /** True for a login. */
  readonly isLogin?: true;
  /** Absent for a request that goes out. */
  readonly answer?:
    | {
        readonly status: number;
        readonly bytes: number;
        readonly ms: number;
        /** How an answer with a status from 400 on begins. */
        readonly text?: string;
      }
    | { readonly failure: string; readonly ms: number };
}

/** Bytes of a bad answer that are shown. */
const SHOWN_BYTES = 500;

/**
 * Tells of each request as it goes out, retries and redirects included, and of what came back. Requests and logins are
 * counted together.
 */
export function watchRequests(
  tell: (event: RequestEvent) => void,
  { env, secrets }: { readonly env: Env; readonly secrets: Secrets },
): { readonly requests: SendWrapper; readonly logins: SendWrapper } {
  let count = 0;
  const watch =
    (isLogin: boolean): SendWrapper =>
    (next) =>
    async (request, options) => {
      const about = {
        number: ++count,
        request: `${request.method} ${secrets.redactUrl(request.url)}`,
        ...(isLogin ? ({ isLogin: true } as const) : {}),
      };
      const { body } = request;
      const text = typeof body === 'string' ? body : Buffer.from(body ?? '').toString('utf8');
      tell({ ...about, ...(text === '' ? {} : { body: secrets.redactBody(text) }) });
      const startMs = env.now();
      try {
        const response = await next(request, options);
        const { status } = response;
        const ms = env.now() - startMs;
        const text = status < 400 ? '' : bodyStart(response.body, SHOWN_BYTES, secrets);
        tell({
          ...about,
          answer: { status, bytes: bodyBytes(response), ms, ...(text === '' ? {} : { text }) },
        });
        return response;
      } catch (error) {
        const failure = error instanceof HttpError ? secrets.redact(error.message) : 'aborted';
        tell({ ...about, answer: { failure, ms: env.now() - startMs } });
        throw error;
      }
    };
  return { requests: watch(false), logins: watch(true) };
}
