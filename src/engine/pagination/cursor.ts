import { option } from '../../lib/option.ts';
import { PaginationError } from '../../lib/errors.ts';
import {
  compilePath,
  getKey,
  isEmpty,
  isInteger,
  isObject,
  type AnyObject,
  type Json,
  type JsonNumber,
} from '../../lib/json/index.ts';
import { exactInteger } from './id-range.ts';
import { compileSource, placeSchema, sourceSchema, type Kind } from '../language/index.ts';
import { mustBeIn, placeAt } from './language.ts';
import type { IdPath, IdRange, MethodContext, PaginationMethod } from './paginator.ts';
import { requestOf } from './request.ts';
import { FLAG, queryParamIn } from './shared-options.ts';
import { invalid, read, requiredText } from './pagination-settings.ts';

/**
 * Sends the highest id so far in a parameter of the next request; the lowest with `reverse`.
 *
 * The API answers rows with numeric ids:
 *
 *     [{ "id": 1 }, { "id": 2 }]
 *
 * Configuration:
 *
 *     { "pagination": { "method": "cursor", "idKey": "id", "param": "since_id", "increment": 1 } }
 *
 * Requests, until a page has no rows:
 *
 *     GET /messages
 *     GET /messages?since_id=3
 *
 * The highest and lowest are those of all pages of the job.
 */
export const cursor: PaginationMethod = {
  method: 'cursor',
  options: {
    type: 'object',
    required: ['idKey', 'param'],
    properties: {
      idKey: sourceSchema(
        'Path of the id',
        'Path of the numeric id in each row, or another source in the row.',
        ['id', 'fields.id', { row: 'ref', match: '^E-(\\d+)$' }],
      ),
      param: placeSchema(
        'Parameter of the id',
        'Where the id goes: the name of a parameter, which overrides one of the job, or a place in the request.',
        ['since_id', { body: 'filter.after' }],
      ),
      increment: option(
        'Increment',
        'Added to the id before it is sent; negative with `reverse`, where the API would repeat the row.',
        { type: ['integer', 'null'], default: 0, examples: [1, -1] },
      ),
      reverse: option('From new to old', 'Whether rows come from high to low ids: the lowest id is sent.', {
        ...FLAG,
        default: false,
        examples: [true],
      }),
      queryParamIn,
    },
  },
  create(options, job, context) {
    const { at } = context;
    const ids = idPath(options, context);
    const place = placeAt(options, 'param', job, context);
    const increment = incrementOf(options, at);
    const reverse = read.flag(options, 'reverse', at) ?? false;
    const request = requestOf(job);
    mustBeIn(place, context.written ?? request, `${at}.param`);
    return {
      needs: { ids },
      traits: { kind: 'follow', at, asks: 'increment', overlaps: true },
      first: () => ({ request: place.blank(request), state: null }),
      next(page, state) {
        if (page.rows === 0) return { stop: { code: 'noRows' } };
        const seen = widen(page.ids, state, ids.text);
        const value = exactInteger((reverse ? seen.min : seen.max) + increment);
        return {
          request: place.put(request, value),
          state: { min: String(seen.min), max: String(seen.max) },
        };
      },
    };
  },
};

/** A plain path is followed as it is, in every row. */
function idPath(options: AnyObject, { at, call }: MethodContext): IdPath {
  const value = getKey(options, 'idKey');
  const here = `${at}.idKey`;
  if (!isObject(value) || isEmpty(value))
    return compilePath(requiredText(options, 'idKey', at), { at: here });
  const source = compileSource(value, { at: here, call, kinds: ROW_KINDS, invalid });
  return {
    text: source.text,
    find: (row) => source.read({ here: (path) => path.find(row), row: (path) => path.find(row) }),
  };
}

const ROW_KINDS: readonly Kind[] = ['path', 'row', 'firstOf', 'value'];

interface Seen {
  readonly min: bigint;
  readonly max: bigint;
}

/** Widens the range of the pages before, which the state holds as text to stay exact, by the range of this page. */
function widen(ids: IdRange | undefined, state: Json, idKey: string): Seen {
  if (ids === undefined)
    throw new PaginationError('pagination.invalid', `The rows have no numeric \`${idKey}\` to go on from.`, {
      hint: 'Name the path of the id inside a row in `idKey`.',
    });
  const [min, max] = [bigOf(ids.min), bigOf(ids.max)];
  const before = isObject(state) ? { min: getKey(state, 'min'), max: getKey(state, 'max') } : {};
  return {
    min: typeof before.min === 'string' && BigInt(before.min) < min ? BigInt(before.min) : min,
    max: typeof before.max === 'string' && BigInt(before.max) > max ? BigInt(before.max) : max,
  };
}

function bigOf(id: number | JsonNumber): bigint {
  return BigInt(typeof id === 'number' ? id : id.literal);
}

/** Reads `increment`, which must be a number: text would be a mistake that goes unnoticed. */
function incrementOf(options: AnyObject, at: string): bigint {
  const value = getKey(options, 'increment');
  if (value === undefined || value === null) return 0n;
  if (isInteger(value)) return bigOf(value);
  throw invalid(
    `${at}.increment`,
    '`increment` must be a whole number.',
    'Write it without quotes, such as 1 or -1.',
  );
}
