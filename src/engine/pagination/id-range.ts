import { PaginationError } from '../../lib/errors.ts';
import { isNumber, JsonNumber, type Json } from '../../lib/json/index.ts';
import { isNumericText } from '../../lib/read-settings.ts';
import type { IdPath, IdRange } from './paginator.ts';

/**
 * Returns the smallest and largest id of a page's rows, truncated to integers and exact beyond 2^53.
 * Undefined when there are no rows.
 *
 * @throws {PaginationError} when a row has no number or numeric text at the path
 */
export function idRange(chunks: Iterable<readonly Json[]>, path: IdPath): IdRange | undefined {
  let range: Range<number> | undefined;
  let big: Range<bigint> | undefined;
  for (const rows of chunks) {
    for (const row of rows) {
      const id = idOf(path.find(row), path);
      // Plain numbers are the hot path; big ones are kept apart and joined at the end.
      if (typeof id === 'number') range = widen(range, id);
      else big = widen(big, id);
    }
  }
  const all = [range && { min: BigInt(range.min), max: BigInt(range.max) }, big].filter(
    (part) => part !== undefined,
  );
  const [first, second] = all;
  if (first === undefined) return undefined;
  const min = second === undefined || first.min < second.min ? first.min : second.min;
  const max = second === undefined || first.max > second.max ? first.max : second.max;
  return { min: exactInteger(min), max: exactInteger(max) };
}

/** Returns a number where a double is exact, else the literal. */
export function exactInteger(value: bigint): number | JsonNumber {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : new JsonNumber(String(value));
}

interface Range<T> {
  readonly min: T;
  readonly max: T;
}

function widen<T extends number | bigint>(range: Range<T> | undefined, id: T): Range<T> {
  if (range === undefined) return { min: id, max: id };
  if (id < range.min) return { min: id, max: range.max };
  return id > range.max ? { min: range.min, max: id } : range;
}

function idOf(value: Json | undefined, path: IdPath): number | bigint {
  if (typeof value === 'number' && Number.isFinite(value))
    return plainOrBig(Math.trunc(value), String(value));
  if (isNumber(value)) return truncated(value instanceof JsonNumber ? value.literal : String(value));
  if (typeof value === 'string' && isNumericText(value)) return truncated(value.trim());
  const found =
    value === undefined || value === null ? 'no value' : typeof value === 'object' ? 'no number' : 'text';
  throw new PaginationError(
    'pagination.invalid',
    `A row has ${found} in \`${path.text}\`, where the cursor needs a number.`,
    {
      hint: 'Name the path of a numeric id in `idKey`; for other ids use response.param or response.url.',
    },
  );
}

/** Returns an integer literal as it is, anything else through a double. */
function truncated(literal: string): number | bigint {
  const integer = /^[+-]?\d+(?=$|\.\d*$)/.exec(literal)?.[0];
  return plainOrBig(Math.trunc(Number(literal)), integer ?? literal);
}

function plainOrBig(number: number, literal: string): number | bigint {
  if (Number.isSafeInteger(number)) return number === 0 ? 0 : number;
  return BigInt(/^[+-]?\d+$/.test(literal) ? literal.replace(/^\+/, '') : number);
}
