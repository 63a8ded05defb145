import { ConfigError } from '../../../lib/errors.ts';
import { kind } from '../kinds.ts';
import {
  compilePath,
  entriesOf,
  getKey,
  isEmpty,
  isObject,
  JsonSyntaxError,
  objectOf,
  parseExact,
  toJsonText,
  withKey,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { encodeForm } from '../encode.ts';
import { headerOf, withHeader, type ApiRequest } from '../../shared/message.ts';
import { overrideQuery } from './url-query.ts';
import { headerText } from './values.ts';

/** Part of a request that carries a key or a token. */
export type KeyIn = 'header' | 'query' | 'body' | 'cookie';

const PLACES: readonly KeyIn[] = ['header', 'query', 'body', 'cookie'];

/** Schema of the key `in`. */
export const keyInSchema = kind({ enum: PLACES, default: 'header' })(
  'Place',
  'Where it is sent. `body`: a key of the JSON body, at any depth with dots between, or a parameter of a form.',
  ['header', 'body'],
);

/** Reads the key `in`. @throws {ConfigError} for another word */
export function keyInOf(node: AnyObject, at: string): KeyIn {
  const word = getKey(node, 'in');
  if (isEmpty(word)) return 'header';
  const found = PLACES.find((place) => place === word);
  if (found !== undefined) return found;
  throw new ConfigError('config.invalid', '“in” must be "header", "query", "body" or "cookie".', {
    where: { path: `${at}.in` },
  });
}

/** Puts a text into a request. */
export type PutKey = (request: ApiRequest, value: string) => ApiRequest;

/**
 * Puts a key where it belongs; one that is there already is replaced.
 *
 * @param name of the header, the parameter, the cookie, or the key of the body
 * @param at JSON path of the authentication, for messages
 */
export function putKey(place: KeyIn, name: string, at: string): PutKey {
  if (place === 'query')
    return (request, value) => ({ ...request, url: overrideQuery(request.url, [[name, value]]) });
  if (place === 'cookie') return (request, value) => withCookie(request, name, headerText(value, at));
  if (place === 'header')
    return (request, value) => ({
      ...request,
      headers: withHeader(request.headers, name, headerText(value, at)),
    });
  compilePath(name, { at: `${at}.name` });
  return (request, value) => withBodyKey(request, name, value, at);
}

function withCookie(request: ApiRequest, name: string, value: string): ApiRequest {
  const others = (headerOf(request.headers, 'cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !pair.startsWith(`${name}=`));
  return {
    ...request,
    headers: withHeader(request.headers, 'Cookie', [...others, `${name}=${value}`].join('; ')),
  };
}

function withBodyKey(request: ApiRequest, name: string, value: string, at: string): ApiRequest {
  const { body } = request;
  if (body === undefined)
    throw bodyError(`“${name}” goes into the body, but a ${request.method} request has none.`, at, request);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const type = headerOf(request.headers, 'content-type') ?? '';
  if (/form-urlencoded/i.test(type)) {
    const own = encodeForm(objectOf([[name, value]]));
    const prefix = own.slice(0, own.indexOf('=') + 1);
    const others = text.split('&').filter((pair) => pair !== '' && !pair.startsWith(prefix));
    return { ...request, body: [...others, own].join('&') };
  }
  const parsed = parsedBody(text);
  // no parameters are sent as an empty list
  const document = isEmpty(parsed) ? objectOf([]) : parsed;
  if (!isObject(document))
    throw bodyError(
      `“${name}” goes into the body, but the body is neither a JSON object nor a form.`,
      at,
      request,
    );
  return { ...request, body: toJsonText(withDeepKey(document, name.split('.'), value)) };
}

/** Parses a body as JSON; other text stays text, and an empty one is undefined. */
function parsedBody(text: string): Json | undefined {
  try {
    return parseExact(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return text === '' ? undefined : text;
    throw error;
  }
}

function withDeepKey(target: AnyObject, [key = '', ...rest]: readonly string[], value: string): AnyObject {
  if (rest.length === 0) return withKey(target, key, value);
  const inner = getKey(target, key);
  return withKey(
    target,
    key,
    withDeepKey(isObject(inner) ? objectOf(entriesOf(inner)) : objectOf([]), rest, value),
  );
}

function bodyError(message: string, at: string, { label }: ApiRequest): ConfigError {
  return new ConfigError('config.invalid', message, {
    where: { path: `${at}.in`, ...(label === undefined ? {} : { job: label }) },
    hint: 'Give the job a method with a body, such as POST, or put the key elsewhere: "in": "header", "query" or "cookie".',
  });
}
