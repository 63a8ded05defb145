import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../domain/context.ts';
import { encodeReply } from '../domain/encode-reply.ts';
import { ApiError, InvalidRequest, notFound } from '../domain/api-error.ts';
import { TableError, type TableErrorCode } from '../stores/tables/table-error.ts';
import { QueryError } from '../stores/query/messages.ts';
import { QuerySyntaxError } from '../stores/metadata/query.ts';
import { detailOf, toServiceError } from '../domain/service-error.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    validationCode?: string;
  }
}

/** Turns any error into the documented shape; an unexpected one goes to the log, not to the caller. */
export function errorHandlers(context: Context): {
  onError: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;
} {
  return {
    onError(error, request, reply) {
      const exceptionId = `exception-${Buffer.from(context.env.randomBytes(10)).toString('hex')}`;
      const answer = apiErrorOf(error, request.routeOptions?.config?.validationCode ?? 'storage.validation');
      const facts = {
        // An error of the framework is logged outside of the request's context.
        requestId: request.id,
        exceptionId,
        method: request.method,
        route: request.routeOptions?.url,
      };
      if (answer.status >= 500 && !REFUSALS.has(answer.code))
        context.log.error('Request failed', { ...facts, detail: detailOf(error) });
      else context.log.debug('Request refused', { ...facts, status: answer.status, code: answer.code });
      // The rest of an unread body would precede the next request on the connection.
      request.raw.unpipe();
      request.raw.resume();
      // As bytes: a text would get a charset where no hook can remove it, such as for a broken address.
      if (answer.retryAfter !== undefined) reply.header('retry-after', String(answer.retryAfter));
      reply
        .code(answer.status)
        .type('application/json')
        .send(Buffer.from(encodeReply(answer.toBody(exceptionId))));
    },
  };
}

/** Codes that are no failure of the service, though their status says so. */
const REFUSALS: ReadonlySet<string> = new Set(['notImplemented', 'storage.busy']);

function apiErrorOf(error: unknown, validationCode: string): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof InvalidRequest)
    return new ApiError(400, validationCode, error.message, { errors: error.errors });
  if (error instanceof QueryError) return queryError(error);
  if (error instanceof QuerySyntaxError) return new ApiError(400, 'query.syntax', error.message);
  const trouble = toServiceError(error);
  if (trouble !== undefined) return trouble;
  if (error instanceof TableError) return new ApiError(statusOf(error.code), error.code, error.message);
  const { statusCode, code, message } = error as { statusCode?: unknown; code?: unknown; message?: unknown };
  // Longer than any id; the message of the router would repeat the whole path.
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return notFound('Not found');
  if (code === 'FST_ERR_BAD_URL')
    return new ApiError(400, 'malformedRequest', 'The address is not properly encoded.');
  if (statusCode === 413)
    return new ApiError(413, 'requestTooLarge', 'The body of the request is larger than allowed.');
  if (statusCode === 415)
    return new ApiError(
      415,
      'unsupportedMediaType',
      'Send JSON, a form or multipart, and say so in Content-Type.',
    );
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    const isOurs = typeof code === 'string' && code.startsWith('FST_ERR_');
    return new ApiError(
      statusCode,
      'malformedRequest',
      isOurs ? String(message) : 'The request cannot be read.',
    );
  }
  return new ApiError(
    500,
    'internalError',
    'An unexpected error happened. Its id is in the log of the service.',
  );
}

/** Returns the answer for a query in SQL, with the place in its text. */
function queryError({ problem }: QueryError): ApiError {
  const { code, message, place } = problem;
  const where = place === undefined ? '' : `Line ${place.line}, column ${place.column}: `;
  return new ApiError(
    // Also for one that failed: clients send a request again for minutes after a status above 499.
    code === 'storage.sql.noTable' ? 404 : 400,
    code,
    where + message,
    place && { params: { ...place } },
  );
}

function statusOf(code: TableErrorCode): number {
  if (code === 'storage.tables.notFound' || code === 'storage.tables.versionNotFound') return 404;
  return code === 'storage.tables.locked' ? 503 : 400;
}
