import {
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  parseExact,
  sizeOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { isSecretName } from '../../lib/secrets.ts';
import type { Described } from './openapi/configure.ts';
import type { ListOperation, OperationParameter, Skipped } from './openapi/operations.ts';
import { findRows, type RowsPlace } from './rows.ts';

export function isPostman(value: Json): value is AnyObject {
  if (!isObject(value) || !isList(getKey(value, 'item'))) return false;
  const info = getKey(value, 'info');
  return isObject(info);
}

/** Reads a collection of Postman, 2.0 or 2.1: its GETs are lists, by their saved answers where it has some; of lists by POST is told. */
export function fromPostman(collection: AnyObject): Described {
  const variables = variablesOf(collection);
  const unknown = new Set<string>();
  const fill = (text: string): string => filled(text, variables, unknown);
  const requests = requestsIn(getKey(collection, 'item'), getKey(collection, 'auth'));
  const skipped: Skipped[] = [];
  const servers = new Map<string, number>();
  const found = requests.flatMap(({ item, request, auth }) => {
    const read = readRequest(request, fill);
    if (read === undefined) return [];
    if (read.method !== 'GET') {
      if (read.method === 'POST' && isSearch(item, request, read.path))
        skipped.push({
          what: `POST ${read.path}`,
          why: 'it is sent by POST: copy its code as cURL in Postman, and give that to gex init',
        });
      return [];
    }
    servers.set(read.origin, (servers.get(read.origin) ?? 0) + 1);
    return [{ item, read, auth }];
  });
  const [baseUrl = 'https://api.example.com'] = [...servers].toSorted((a, b) => b[1] - a[1])[0] ?? [];
  const prefix = commonFolder(
    found.filter(({ read }) => read.origin === baseUrl).map(({ read }) => read.path),
  );
  const known = new Set<string>();
  const lists: ListOperation[] = [];
  for (const { item, read } of found) {
    const what = `GET ${read.path}`;
    if (known.has(read.path)) continue;
    if (read.origin !== baseUrl) {
      skipped.push({ what, why: `it is on another server, ${read.origin}` });
      continue;
    }
    const sample = answerOf(item);
    const name = read.path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? '';
    const place: RowsPlace | undefined =
      sample === undefined
        ? { keys: [], kind: 'list', rows: [], score: 0, why: 'not known' }
        : findRows(sample, name)[0];
    if (
      place === undefined ||
      place.kind !== 'list' ||
      place.score < 0 ||
      (sample === undefined && /\}\/?$/.test(read.path))
    ) {
      skipped.push({ what, why: 'it brings no list' });
      continue;
    }
    known.add(read.path);
    lists.push({
      path: `/${read.path.slice(prefix.length)}`,
      parameters: read.parameters.filter(({ name: own }) => !isSecretName(own)),
      place,
      sample: sample ?? [],
      headers: [],
      security: undefined,
    });
  }
  const secret = new Set(
    found
      .flatMap(({ read }) =>
        read.parameters.filter(({ name, isRequired }) => isRequired && isSecretName(name)),
      )
      .map(({ name, place }) => (place === 'header' ? `The header ${name}` : `The parameter ${name}`)),
  );
  const info = getKey(collection, 'info');
  const title = isObject(info) ? getKey(info, 'name') : '';
  const unseen = lists.filter(({ place }) => place.why === 'not known').length;
  return {
    kind: 'Postman collection',
    title: typeof title === 'string' ? title : '',
    lists,
    skipped,
    baseUrl: `${baseUrl}${prefix}`,
    hasLists: lists.some(({ parameters }) => parameters.some(({ value }) => isList(value))),
    login: loginOf(
      found.map(({ auth }) => auth).find((auth) => auth !== undefined) ?? getKey(collection, 'auth'),
    ),
    notes: [
      ...[...secret].map(
        (what) => `${what} of the requests seems to be a login, and is left out: set \`api.authentication\`.`,
      ),
      ...[...unknown].map(
        (name) => `The variable {{${name}}} has no value in the collection: put it into the configuration.`,
      ),
      ...(unseen === 0
        ? []
        : [
            `Where the rows are in ${unseen} of the lists: the collection has no saved answers of them. The only list of an answer is taken.`,
          ]),
    ],
  };
}

interface Request {
  readonly item: AnyObject;
  readonly request: Json;
  readonly auth: Json | undefined;
}

