import { escapeInBody } from '../../lib/escapes.ts';
import { mergeOver } from '../shared/merge-request.ts';
import type { JobRequest } from '../shared/message.ts';
import {
  entriesOf,
  getKey,
  isList,
  isNumber,
  isObject,
  isScalar,
  keysOf,
  objectOf,
  toJsonText,
  toText,
  withKey,
  withoutKey,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { kindOf, type Invalid } from '../../lib/read-settings.ts';
import { nearest } from '../../lib/suggest.ts';
import { invalidSetting } from './value-settings.ts';

const PLACE_KINDS = ['param', 'query', 'body', 'header', 'path', 'template'] as const;
type PlaceKind = (typeof PLACE_KINDS)[number];

/** Place in a request, compiled once (docs/language/places.md). Requests are never changed in place. */
export interface Place {
  /** Description for messages: `the parameter “after”`. */
  readonly text: string;
  readonly kind: PlaceKind;
  /** True for a place inside of a text, which holds its `first` as long as there is no value: see `blank`. */
  readonly isInText: boolean;
  /** Returns the request with the value at this place. */
  put(request: JobRequest, value: Json): JobRequest;
  /**
   * Returns the request with a whole object merged in at this place, for `*`; for any other place the same as `put`.
   */
  merge(request: JobRequest, values: AnyObject): JobRequest;
  /** Returns the request before there is a value: a place inside of a text is filled with its `first`. */
  blank(request: JobRequest): JobRequest;
  read(request: JobRequest): Json | undefined;
  /** Returns false for a place inside of a text that has no such place, and for a key of a body that has no keys. */
  isIn(request: JobRequest): boolean;
}

export interface PlaceOptions {
  /** JSON path of the setting, for messages. */
  readonly at: string;
  /** Target of the short form: beside the parameters of the job, or into the query whatever the method is. */
  readonly by?: 'params' | 'query';
  readonly invalid?: Invalid | undefined;
}

/**
 * Compiles a place of the configuration: a text is the name of a parameter.
 *
 * @throws the error of the stage for a value that is no place
 */
export function compilePlace(value: Json, options: PlaceOptions): Place {
  const { at, by = 'params', invalid = invalidSetting } = options;
  if (typeof value === 'string' && value !== '')
    return by === 'query' ? queryPlace(value) : paramPlace(value);
  if (isNumber(value)) return compilePlace(toText(value), options);
  if (!isObject(value))
    throw invalid(
      at,
      `A place in the request is the name of a parameter or an object, and here is ${kindOf(value)}.`,
      'Write a name such as "after", or an object such as {"body": "variables.after"}.',
    );
  const keys = keysOf(value).filter((key) => key !== 'first');
  const [key] = keys;
  const kind = PLACE_KINDS.find((known) => known === key);
  if (kind === undefined || keys.length > 1) {
    const near = keys.map((name) => nearest(name, PLACE_KINDS)).find((name) => name !== undefined);
    throw invalid(
      at,
      'This object does not say one place in the request.',
      `${near === undefined ? '' : `Did you mean “${near}”? `}It has one of ${PLACE_KINDS.join(', ')}.`,
    );
  }
  const name = getKey(value, kind);
  if ((typeof name !== 'string' && !isNumber(name)) || name === '')
    throw invalid(`${at}.${kind}`, `“${kind}” needs the name of the place, and here is ${kindOf(name)}.`);
  const first = getKey(value, 'first');
  const isInText = kind === 'path' || kind === 'template';
  if (first !== undefined && !isInText)
    throw invalid(`${at}.first`, '“first” is for places inside of a text: “path” and “template”.');
  return placeOf(kind, toText(name), first ?? '');
}

/** Returns the names in braces that the places of a setting fill in texts of a request, at any depth of it. */
export function textPlacesIn(setting: Json): readonly string[] {
  if (isList(setting)) return setting.flatMap(textPlacesIn);
  if (!isObject(setting)) return [];
  return entriesOf(setting).flatMap(([key, value]) =>
    (key === 'path' || key === 'template') && typeof value === 'string' ? [value] : textPlacesIn(value),
  );
}

function placeOf(kind: PlaceKind, name: string, first: Json): Place {
  if (kind === 'path' || kind === 'template') return textPlace(kind, name, first);
  return PLACES[kind](name);
}

const PLACES: Readonly<Record<Exclude<PlaceKind, 'path' | 'template'>, (name: string) => Place>> = {
  param: paramPlace,
  query: queryPlace,
  body: bodyPlace,
  header: headerPlace,
};

/** Returns the place of a parameter, where the method puts parameters: in place when it exists, else at the end. */
function paramPlace(name: string): Place {
  return plain('param', `the parameter “${name}”`, {
    put: (request, value) => ({ ...request, params: withKey(request.params, name, value) }),
    merge: (request, values) =>
      name === '*'
        ? { ...request, params: mergedWith(request.params, values) }
        : { ...request, params: withKey(request.params, name, values) },
    read: (request) => getKey(request.params, name) ?? getKey(request.query ?? EMPTY, name),
  });
}

/** Returns the place of a parameter of the query. It replaces a parameter of the same name in the body. */
function queryPlace(name: string): Place {
  return plain('query', `the parameter “${name}” of the query`, {
    put: (request, value) => setInQuery(request, name, value),
    merge: (request, values) =>
      name === '*'
        ? entriesOf(values).reduce((done, [key, value]) => setInQuery(done, key, value), request)
        : setInQuery(request, name, values),
    read: (request) =>
      getKey(request.query ?? EMPTY, name) ??
      (goesToQuery(request) ? getKey(request.params, name) : undefined),
  });
}

function setInQuery(request: JobRequest, name: string, value: Json): JobRequest {
  if (goesToQuery(request)) return { ...request, params: withKey(request.params, name, value) };
  return {
    ...request,
    params: withoutKey(request.params, name),
    query: withKey(request.query ?? EMPTY, name, value),
  };
}

/**
 * Returns the place of a key of the body at any depth; lists on the way are entered by their index. A body that is a
 * text has none.
 */
function bodyPlace(name: string): Place {
  const keys = name.split('.');
  const isIn = (request: JobRequest): boolean => {
    const body = bodyIn(request);
    return isObject(body) || (isList(body) && name !== '*');
  };
  const changed = (request: JobRequest, change: (body: Json) => Json): JobRequest => {
    if (!isIn(request)) return request;
    const after = change(bodyIn(request));
    return isInParams(request) ? { ...request, params: asMap(after) } : { ...request, body: after };
  };
  return plain('body', `“${name}” of the body`, {
    put: (request, value) => changed(request, (body) => putAt(body, keys, value)),
    merge: (request, values) =>
      changed(request, (body) =>
        name === '*' ? mergedWith(asMap(body), values) : putAt(body, keys, values),
      ),
    read: (request) => valueAt(bodyIn(request), keys) ?? valueAt(request.params, keys),
    isIn,
  });
}

/** Tells whether the parameters are the body: the request has none of its own, and a method with a body. */
function isInParams(request: JobRequest): boolean {
  return request.body === undefined && !goesToQuery(request);
}

function bodyIn(request: JobRequest): Json {
  return isInParams(request) ? request.params : (request.body ?? EMPTY);
}

function headerPlace(name: string): Place {
  const find = (request: JobRequest): string | undefined =>
    keysOf(request.headers).find((key) => key.toLowerCase() === name.toLowerCase());
  const put = (request: JobRequest, value: Json): JobRequest => ({
    ...request,
    headers: withKey(request.headers, find(request) ?? name, value),
  });
  return plain('header', `the header “${name}”`, {
    put,
    merge: put,
    read: (request) => getKey(request.headers, find(request) ?? name),
  });
}

/**
 * Returns the place `{name}` inside of the endpoint, or of any text of the request. Such a place is gone once it is
 * filled, so that each request is made from the job's own one.
 */
function textPlace(kind: 'path' | 'template', name: string, first: Json): Place {
  const mark = `{${name}}`;
  const fill = (request: JobRequest, value: Json): JobRequest => {
    const text = isScalar(value) || value === null ? toText(value) : toJsonText(value);
    const endpoint = request.endpoint.replaceAll(mark, () => encodeURIComponent(text));
    if (kind === 'path') return { ...request, endpoint };
    const { query, body, bodyFormat, method } = request;
    const escape = escapeInBody(bodyFormat ?? (method === 'FORM' ? 'form' : undefined));
    const inBody = (part: Json): Json => {
      if (typeof part !== 'string') return filled(part, mark, value, text);
      const escaped = escape?.(text) ?? text;
      return part.replaceAll(mark, () => escaped);
    };
    return {
      ...request,
      endpoint,
      params: asMap(filled(request.params, mark, value, text)),
      headers: asMap(filled(request.headers, mark, value, text)),
      ...(query === undefined ? {} : { query: asMap(filled(query, mark, value, text)) }),
      ...(body === undefined ? {} : { body: inBody(body) }),
    };
  };
  return {
    kind,
    text: kind === 'path' ? `${mark} in the endpoint` : `${mark} in the request`,
    isInText: true,
    put: fill,
    merge: fill,
    blank: (request) => fill(request, first),
    read: () => undefined,
    isIn: ({ endpoint, params, headers, query, body }) =>
      endpoint.includes(mark) ||
      (kind === 'template' &&
        [params, headers, query ?? EMPTY, body ?? EMPTY].some((part) => holds(part, mark))),
  };
}

function plain(
  kind: PlaceKind,
  text: string,
  parts: Pick<Place, 'put' | 'merge' | 'read'> & Partial<Pick<Place, 'isIn'>>,
): Place {
  return { kind, text, isInText: false, blank: (request) => request, isIn: () => true, ...parts };
}

const EMPTY: AnyObject = objectOf([]);

/**
 * Tells whether parameters of the request go into its query: beside a body that is a list or a text they have no other
 * place.
 */
function goesToQuery(request: JobRequest): boolean {
  if (request.body !== undefined && !isObject(request.body)) return true;
  if (request.paramsIn !== undefined) return request.paramsIn === 'query';
  return request.method === 'GET' || request.method === 'DELETE';
}

/** Merges values over parameters, objects key by key. */
function mergedWith(params: AnyObject, values: AnyObject): AnyObject {
  return mergeOver(values, params);
}

function putAt(value: Json | undefined, keys: readonly string[], inner: Json): Json {
  const [key, ...rest] = keys;
  if (key === undefined) return inner;
  if (isList(value) && /^\d+$/.test(key) && Number(key) <= value.length)
    return value.toSpliced(Number(key), 1, putAt(value[Number(key)], rest, inner));
  const object = isObject(value) ? value : EMPTY;
  return withKey(object, key, putAt(getKey(object, key), rest, inner));
}

function valueAt(value: Json | undefined, keys: readonly string[]): Json | undefined {
  let found = value;
  for (const key of keys)
    found = isList(found) ? found[Number(key)] : isObject(found) ? getKey(found, key) : undefined;
  return found;
}

/**
 * Fills a place in texts. A text that is nothing but the place becomes the value itself, so that a number stays a
 * number.
 */
function filled(part: Json, mark: string, value: Json, text: string): Json {
  if (typeof part === 'string') return part === mark ? value : part.replaceAll(mark, () => text);
  if (isList(part)) return part.map((item) => filled(item, mark, value, text));
  if (!isObject(part)) return part;
  return objectOf(entriesOf(part).map(([key, item]) => [key, filled(item, mark, value, text)] as const));
}

function holds(value: Json, mark: string): boolean {
  if (typeof value === 'string') return value.includes(mark);
  if (isList(value)) return value.some((item) => holds(item, mark));
  return isObject(value) && entriesOf(value).some(([, item]) => holds(item, mark));
}

function asMap(value: Json): AnyObject {
  return isObject(value) ? value : EMPTY;
}
