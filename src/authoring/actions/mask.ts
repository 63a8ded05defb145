import { jsonIn, collectSecrets } from '../../engine/config/secrets.ts';
import type { ProbedExchange } from '../../engine/extract/probe.ts';
import type { ApiRequest, Headers } from '../../engine/shared/message.ts';
import {
  entriesOf,
  getKey,
  isList,
  isNumber,
  isObject,
  isScalar,
  objectOf,
  toJsonText,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { HIDDEN, isSecretName, Secrets } from '../../lib/secrets.ts';
import { parametersOf } from './configuration.ts';

/**
 * Returns the secrets that an action must not show: all values under keys with `#`, and attributes that start with
 * `__`.
 */
export function secretsIn(configuration: AnyObject): Secrets {
  const secrets = new Secrets();
  for (const value of collectSecrets(configuration)) secrets.add(value);
  const parameters = parametersOf(configuration);
  for (const key of ['config', 'iterations']) {
    for (const value of hiddenAttributes(getKey(parameters, key) ?? null)) secrets.add(value);
  }
  return secrets;
}

/** Takes note of credentials that were sent or came: an API may echo them anywhere. */
export function learnSecrets(secrets: Secrets, exchanges: readonly ProbedExchange[]): void {
  for (const { request, response } of exchanges) {
    for (const value of [
      ...headerSecrets(request.headers),
      ...headerSecrets(response.headers),
      ...sentSecrets(request),
    ]) {
      if (value.length >= SHORTEST) secrets.add(value);
    }
  }
  for (const value of loginSecrets(exchanges)) secrets.add(value);
}

/** Returns values that a login gave and that later requests sent, under any name. */
function loginSecrets(exchanges: readonly ProbedExchange[]): readonly string[] {
  const given = exchanges
    .filter(({ request }) => isLogin(request))
    .flatMap(({ response }) => bodyParameters(textOf(response.body)).map(([, value]) => value))
    .filter((value) => value.length >= SHORTEST);
  if (given.length === 0) return [];
  const sent = exchanges
    .filter(({ request }) => !isLogin(request))
    .flatMap(({ request }) => [request.url, textOf(request.body ?? ''), ...Object.values(request.headers)])
    .join('\n');
  return given.filter((value) => sent.includes(value) || sent.includes(encodeURIComponent(value)));
}

/** Tells whether a login made the request, for any type of authentication. */
export function isLogin({ isLogin, label }: ApiRequest): boolean {
  return isLogin === true || label === 'login';
}

/** Returns the value with every secret in its texts, names and numbers hidden. */
export function maskJson(value: Json, secrets: Secrets): Json {
  if (typeof value === 'string') return secrets.redact(value);
  if (isNumber(value)) {
    const text = toText(value);
    return secrets.redact(text) === text ? value : HIDDEN;
  }
  if (isList(value)) return value.map((item) => maskJson(item, secrets));
  if (!isObject(value)) return value;
  return objectOf(entriesOf(value).map(([key, item]) => [secrets.redact(key), maskJson(item, secrets)]));
}

/** Returns a body for display: parameters with the name of a secret are hidden, and so is every known secret. */
export function maskBody(body: string, secrets: Secrets): string {
  const value = jsonIn(body);
  return value === undefined
    ? secrets.redactUrl(`?${body}`).slice(1)
    : secrets.redact(toJsonText(withoutSecretNames(value)));
}

/** Shorter values of headers and cookies are words like `dark` or `true`, which stand in many texts. */
const SHORTEST = 8;

function hiddenAttributes(value: Json): readonly string[] {
  if (isList(value)) return value.flatMap(hiddenAttributes);
  if (!isObject(value)) return [];
  return entriesOf(value).flatMap(([key, item]) =>
    key.startsWith('__') ? collectSecrets({ '#': item }) : hiddenAttributes(item),
  );
}

function headerSecrets(headers: Headers): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (lower === 'cookie') return value.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
    if (lower === 'set-cookie') return [...value.matchAll(SET_COOKIE)].map((match) => match[1] ?? '');
    if (!isSecretName(name)) return [];
    const [, scheme = '', credentials = ''] = /^(\S+) +([^ ].*)$/.exec(value) ?? [];
    const plain = scheme.toLowerCase() === 'basic' ? Buffer.from(credentials, 'base64').toString('utf8') : '';
    return [value, credentials, plain, plain.slice(plain.indexOf(':') + 1)];
  });
}

/** The values of cookies in a field that holds several; their dates have commas too. */
const SET_COOKIE = /(?:^|, *)[^=;, ]+=([^;,]*)/g;

function sentSecrets({ url, body }: ApiRequest): readonly string[] {
  const mark = url.indexOf('?');
  const query = mark < 0 ? [] : [...new URLSearchParams(url.slice(mark + 1))];
  const parameters = [...query, ...(body === undefined ? [] : bodyParameters(textOf(body)))];
  return parameters.filter(([name]) => isSecretName(name)).map(([, value]) => value);
}

/** Returns names and values in a body of JSON, at any depth, or of a form. */
function bodyParameters(body: string): readonly (readonly [string, string])[] {
  const value = jsonIn(body);
  return value === undefined ? [...new URLSearchParams(body)] : textsIn(value, '');
}

function withoutSecretNames(value: Json): Json {
  if (isList(value)) return value.map(withoutSecretNames);
  if (!isObject(value)) return value;
  return objectOf(
    entriesOf(value).map(([key, item]) => [
      key,
      isScalar(item) && isSecretName(key) ? HIDDEN : withoutSecretNames(item),
    ]),
  );
}

function textsIn(value: Json, name: string): readonly (readonly [string, string])[] {
  if (isList(value)) return value.flatMap((item) => textsIn(item, name));
  if (isObject(value)) return entriesOf(value).flatMap(([key, item]) => textsIn(item, key));
  return typeof value === 'string' || isNumber(value) ? [[name, toText(value)]] : [];
}

export function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
}
