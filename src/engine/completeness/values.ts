import {
  getKey,
  isInteger,
  isList,
  isNumber,
  isObject,
  entriesOf,
  numberOf,
  toText,
  isScalar,
  type Json,
} from '../../lib/json/index.ts';
import { meaningsOf, type Meaning } from './classify.ts';
import type { Sign } from './sign.ts';
import { BAD_STATES, NO_VALUE } from './signs.ts';

/** Returns the signals of a property: its value decides which meanings of the name count. */
export function signsOf(meanings: readonly Meaning[], value: Json, path: string): Sign[] {
  return meanings.flatMap((meaning) => signOf(meaning, value, path) ?? []);
}

function signOf({ topic, strength }: Meaning, value: Json, path: string): Sign | undefined {
  const at = { path, strength };
  const flag = flagOf(value);
  switch (topic) {
    case 'next':
      if (typeof value === 'boolean') return { ...at, kind: value ? 'more' : 'end' };
      if (isSet(tokenOf(value, path))) return isList(value) ? undefined : { ...at, kind: 'next' };
      return strength === 'strong' ? { ...at, kind: 'noNext' } : undefined;
    case 'previous':
      return isSet(value) && !isList(value) ? { ...at, kind: 'previous' } : undefined;
    case 'begin':
      return value === false ? { ...at, kind: 'previous' } : undefined;
    case 'more':
      return flag === undefined ? undefined : { ...at, kind: flag ? 'more' : 'end' };
    case 'end':
      return typeof value === 'boolean' || typeof value === 'string'
        ? flag === undefined
          ? undefined
          : { ...at, kind: flag ? 'end' : 'more' }
        : undefined;
    case 'total':
      return totalOf(value, at);
    case 'error':
      return isError(value) ? { ...at, kind: 'error', text: shown(value) } : undefined;
    case 'success':
      return flag === false ? { ...at, kind: 'error', text: 'false' } : undefined;
    case 'failure':
      return flag === true ? { ...at, kind: 'error', text: 'true' } : undefined;
    case 'state':
      return isBadState(value) ? { ...at, kind: 'error', text: shown(value) } : undefined;
    case 'message':
      return typeof value === 'string' && value !== ''
        ? { ...at, kind: 'message', text: shown(value) }
        : undefined;
    case 'partial': {
      const count = countOf(value);
      return flag === true || (count !== undefined && count > 1) ? { ...at, kind: 'partial' } : undefined;
    }
    default: {
      const count = countOf(value);
      return count === undefined || count < 0 ? undefined : { ...at, kind: topic, value: count };
    }
  }
}

/**
 * Returns the token of a value. In OAI-PMH the last page has one, too: an element with attributes, and without text.
 */
function tokenOf(value: Json, path: string): Json {
  return isObject(value) && path.endsWith('resumptionToken') ? (getKey(value, '#text') ?? null) : value;
}

/**
 * Returns the total in a number, or in `{ "value": 131, "relation": "eq" }`; with `gte` it is only a lower bound, and
 * never reached.
 */
function totalOf(value: Json, at: { path: string; strength: Sign['strength'] }): Sign | undefined {
  if (!isObject(value)) return totalText(value, at);
  const inner = totalText(getKey(value, 'value') ?? getKey(value, 'count') ?? null, at);
  if (inner === undefined || inner.isBound === true) return inner;
  const isBound = getKey(value, 'relation') === 'gte' || getKey(value, 'relation') === 'gt';
  return isBound ? bound(inner) : { ...inner, strength: 'strong' };
}

function totalText(value: Json, at: { path: string; strength: Sign['strength'] }): TotalSign | undefined {
  const count = countOf(value);
  if (count !== undefined) return count < 0 ? undefined : { ...at, kind: 'total', value: count };
  if (typeof value !== 'string') return undefined;
  const [, before = '', digits = '', after = ''] = BOUNDED.exec(value) ?? [];
  const total = countOf(GROUPED.test(digits) ? digits.replace(/\D/g, '') : digits);
  if (total === undefined) return undefined;
  const sign = { ...at, kind: 'total', value: total } as const;
  return before + after === '' ? sign : bound(sign);
}

