import { StorageError, type ErrorCode } from '../../lib/errors.ts';
import { headerOf, type ApiResponse } from '../../engine/shared/message.ts';
import { parseExact } from '../../lib/json/parse.ts';
import { getKey, isNumber, isObject, numberOf, type Json } from '../../lib/json/value.ts';
import { shownText } from '../../lib/shown-text.ts';
import type { Redactor } from './api-core.ts';

export interface FailedCall {
  /** `GET tables/in.c-main.users`, for messages. */
  readonly what: string;
  /** `scheme://host` of the service. */
  readonly origin: string;
  /** How often it was sent. */
  readonly attempts: number;
}

/** The body as JSON; undefined when there is none, or when it is something else. */
export function jsonOf(response: ApiResponse): Json | undefined {
  try {
    return parseExact(new TextDecoder().decode(response.body)); // without a byte order mark
  } catch {
    return undefined;
  }
}

/** An answer that is no success, in words. */
export function failureOf(response: ApiResponse, call: FailedCall, secrets: Redactor): StorageError {
  const body = jsonOf(response);
  if (response.status >= 300 && response.status < 400) return redirected(response, call, secrets);
  if (body === undefined || !isObject(body)) return unreadable(response, call);
  const said = textOf(body, 'error') || textOf(body, 'reason') || textOf(body, 'message');
  if (textOf(body, 'code').startsWith(SQL)) return mistakeOf(body, said, response.status, secrets);
  const { code, hint } = kindOf(response.status);
  const text = `The storage service answered ${call.what} with ${response.status}${said === '' ? '.' : `: ${said}`}`;
  const [message = '', ...items] = secrets.redact(text).split(ITEM);
  return new StorageError(code, message, {
    lines: listOf(items),
    hint,
    audience: code === 'storage.failed' ? 'application' : 'user',
    recovery: code === 'storage.failed' || isPassing(response.status) ? 'retry' : 'stop',
    details: {
      status: response.status,
      serviceCode: textOf(body, 'code'),
      exceptionId: textOf(body, 'exceptionId'),
      errors: getKey(body, 'errors'),
      params: getKey(body, 'params'),
      attempts: call.attempts,
    },
  });
}

/** Beginning of an item of a list, such as that of the fields of a request that are wrong. */
const ITEM = '\n - ';

/** Items that are shown. */
const MOST_ITEMS = 20;

function listOf(items: readonly string[]): string[] {
  const left = items.length - MOST_ITEMS;
  const shown = items.slice(0, MOST_ITEMS).map((item) => `  - ${shownText(item)}`);
  return left > 0 ? [...shown, `  and ${left} more`] : shown;
}

/** Beginning of the codes of what is wrong with a query. */
const SQL = 'storage.sql.';

/** A query that is wrong, refused or too large: what the service says is for the person who wrote it, in its lines. */
function mistakeOf(body: Json, said: string, status: number, secrets: Redactor): StorageError {
  const [message = '', ...lines] = secrets.redact(said).trimEnd().split('\n');
  return new StorageError('storage.refused', message, {
    lines,
    details: {
      status,
      serviceCode: textOf(body, 'code'),
      exceptionId: textOf(body, 'exceptionId'),
      line: placeOf(body, 'line'),
      column: placeOf(body, 'column'),
    },
  });
}

function placeOf(body: Json, key: 'column' | 'line'): number | undefined {
  const params = isObject(body) ? getKey(body, 'params') : undefined;
  const value = isObject(params) ? getKey(params, key) : undefined;
  return isNumber(value) ? numberOf(value) : undefined;
}

/** An answer of 2xx that is not JSON. */
export function unreadable(response: ApiResponse, call: FailedCall): StorageError {
  const type = (headerOf(response.headers, 'content-type') ?? '').split(';')[0] ?? '';
  const isHtml = type.includes('html') || /^\s*<(?:!doctype|html)/i.test(startOf(response));
  const what =
    response.body.length === 0
      ? 'an empty body'
      : isHtml
        ? 'a page of HTML'
        : `something that is not JSON${type === '' ? '' : ` (${type})`}`;
  const { status } = response;
  const isFailure = (status >= 500 && status !== 501) || isPassing(status);
  return new StorageError(
    isFailure ? 'storage.failed' : 'storage.unexpected',
    `${call.origin} answered ${call.what} with ${what} (status ${status}), where JSON was expected.`,
    {
      hint: isFailure ? RETRY_LATER : status === 413 ? TOO_LARGE : CHECK_ADDRESS,
      recovery: isFailure ? 'retry' : 'stop',
      audience: isFailure ? 'application' : 'user',
      details: { status, attempts: call.attempts },
    },
  );
}

export const CHECK_ADDRESS =
  'Check the address of the storage service: it is the one that the service prints when it starts, without a path.';
const RETRY_LATER = 'Try again later; if it stays, ask whoever runs the service.';
const TOO_LARGE = 'Something in between, a proxy perhaps, takes no body of that size.';

function redirected(response: ApiResponse, call: FailedCall, secrets: Redactor): StorageError {
  const location = headerOf(response.headers, 'location') ?? '';
  const to = URL.canParse(location, response.url) ? new URL(location, response.url) : undefined;
  const isWithin = to?.origin === call.origin;
  const target = secrets.redact(isWithin ? to.pathname : (to?.origin ?? 'elsewhere'));
  return new StorageError(
    'storage.unexpected',
    `${call.origin} sends ${call.what} on to ${target} (status ${response.status}); the token is not taken along.`,
    {
      hint: isWithin ? CHECK_ADDRESS : `If ${target} is the storage service, give it as the address.`,
      details: { status: response.status, attempts: call.attempts },
    },
  );
}

function kindOf(status: number): { code: ErrorCode; hint?: string } {
  if (status === 401)
    return {
      code: 'storage.unauthorized',
      hint: 'Check the token: it may be expired, deleted, or of another service.',
    };
  if (status === 403)
    return {
      code: 'storage.forbidden',
      hint: 'The token needs a permission for this, or use one that has it.',
    };
  if (status === 404)
    return { code: 'storage.notFound', hint: 'Check the id, and the branch that it is asked in.' };
  if (status === 501) return { code: 'storage.unsupported' };
  if (status >= 500) return { code: 'storage.failed', hint: RETRY_LATER };
  if (isPassing(status)) return { code: 'storage.refused', hint: RETRY_LATER };
  return { code: 'storage.refused' };
}

function isPassing(status: number): boolean {
  return [408, 409, 423, 429].includes(status);
}

function textOf(body: Json, key: string): string {
  const value = isObject(body) ? getKey(body, key) : undefined;
  return typeof value === 'string' ? value : '';
}

function startOf(response: ApiResponse): string {
  return new TextDecoder().decode(response.body.subarray(0, 100));
}
