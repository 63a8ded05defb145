import type { ApiRequest, JobRequest } from '../shared/message.ts';
import {
  entriesOf,
  getKey,
  isInteger,
  isList,
  isObject,
  isScalar,
  numberOf,
  toText,
  type Json,
} from '../../lib/json/index.ts';
import { canonical } from './names.ts';
import { ASKED_SIZE_NAMES, SIZE_NAMES } from './signs.ts';

/** A page size that a request names. `path` is where: `query limit`, `body first`. */
export interface AskedSize {
  readonly path: string;
  readonly value: number;
}

/** Request as the job defines it and as it was sent. */
export interface AskedRequest {
  readonly job: Pick<JobRequest, 'params' | 'body'>;
  readonly wire: Pick<ApiRequest, 'method' | 'url' | 'headers'>;
  /** Keys of the place of the rows: a GraphQL query may ask for several lists. */
  readonly rowsAt: readonly string[] | undefined;
}

const NAMES = new Set([...SIZE_NAMES, ...ASKED_SIZE_NAMES]);
const MAX_DEPTH = 4;
const MAX_SIZES = 20;

/** Every size of a page that a request asks for: in its query, body, headers and in statements of a query language. */
export function askedSizes({ job, wire, rowsAt }: AskedRequest): readonly AskedSize[] {
  const sizes: AskedSize[] = [];
  if (URL.canParse(wire.url)) {
    for (const [name, value] of new URL(wire.url).searchParams)
      sizes.push(...sizesOf(name, value, 'query', 0));
  }
  for (const [name, value] of Object.entries(wire.headers)) sizes.push(...inHeader(name, value));
  const { body, params } = job;
  const variables = isObject(body) ? getKey(body, 'variables') : getKey(params, 'variables');
  for (const part of [params, body]) {
    if (part === undefined) continue;
    sizes.push(...(isObject(part) ? inMap(part, 'body', 0) : sizesOf('', part, 'body', 0)));
    const query = isObject(part) ? getKey(part, 'query') : part;
    if (typeof query === 'string') sizes.push(...inGraphQl(query, variables, rowsAt));
  }
  return sizes.filter(({ value }) => Number.isSafeInteger(value) && value > 1).slice(0, MAX_SIZES);
}

function inMap(map: Json, path: string, depth: number): AskedSize[] {
  if (!isObject(map) || depth > MAX_DEPTH) return [];
  return entriesOf(map).flatMap(([name, value]) => sizesOf(name, value, path, depth));
}

function sizesOf(name: string, value: Json, path: string, depth: number): AskedSize[] {
  const here = name === '' ? path : `${path} ${name}`;
  const key = canonical(name);
  // what is filtered, sorted or summed up by has numbers of its own
  if (isObject(value)) return NOT_OF_PAGES.has(key) ? [] : inMap(value, here, depth + 1);
  if (isList(value)) return depth > 0 ? [] : value.flatMap((item) => inMap(item, here, depth + 1));
  if (!isScalar(value)) return [];
  const size = countOf(value);
  if (size !== undefined) return NAMES.has(key) ? [{ path: here, value: size }] : [];
  return typeof value === 'string' ? inStatement(value, here) : [];
}

/** Returns the sizes in statements: `SELECT … LIMIT 200`, `… | take 50`. */
function inStatement(text: string, path: string): AskedSize[] {
  const found = STATEMENT.exec(text);
  return found === null ? [] : [{ path, value: Number(found[1] ?? found[2]) }];
}

const STATEMENT =
  /\b(?:limit|take|top)[ \t]{1,8}(\d{1,9})\b(?![ \t]*,)|\bfetch[ \t]{1,8}(?:first|next)[ \t]{1,8}(\d{1,9})\b/i;

/** Returns the sizes in headers: `X-Page-Size: 20`, `Prefer: odata.maxpagesize=20`. */
function inHeader(name: string, value: string): AskedSize[] {
  const path = `header ${name.toLowerCase()}`;
  const own = sizesOf(name.replace(/^x-/i, ''), value, 'header', 0);
  const preferred = /^prefer$/i.test(name) ? /\bmaxpagesize=(\d{1,9})\b/i.exec(value) : null;
  return [
    ...own.map(({ value: size }) => ({ path, value: size })),
    ...(preferred === null ? [] : [{ path, value: Number(preferred[1]) }]),
  ];
}

/**
 * Returns the sizes in a GraphQL query, `users(first: 20)` and `users(first: $count)`: those of the field with the
 * rows, if the query has it.
 */
function inGraphQl(
  query: string,
  variables: Json | undefined,
  rowsAt: readonly string[] | undefined,
): AskedSize[] {
  if (!query.includes('{')) return [];
  const fields = [...query.matchAll(/\b(\w{1,100})\s{0,8}(?::\s{0,8}\w{1,100}\s{0,8})?\(([^()]{0,2000})\)/g)];
  const own = rowsAt?.findLast((key) => fields.some(([, field]) => field === key));
  return fields.flatMap(([, field = '', given = '']) => {
    if (own !== undefined && field !== own) return [];
    return [...given.matchAll(/\b(\w{1,100})\s{0,8}:\s{0,8}(?:(\d{1,9})\b|\$(\w{1,100}))/g)].flatMap(
      ([, name = '', literal, variable = '']): AskedSize[] => {
        if (!NAMES.has(canonical(name))) return [];
        const path = `body ${field}.${name}`;
        if (literal !== undefined) return [{ path, value: Number(literal) }];
        const value = countOf(
          (isObject(variables) ? getKey(variables, variable) : undefined) ?? defaultOf(query, variable),
        );
        return value === undefined ? [] : [{ path, value }];
      },
    );
  });
}

/** Returns the default of a variable: `query($count: Int = 20)`. */
function defaultOf(query: string, variable: string): Json {
  for (const [, name, value] of query.matchAll(
    /\$(\w{1,100})\s{0,8}:\s{0,8}\w{1,100}!?\s{0,8}=\s{0,8}(\d{1,9})\b/g,
  ))
    if (name === variable) return Number(value);
  return null;
}

function countOf(value: Json): number | undefined {
  if (isInteger(value)) return numberOf(value);
  const text = isScalar(value) ? toText(value) : '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

const NOT_OF_PAGES = new Set([
  'filter',
  'filters',
  'where',
  'aggs',
  'aggregations',
  'facets',
  'facet',
  'sort',
  'order',
  'suggest',
  'highlight',
]);