/** Tells whether a POST asks for a list: its saved answer is one, or without that its path or its body says so. */
function isSearch(item: AnyObject, request: Json, path: string): boolean {
  const sample = answerOf(item);
  const name = path.split('/').findLast((part) => part !== '') ?? '';
  if (sample !== undefined) {
    const [place] = findRows(sample, name);
    return place?.kind === 'list' && place.score >= 0;
  }
  const body = isObject(request) ? getKey(request, 'body') : undefined;
  return (
    /search|query|list|filter|find|report|graphql/i.test(name) ||
    (isObject(body) && getKey(body, 'mode') === 'graphql')
  );
}

/** Returns the requests of all folders; one without a login has that of its folder. */
function requestsIn(items: Json | undefined, above: Json | undefined): Request[] {
  return (isList(items) ? items : []).flatMap((item) => {
    if (!isObject(item)) return [];
    const request = getKey(item, 'request');
    if (request === undefined) return requestsIn(getKey(item, 'item'), getKey(item, 'auth') ?? above);
    const own = isObject(request) ? getKey(request, 'auth') : undefined;
    return [{ item, request, auth: own ?? above }];
  });
}

interface ReadRequest {
  readonly method: string;
  readonly origin: string;
  /** With path variables in braces. */
  readonly path: string;
  readonly parameters: readonly OperationParameter[];
}

function readRequest(request: Json, fill: (text: string) => string): ReadRequest | undefined {
  const method = isObject(request) ? getKey(request, 'method') : 'GET';
  const url = isObject(request) ? getKey(request, 'url') : request;
  const raw = isObject(url) ? getKey(url, 'raw') : url;
  if (typeof raw !== 'string') return undefined;
  const text = fill(raw);
  const whole = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  const [, origin, path = '/', query = ''] = /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(whole) ?? [];
  if (origin === undefined) return undefined;
  return {
    method: typeof method === 'string' ? method.toUpperCase() : 'GET',
    origin,
    path: path.replace(/\/:([\w-]+)/g, '/{$1}').replace(/\{\{(\w[\w-]*)\}\}/g, '{$1}') || '/',
    parameters: [
      ...parametersIn(query, isObject(url) ? getKey(url, 'query') : undefined, fill),
      ...headersIn(isObject(request) ? getKey(request, 'header') : undefined, fill),
    ],
  };
}

