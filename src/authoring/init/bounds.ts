import type { AnyObject, Json, JsonObject } from '../../lib/json/index.ts';
import { numericOf } from '../../lib/read-settings.ts';
import type { Candidate, Observed } from './candidate.ts';
import { isOffsetName } from './guesses.ts';
import { plain } from './names.ts';
import { leavesOf, paramOf, type ParameterPath } from './params.ts';

/** Parameters for the first row and for the end of the rows: `_start=0&_end=20`, `from=1&to=20`. */
export interface RowBounds {
  readonly start: ParameterPath;
  readonly end: ParameterPath;
}

/** Returns the bounds of the rows that a request asks for, where it has both of them. */
export function boundsOf(params: AnyObject): RowBounds | undefined {
  const numbers = leavesOf(params).flatMap(({ keys, value }) => {
    const number = numericOf(value);
    return number === undefined ? [] : [{ keys, number, name: keys.at(-1) ?? '' }];
  });
  const start = numbers.find(({ name, number }) => isOffsetName(name) && number <= 1);
  const end = numbers.find(
    ({ name, number, keys }) =>
      END.test(plain(name)) && number > 1 && keys.length === start?.keys.length && number <= MOST,
  );
  return start === undefined || end === undefined ? undefined : { start: start.keys, end: end.keys };
}

const END =
  /^(?:(?:to|end|until|till|stop|last)(?:_?(?:at|index|row|record|pos|position|result))?|row_?end)$/;
/** A larger number is hardly a row. */
const MOST = 10_000;

/** Returns a candidate that moves both bounds by the rows that came. */
export function bounded({ target }: Observed): Candidate[] {
  const bounds = boundsOf(target.params);
  if (bounds === undefined) return [];
  const { start, end } = bounds;
  return [
    {
      kind: 'row',
      says: `the rows behind those that came, from \`${start.join('.')}\` to \`${end.join('.')}\``,
      pagination: {
        method: 'response.param',
        set: [behind(start), behind(end)],
        includeParams: true,
        emptyPage: 'stop',
      },
      params: target.params,
      isGuess: false,
      isMoved: true,
    },
  ];
}

/** Returns the step of a bound: what was sent, and the rows that came. */
function behind(place: ParameterPath): JsonObject {
  const sent: Json = { request: paramOf(place), as: 'number' };
  return { from: { function: 'add', args: [sent, { answer: 'rows' }] }, to: paramOf(place) };
}
