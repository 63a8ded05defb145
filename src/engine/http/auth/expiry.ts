import { ConfigError, HttpError } from '../../../lib/errors.ts';
import {
  compilePath,
  getKey,
  isEmpty,
  isObject,
  isScalar,
  JsonNumber,
  numberOf,
  toText,
  type Json,
} from '../../../lib/json/index.ts';
import { kindOf } from '../../../lib/read-settings.ts';
import type { AuthContext } from './auth.ts';

/**
 * When a login ends, in Unix seconds; undefined when it never does. It has ended when the clock is past it:
 * within the same second it still holds.
 */
export type ExpiryOf = (response: Json, nowSeconds: number) => number | undefined;

/**
 * Reads `authentication.expires` (login): seconds after the login (`3600`, `"3600"`, `"-1"` for
 * a login before every request), or `{response: path, relative: bool}`, a value of the login response that is
 * Unix seconds or a date text; with `relative` it counts from the login on.
 *
 * @throws {ConfigError} for anything else
 */
export function parseExpires(node: Json | undefined, context: AuthContext): ExpiryOf {
  const at = `${context.at}.expires`;
  if (node === undefined || node === null) return () => undefined;
  const seconds = integerOf(node);
  if (seconds !== undefined) return (_response, now) => now + seconds;
  const path = isObject(node) ? getKey(node, 'response') : undefined;
  if (!isObject(node) || !isScalar(path))
    throw new ConfigError(
      'config.invalid',
      `“expires” must be a number of seconds or {"response": "path"}, but it is ${kindOf(node)}.`,
      {
        where: { path: at },
        hint: 'Write for example "expires": 3600, or "expires": {"response": "expires_in", "relative": true}.',
      },
    );
  const relative = !isEmpty(getKey(node, 'relative'));
  const place = compilePath(toText(path), { at: `${at}.response` });
  return (response, now) => {
    const value = place.find(response);
    if (value === undefined || value === null) return undefined;
    const expires = relative
      ? now + timeOf(value, 0, place.text, context)
      : timeOf(value, now, place.text, context);
    if (expires >= now) return expires;
    throw new HttpError('auth.failed', 'The login has already expired when it was answered.', {
      where: { path: at },
      hint: relative
        ? `“${place.text}” of the login response is negative.`
        : `“${place.text}” of the login response is in the past; if it is a number of seconds from now, add "relative": true.`,
    });
  };
}

function timeOf(value: Json, base: number, path: string, context: AuthContext): number {
  const seconds = isScalar(value) ? (integerOf(value) ?? fractionOf(value)) : undefined;
  if (seconds !== undefined) return seconds;
  const parsed = typeof value === 'string' ? context.parseTime(value, base) : false;
  if (parsed !== false) return parsed;
  throw new HttpError(
    'auth.failed',
    `“${path}” of the login response is no time: it is ${kindOf(value)} that cannot be read as a date.`,
    {
      where: { path: `${context.at}.expires.response` },
      hint: 'The value must be Unix seconds or a date; leave "expires" out if the login does not expire.',
    },
  );
}

function integerOf(value: Json): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined;
  if (value instanceof JsonNumber) return value.isInteger ? value.value : undefined;
  return typeof value === 'string' && /^[+-]?\d+$/.test(value) ? Number(value) : undefined;
}

function fractionOf(value: Json): number | undefined {
  return typeof value === 'number' || value instanceof JsonNumber ? Math.floor(numberOf(value)) : undefined;
}