/** Returns headers that are sent, without those that every program has of its own. */
function* headersIn(list: Json | undefined, fill: (text: string) => string): Iterable<OperationParameter> {
  for (const each of isList(list) ? list : []) {
    const [name, written] = isObject(each) ? [getKey(each, 'key'), getKey(each, 'value')] : [];
    if (typeof name !== 'string' || typeof written !== 'string' || OWN_HEADERS.test(name)) continue;
    if (!isObject(each) || getKey(each, 'disabled') === true) continue;
    const value = isSecretName(name) ? '' : fill(written);
    yield {
      name,
      place: 'header',
      isRequired: isSecretName(name) || (value !== '' && !/\{\{/.test(value)),
      value,
      schema: {},
    };
  }
}

const OWN_HEADERS =
  /^(?:accept|accept-encoding|cache-control|connection|content-length|content-type|host|postman-token|user-agent)$/i;

/** Parameters that are switched off are known to the API, too; one that stands there several times is a list. */
function* parametersIn(
  query: string,
  list: Json | undefined,
  fill: (text: string) => string,
): Iterable<OperationParameter> {
  const pairs: (readonly [string, string, boolean])[] = isList(list)
    ? list.flatMap((each) => {
        const [key, value] = isObject(each) ? [getKey(each, 'key'), getKey(each, 'value')] : [];
        if (typeof key !== 'string' || !isObject(each)) return [];
        return [
          [key, typeof value === 'string' ? fill(value) : '', getKey(each, 'disabled') !== true] as const,
        ];
      })
    : [...new URLSearchParams(query)].map(([key, value]) => [key, value, true] as const);
  for (const [name, all] of Map.groupBy(pairs, ([key]) => key)) {
    const isSent = (value: string): boolean => isSecretName(name) || (value !== '' && !/\{\{/.test(value));
    const sent = all.filter(([, value, isOn]) => isOn && isSent(value));
    const values = (sent.length > 0 ? sent : all).map(([, value]) => value);
    yield {
      name,
      place: 'query',
      isRequired: sent.length > 0,
      value: isSecretName(name) ? '' : values.length > 1 ? values : (values[0] ?? ''),
      schema: {},
    };
  }
}

function answerOf(item: AnyObject): Json | undefined {
  const responses = getKey(item, 'response');
  for (const response of isList(responses) ? responses : []) {
    const body = isObject(response) ? getKey(response, 'body') : undefined;
    const code = isObject(response) ? getKey(response, 'code') : undefined;
    if (typeof body !== 'string' || !/^\s*[[{]/.test(body) || (typeof code === 'number' && code >= 300))
      continue;
    try {
      return parseExact(body);
    } catch {
      continue;
    }
  }
  return undefined;
}

function variablesOf(collection: AnyObject): ReadonlyMap<string, string> {
  const list = getKey(collection, 'variable');
  return new Map(
    (isList(list) ? list : []).flatMap((each) => {
      const [key, value] = isObject(each)
        ? [getKey(each, 'key') ?? getKey(each, 'id'), getKey(each, 'value')]
        : [];
      return typeof key === 'string' && typeof value === 'string' && value !== '' && !isSecretName(key)
        ? [[key, value] as const]
        : [];
    }),
  );
}

function filled(text: string, variables: ReadonlyMap<string, string>, unknown: Set<string>): string {
  let at = text;
  // a variable may refer to another one
  for (let i = 0; i < 5 && at.includes('{{'); i++)
    at = at.replace(VARIABLE, (whole, name: string) => variables.get(name.trim()) ?? whole);
  for (const [, name = ''] of at.matchAll(VARIABLE)) unknown.add(name.trim());
  return at.replace(/^\{\{[^{}]+\}\}/, 'https://api.example.com');
}

const VARIABLE = /\{\{([^{}]+)\}\}/g;

/** Folders that all paths begin with: `/v1/`. */
function commonFolder(paths: readonly string[]): string {
  const [first = '/', ...others] = paths;
  let folder = first.slice(0, first.lastIndexOf('/') + 1) || '/';
  while (folder !== '/' && (/[{]/.test(folder) || !others.every((path) => path.startsWith(folder))))
    folder = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1) || '/';
  return folder;
}

/** Returns the login of a collection, its secrets by reference. */
function loginOf(auth: Json | undefined): {
  readonly authentication: AnyObject | undefined;
  readonly attributes: AnyObject;
  readonly variables: readonly string[];
  readonly notes: readonly string[];
} {
  const none = { authentication: undefined, attributes: {}, variables: [], notes: [] };
  if (!isObject(auth)) return none;
  const type = getKey(auth, 'type');
  const settings = settingsOf(typeof type === 'string' ? getKey(auth, type) : undefined);
  if (type === 'bearer')
    return { ...none, authentication: { type, '#token': '$env:API_TOKEN' }, variables: ['API_TOKEN'] };
  if (type === 'basic')
    return {
      ...none,
      authentication: { type },
      attributes: objectOf([
        ['#username', '$env:API_USER'],
        ['#password', '$env:API_PASSWORD'],
      ]),
      variables: ['API_USER', 'API_PASSWORD'],
    };
  if (type === 'apikey')
    return {
      ...none,
      authentication: {
        type: 'apiKey',
        ...(settings.get('in') === 'query' ? { in: 'query' } : {}),
        name: settings.get('key') ?? 'X-Api-Key',
        '#key': '$env:API_KEY',
      },
      variables: ['API_KEY'],
    };
  return typeof type === 'string' && type !== 'noauth'
    ? {
        ...none,
        notes: [`The login of the collection is of the kind “${type}”: set \`api.authentication\`.`],
      }
    : none;
}

/** Returns settings from a list of keys and values (2.1), or an object (2.0). */
function settingsOf(node: Json | undefined): ReadonlyMap<string, string> {
  const pairs = isList(node)
    ? node.map((each) =>
        isObject(each) ? ([getKey(each, 'key'), getKey(each, 'value')] as const) : ([] as const),
      )
    : isObject(node) && sizeOf(node) > 0
      ? entriesOf(node)
      : [];
  return new Map(
    pairs.flatMap(([key, value]) =>
      typeof key === 'string' && typeof value === 'string' ? [[key, value] as const] : [],
    ),
  );
}