function bound(sign: TotalSign): TotalSign {
  return { ...sign, strength: 'weak', isBound: true };
}

type TotalSign = Extract<Sign, { kind: 'total' }>;

const BOUNDED = /^\s*(>=?|≥|over\b|more than\b|at least\b)?\s*(\d[\d,'’_\s]{0,20}?)\s*(\+)?\s*$/i;
/** `1,023`, and never `1.023`, which may be a fraction. */
const GROUPED = /^\d{1,3}([,'’_\s])\d{3}(?:\1\d{3})*$/;

/**
 * Returns the signals of `[{ "rel": "next", "href": "…" }]` and `[{ "label": "Next »", "url": "…" }]`, in XML as
 * attributes.
 */
export function linkSign(name: string, links: readonly Json[], path: string): Sign[] {
  if (!/links?$/i.test(name)) return [];
  return links.flatMap((link): Sign[] => {
    if (!isObject(link)) return [];
    const rel = ['rel', 'relation', 'name', 'label', 'type']
      .map((key) => getKey(link, key) ?? getKey(link, `@${key}`))
      .find((value) => typeof value === 'string');
    const target = ['href', 'url', 'uri', 'link']
      .map((key) => getKey(link, key) ?? getKey(link, `@${key}`) ?? null)
      .find(isSet);
    if (typeof rel !== 'string') return [];
    const kind = /^\W*next\b/i.test(rel) ? 'next' : /^\W*prev/i.test(rel) ? 'previous' : undefined;
    if (kind === undefined) return [];
    if (target !== undefined) return [{ kind, path, strength: 'strong' }];
    return kind === 'next' ? [{ kind: 'noNext', path, strength: 'strong' }] : [];
  });
}

/** Tells whether a token, a link or a number leads anywhere. */
export function isSet(value: Json): boolean {
  if (value === null || value === false) return false;
  if (typeof value === 'string') return !NO_VALUE.test(value.trim()) && value.trim() !== '';
  if (isList(value)) return value.length > 0;
  if (isObject(value))
    return entriesOf(value).some(
      ([name, item]) => !/^(?:rel|title|label|type|method|name)$/.test(name) && isSet(item),
    );
  const count = countOf(value);
  return count === undefined ? true : count > 0;
}

function flagOf(value: Json): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== 'string') return undefined;
  if (/^(?:true|yes|y|1)$/i.test(value)) return true;
  return /^(?:false|no|n|0)$/i.test(value) ? false : undefined;
}

/** Returns a whole number, also from a text: `23`, `23.0`. */
function countOf(value: Json): number | undefined {
  if (isInteger(value)) return numberOf(value);
  if (typeof value !== 'string' && !isNumber(value)) return undefined;
  const text = toText(value).trim();
  return /^\d{1,15}(?:\.0+)?$/.test(text) ? Number(text) : undefined;
}

function isError(value: Json): boolean {
  if (typeof value === 'string')
    return value !== '' && !/^(?:0|no|none|null|false|ok|success|no[ _]error)$/i.test(value);
  if (isObject(value))
    return entriesOf(value).some(([name, item]) =>
      meaningsOf(name).length > 0 ? isSet(item) && !/^(?:status|code)$/i.test(name) : isSet(item),
    );
  if (isList(value)) return value.length > 0;
  if (value === true) return true;
  const count = countOf(value);
  return count !== undefined && count >= 100;
}

function isBadState(value: Json): boolean {
  const count = countOf(value);
  if (count !== undefined) return count < 0 || (count >= 400 && count < 600);
  return typeof value === 'string' && BAD_STATES.includes(value.toLowerCase().replaceAll(/[\s-]/g, '_'));
}

export function shown(value: Json): string {
  const text = isScalar(value) ? toText(value) : '';
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
