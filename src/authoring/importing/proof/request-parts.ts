import type { ApiRequest } from '../../../engine/shared/message.ts';
import {
  encodeExact,
  entriesOf,
  isList,
  isObject,
  jsonOf,
  objectOf,
  type Json,
} from '../../../lib/json/index.ts';

/** A request taken apart, decoded. */
export interface RequestParts {
  readonly method: string;
  /** With its port, where it is not the usual one. */
  readonly host: string;
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  /** JSON with sorted keys, a form with sorted fields, or the text. */
  readonly body: string;
}

/** Takes a request apart, so that two that mean the same are equal. */
export function partsOf({ method, url, headers, body }: ApiRequest): RequestParts {
  const { host, pathname, searchParams } = new URL(url);
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  return {
    method,
    host,
    path: decoded(pathname),
    query: [...searchParams],
    body: bodyOf(body === undefined ? '' : Buffer.from(body).toString('utf8').trim(), type),
  };
}

function bodyOf(text: string, type: string): string {
  if (text === '') return '';
  if (type.includes('x-www-form-urlencoded'))
    return [...new URLSearchParams(text)]
      .map((pair) => pair.join('='))
      .toSorted()
      .join('&');
  const json = /^[[{"]/.test(text) ? jsonOf(text) : undefined;
  return json === undefined ? text : encodeExact(sorted(json));
}

function sorted(value: Json): Json {
  if (isList(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return objectOf(
    entriesOf(value)
      .map(([key, item]) => [key, sorted(item)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
}

/** Decodes an address as far as it can be. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
