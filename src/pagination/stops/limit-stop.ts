import type { OptionSchema } from '../../evaluate.ts';
import {
  getKey,
  isEmpty,
  isInteger,
  isScalar,
  numberOf,
  splitPath,
  toText,
  type AnyObject,
  type Json,
} from '../../json/index.ts';
import { PaginationError } from '../../errors.ts';
import { COUNT } from '../shared-options.ts';
import { countOf, invalid, mapOf, textOf, toInteger } from '../settings.ts';
import type { StopRule } from './compose.ts';

/**
 * Stops when enough rows have come (spec extractor 2.1). Rows of the last page are kept even beyond the limit.
 *
 * The API says how many there are, but not where they end:
 *
 *     { "items": [{ "id": 1 }, { "id": 2 }], "meta": { "total": 3 } }
 *
 * Configuration, by what the response says or by a number:
 *
 *     { "pagination": { "method": "offset", "limit": 2, "limitStop": { "field": "meta.total" } } }
 *     { "pagination": { "method": "offset", "limit": 2, "limitStop": { "count": 1000 } } }
 *
 * Requests:
 *
 *     GET /users?limit=2&offset=0
 *     GET /users?limit=2&offset=2
 */
export function limitStop(options: AnyObject, at: string): StopRule | undefined {
  const node = mapOf(options, 'limitStop', at);
  if (node === undefined) return undefined;
  const here = `${at}.limitStop`;
  const [byCount, byField] = [!isEmpty(getKey(node, 'count')), !isEmpty(getKey(node, 'field'))];
  if (byCount === byField) {
    throw invalid(here, `\`limitStop\` needs exactly one of \`count\` and \`field\`.`);
  }
  return byCount ? rule([], countTarget(node, here)) : fieldRule(textOf(node, 'field', here), here);
}

export const LIMIT_STOP: OptionSchema = {
  title: 'Stop after a number of rows',
  description:
    'Ends the job when that many rows have come: a number (`count`), or a path in the response (`field`). Give one of the two.',
  type: ['object', 'array', 'null'],
  maxItems: 0,
  examples: [{ field: 'meta.total' }, { count: 1000 }],
  properties: {
    count: {
      title: 'Rows',
      description: 'Number of rows after which the job ends.',
      ...COUNT,
      examples: [1000],
    },
    field: {
      title: 'Path of the total',
      description:
        'Path of the property of the response that says how many rows there are. A missing one ends the job after the page.',
      type: ['string', 'null'],
      examples: ['meta.total'],
    },
  },
};

function countTarget(node: AnyObject, at: string): () => number {
  const count = countOf(node, 'count', at) ?? 0;
  return () => count;
}

function fieldRule(field: string, at: string): StopRule {
  return rule([splitPath(field)], (value) => {
    if (isEmpty(value, 'response')) return 0;
    const total = toInteger(value);
    if (total !== undefined) return total;
    const found = isScalar(value) ? `"${toText(value)}"` : 'no single value';
    throw new PaginationError(
      'pagination.invalid',
      `\`${field}\` of the response must be a number of rows; it is ${found}.`,
      {
        where: { path: `${at}.field` },
        hint: 'Name the path of the total number of rows in `limitStop.field`.',
      },
    );
  });
}

function rule(
  paths: readonly (readonly string[])[],
  targetOf: (value: Json | undefined) => number,
): StopRule {
  return {
    key: 'limit',
    needs: { paths },
    start: () => 0,
    check(page, state) {
      const rows = (isInteger(state) ? numberOf(state) : 0) + page.rows;
      const target = targetOf(page.values[0]);
      return rows >= target ? { stop: `limitStop: ${rows} of ${target} rows have come` } : { state: rows };
    },
  };
}
