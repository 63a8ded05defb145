import { map, option } from '../../../lib/option.ts';
import {
  getKey,
  isEmpty,
  isScalar,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { sourceSchema, type Source } from '../../language/index.ts';
import { requiredSource } from '../language.ts';
import type { MethodContext } from '../paginator.ts';
import { PaginationError } from '../../../lib/errors.ts';
import { COUNT, orNull } from '../shared-options.ts';
import { truncated } from '../../../lib/read-settings.ts';
import { invalid, read } from '../pagination-settings.ts';
import type { Reason } from '../../shared/stop-reason.ts';
import { integerOf } from '../state.ts';
import type { StopRule } from './compose.ts';

/**
 * Stops when enough rows have come. Rows of the last page are written even beyond the limit.
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
export function limitStop(
  options: AnyObject,
  { at, call }: Pick<MethodContext, 'at' | 'call'>,
): StopRule | undefined {
  const node = read.object(options, 'limitStop', at);
  if (node === undefined) return undefined;
  const here = `${at}.limitStop`;
  const [byCount, byField] = [!isEmpty(getKey(node, 'count')), !isEmpty(getKey(node, 'field'))];
  if (byCount === byField) throw invalid(here, `\`limitStop\` needs exactly one of \`count\` and \`field\`.`);
  return byCount
    ? countRule(read.count(node, 'count', here) ?? 0)
    : fieldRule(requiredSource(node, 'field', { at: here, call }), here);
}

export const LIMIT_STOP = map(
  'Stop after a number of rows',
  'Ends the job when that many rows have come: a number (`count`), or a path in the response (`field`). Give one of the two.',
  {
    maxItems: 0,
    examples: [{ field: 'meta.total' }, { count: 1000 }],
    properties: {
      count: option('Rows', 'Number of rows after which the job ends.', { ...COUNT, examples: [1000] }),
      field: orNull(
        sourceSchema(
          'Total',
          'Path in the response, or another source, that says how many rows there are. A missing one ends the job after the page.',
          ['meta.total', { header: 'X-Total-Count' }],
        ),
      ),
    },
  },
);

function countRule(count: number): StopRule {
  return rule(undefined, (rows) => ({
    left: count - rows,
    ...(rows >= count ? { stop: { code: 'rowLimit', rows, count } } : {}),
  }));
}

function fieldRule(source: Source, at: string): StopRule {
  const field = source.text;
  const seen = (rows: number, total: number, found: boolean): Seen => ({
    left: total - rows,
    ...(rows >= total ? { stop: { code: 'total', field, rows, total, found } } : {}),
  });
  return rule(source, (rows, value) => {
    if (isEmpty(value, 'response')) return seen(rows, 0, value !== undefined && value !== null);
    const total = truncated(value);
    if (total !== undefined) return seen(rows, total, true);
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

interface Seen {
  /** Number of rows still to come. */
  readonly left: number;
  readonly stop?: Reason;
}

/**
 * Creates the rule.
 *
 * @param look compares the rows so far with the value in the response
 */
function rule(source: Source | undefined, look: (rows: number, value: Json | undefined) => Seen): StopRule {
  return {
    key: 'limit',
    needs: source === undefined ? {} : { sources: [source], expected: [source] },
    start: () => stateOfRows(0, 0, 0),
    check(page, state) {
      const rows = integerOf(state, 'rows') + page.rows;
      const { left, stop } = look(rows, page.read[0]);
      if (stop !== undefined) return { stop };
      return { state: stateOfRows(rows, left, Math.max(integerOf(state, 'largest'), page.rows)) };
    },
    ahead(state, size = 0) {
      const largest = Math.max(size, integerOf(state, 'largest'));
      return largest === 0 ? 1 : Math.ceil(integerOf(state, 'left') / largest);
    },
  };
}

/**
 * Builds the state.
 *
 * @param largest most rows on one page so far
 */
function stateOfRows(rows: number, left: number, largest: number): Json {
  return objectOf([
    ['rows', rows],
    ['left', left],
    ['largest', largest],
  ]);
}
