import qs from 'qs';
import type { Json } from '../../../lib/json/index.ts';
import { ApiError } from '../../domain/api-error.ts';

/** Fields that one form may have. */
export const MAX_FIELDS = 100_000;

/**
 * Names with brackets to lists and objects: `tags[]=a`, `tags[0]=a`, `whereFilters[0][values][]=x` (storage 0.3).
 * A name may be any text; `__proto__` is left out.
 *
 * @throws {ApiError} 413 for more than {@link MAX_FIELDS}: none is left out in silence
 */
export function nest(pairs: Iterable<readonly [string, string]>): Record<string, Json> {
  const fields = [...pairs];
  if (fields.length > MAX_FIELDS)
    throw new ApiError(413, 'requestTooLarge', `The body of the request has more than ${MAX_FIELDS} fields.`);
  const text = fields.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  // Text in, so lists, objects and text out.
  return qs.parse(text, LIMITS) as Record<string, Json>;
}

/** A query string; what isn't percent-encoding stays as it is. */
export function parseQuery(text: string): Record<string, Json> {
  return nest(formPairs(text));
}

/**
 * The fields of a form. A name ends at the first `=`: text with brackets in a value, such as JSON that was not
 * encoded, never becomes a name.
 */
export function formPairs(text: string): [string, string][] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=');
      return at === -1 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
    });
}

const LIMITS = {
  plainObjects: true,
  allowPrototypes: true,
  arrayLimit: 10_000,
  parameterLimit: MAX_FIELDS,
  depth: 32,
} as const;

// A lone surrogate cannot be encoded.
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
