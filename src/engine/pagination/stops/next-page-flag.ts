import { map, option } from '../../../lib/option.ts';
import { getKey, isEmpty, type AnyObject } from '../../../lib/json/index.ts';
import { sourceSchema } from '../../language/index.ts';
import { requiredSource } from '../language.ts';
import type { MethodContext } from '../paginator.ts';
import { invalid, read } from '../pagination-settings.ts';
import type { StopRule } from './compose.ts';

/**
 * Stops by a flag of the response.
 *
 * The API says whether there is more:
 *
 *     { "items": [{ "id": 1 }, { "id": 2 }], "hasMore": true }
 *
 * Configuration:
 *
 *     { "pagination": { "method": "pagenum", "nextPageFlag": { "field": "hasMore", "stopOn": false } } }
 *
 * Requests, until `hasMore` is false (or 0, "", empty):
 *
 *     GET /users?page=1
 *     GET /users?page=2
 *
 * A property at the root with exactly this name comes before a nested one of that path. A flag that is missing or null
 * counts as `ifNotSet`, which is `stopOn` by default.
 */
export function nextPageFlag(
  options: AnyObject,
  { at, call }: Pick<MethodContext, 'at' | 'call'>,
): StopRule | undefined {
  const node = read.object(options, 'nextPageFlag', at);
  if (node === undefined) return undefined;
  const here = `${at}.nextPageFlag`;
  const source = requiredSource(node, 'field', { at: here, call }, { isKeyFirst: true });
  const field = source.text;
  const stopOn = booleanOf(node, 'stopOn', here);
  const ifNotSet = booleanOf(node, 'ifNotSet', here, stopOn);
  return {
    key: 'flag',
    needs: { sources: [source] },
    check(page) {
      const [value] = page.read;
      const isSet = value !== undefined && value !== null;
      const flag = isSet ? !isEmpty(value, 'response') : ifNotSet;
      if (flag !== stopOn) return { state: null };
      return { stop: { code: 'flag', field, ...(isSet ? { value: flag } : {}) } };
    },
  };
}

export const NEXT_PAGE_FLAG = map('Stop by a flag', 'Ends the job by a flag that the response has.', {
  required: ['field', 'stopOn'],
  maxItems: 0,
  examples: [{ field: 'hasMore', stopOn: false }],
  properties: {
    field: sourceSchema(
      'Flag',
      'Path of the flag in the response, or another source; a property at the root that has the very name comes first.',
      ['hasMore', 'meta.isLast', { header: 'X-Has-More' }],
    ),
    stopOn: option(
      'Stop on',
      'The value of the flag that ends the job; other values count as true unless they are empty.',
      { type: 'boolean', examples: [false] },
    ),
    ifNotSet: option(
      'When it is missing',
      'What a missing flag counts as; the value of `stopOn` unless it is given.',
      { type: 'boolean', examples: [true] },
    ),
  },
});

function booleanOf(node: AnyObject, key: string, at: string, fallback?: boolean): boolean {
  const value = getKey(node, key);
  if (typeof value === 'boolean') return value;
  if (value === undefined && fallback !== undefined) return fallback;
  throw invalid(`${at}.${key}`, `\`${key}\` must be true or false.`, 'Write it without quotes.');
}
