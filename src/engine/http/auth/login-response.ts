import { ConfigError, HttpError } from '../../../lib/errors.ts';
import {
  getKey,
  isEmpty,
  isObject,
  isScalar,
  JsonSyntaxError,
  parseExact,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { headerOf, type ApiResponse } from '../../shared/message.ts';
import { kindOf } from '../../../lib/read-settings.ts';
import type { AuthContext } from './auth.ts';

export type LoginFormat = 'json' | 'text';

/** Reads `authentication.format` of a login: `json` by default. */
export function parseLoginFormat(node: AnyObject, context: AuthContext): LoginFormat {
  const format = getKey(node, 'format');
  if (isEmpty(format) || format === 'json') return 'json';
  if (format === 'text') return 'text';
  throw new ConfigError('config.invalid', '“format” of the login must be "json" or "text".', {
    where: { path: `${context.at}.format` },
  });
}

/**
 * Reads the answer of a login as an object: a text, or a scalar of JSON, becomes its property `data`. The answer holds
 * secrets, so no message quotes it.
 *
 * @throws {HttpError} auth.failed
 */
export function readLoginResponse(
  response: ApiResponse,
  format: LoginFormat,
  context: AuthContext,
): AnyObject {
  const text = new TextDecoder().decode(response.body);
  if (format === 'text') return { data: text };
  const value = parse(text, response, context);
  if (isObject(value)) return value;
  if (isScalar(value)) return { data: value };
  throw new HttpError(
    'auth.failed',
    `The login must answer with a JSON object, but it answered with ${kindOf(value)}.`,
    {
      where: { path: `${context.at}.loginRequest` },
      hint: 'Check the endpoint and the method of the login.',
    },
  );
}

function parse(text: string, response: ApiResponse, context: AuthContext): Json {
  try {
    return parseExact(text);
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause;
    const type = headerOf(response.headers, 'content-type') ?? 'unknown type';
    throw new HttpError(
      'auth.failed',
      `The login answered with something that is not JSON: ${response.body.length} bytes of ${type}, status ${response.status}. ${cause.message}.`,
      {
        where: { path: `${context.at}.loginRequest` },
        hint: 'If the answer is the token itself, add "format": "text"; it is then {"response": "data"}.',
      },
    );
  }
}
