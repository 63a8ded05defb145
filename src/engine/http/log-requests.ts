import type { Env } from '../../lib/env.ts';
import { HttpError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { bodyBytes, type SendWrapper } from '../shared/message.ts';

/** Logs a debug line for each request as it goes out, and one for its answer, without secrets. */
export function logRequests({
  env,
  log,
  secrets,
}: {
  readonly env: Env;
  readonly log: Log;
  readonly secrets: Secrets;
}): SendWrapper {
  return (next) => async (request, options) => {
    const line = `${request.method} ${secrets.redactUrl(request.url)}`;
    log.debug(line, { headers: secrets.redactHeaders(request.headers) });
    const startMs = env.now();
    try {
      const response = await next(request, options);
      log.debug(`${response.status} ${line}`, { ms: env.now() - startMs, bytes: bodyBytes(response) });
      return response;
    } catch (error) {
      const reason = error instanceof HttpError ? secrets.redact(error.message) : 'aborted';
      log.debug(`Failed ${line}`, { ms: env.now() - startMs, reason });
      throw error;
    }
  };
}
