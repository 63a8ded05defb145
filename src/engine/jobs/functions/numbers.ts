import { inThousands } from '../../../lib/thousands.ts';
import type { Json } from '../../../lib/json/index.ts';
import { CallError, integerOf, isListArgument, textOf, type Argument } from './arguments.ts';
import {
  add,
  ceil,
  decimalOf,
  decimalText,
  divide,
  floor,
  multiply,
  negate,
  readDecimal,
  remainder,
  round,
  toNumber,
  type Decimal,
} from './decimal.ts';
import type { LibraryFunction } from './function.ts';

/** Arithmetic, exact in decimal digits. What reckons with null, or divides by zero, gives null. */
export const NUMBERS: Readonly<Record<string, LibraryFunction>> = {
  add: {
    usage: 'add(number, …)',
    description: 'The sum of numbers, exact; of a list, that of its items. Null when one of them is null.',
    arity: [1, Infinity],
    call: (args) => folded(args, add),
  },
  subtract: {
    usage: 'subtract(number, number)',
    description: 'The first number without the second.',
    arity: [2, 2],
    call: (args) => folded(args, (a, b) => add(a, negate(b))),
  },
  multiply: {
    usage: 'multiply(number, …)',
    description: 'The product of numbers, exact.',
    arity: [1, Infinity],
    call: (args) => folded(args, multiply),
  },
  divide: {
    usage: 'divide(number, number)',
    description: 'The quotient, exact where it ends, else with 15 digits; null for a division by zero.',
    arity: [2, 2],
    call: (args) => folded(args, divide),
  },
  mod: {
    usage: 'mod(number, number)',
    description: 'What is left over of a division, with the sign of the first number.',
    arity: [2, 2],
    call: (args) => folded(args, remainder),
  },
  round: {
    usage: 'round(number[, places])',
    description:
      'A number with so many digits behind the point, by default none; a half goes away from zero.',
    arity: [1, 2],
    call: ([value, places]) => changed(value, (number) => round(number, placesOf(places))),
  },
  floor: {
    usage: 'floor(number)',
    description: 'The next whole number below.',
    arity: [1, 1],
    call: ([value]) => changed(value, floor),
  },
  ceil: {
    usage: 'ceil(number)',
    description: 'The next whole number above.',
    arity: [1, 1],
    call: ([value]) => changed(value, ceil),
  },
  abs: {
    usage: 'abs(number)',
    description: 'A number without its sign.',
    arity: [1, 1],
    call: ([value]) => changed(value, (number) => (number.digits < 0n ? negate(number) : number)),
  },
  number: {
    usage: 'number(text[, fallback[, mark]])',
    description:
      'The number that a text says, “1.5” or “1 234,5” with the decimal mark “,”; the fallback when it says none.',
    arity: [1, 3],
    takesNothing: true,
    call: (args) => numberFromText(args),
  },
  number_format: {
    usage: 'number_format(number[, places[, mark[, thousands]]])',
    description: 'A number as text, with as many places, by default “1,235”.',
    arity: [1, 4],
    call: ([value, places, mark = '.', thousands = ',']) => {
      const number = decimalOf(value);
      if (number === undefined) return null;
      const count = Math.max(0, placesOf(places));
      const [whole = '', fraction] = decimalText(round(number, count), count).split('.');
      const grouped = inThousands(whole, textOf(thousands));
      return fraction === undefined ? grouped : `${grouped}${textOf(mark)}${fraction}`;
    },
  },
};

function folded(args: readonly Argument[], join: (a: Decimal, b: Decimal) => Decimal | undefined): Json {
  const [first, ...others] = args.flatMap(decimalsOf);
  let result = first;
  for (const value of others) {
    result = result === undefined || value === undefined ? undefined : join(result, value);
  }
  return result === undefined ? null : toNumber(result);
}

/** Returns the decimal of a value, or those of a list. */
function decimalsOf(value: Argument): readonly (Decimal | undefined)[] {
  return isListArgument(value) ? value.map(decimalOf) : [decimalOf(value)];
}

function changed(value: Argument | undefined, change: (number: Decimal) => Decimal): Json {
  const number = decimalOf(value);
  return number === undefined ? null : toNumber(change(number));
}

const MAX_PLACES = 100;

function placesOf(value: Argument | undefined): number {
  const places = Number(value === undefined || value === null ? 0n : integerOf(value));
  if (Math.abs(places) <= MAX_PLACES) return places;
  throw new CallError(`a number has at most ${MAX_PLACES} places here`);
}

/** @throws {CallError} where the text says no number and there is no fallback */
function numberFromText([value = null, fallback, mark]: readonly Argument[]): Argument {
  if (value === null || value === '') return fallback ?? null;
  const found = readDecimal(mark === undefined ? value : withPoint(value, textOf(mark)));
  if (found !== undefined) return toNumber(found);
  if (fallback !== undefined) return fallback;
  throw new CallError('the text says no number', 'Give a fallback as second argument, such as null.');
}

/** Replaces the decimal mark of a text by a point, and removes the marks between thousands. */
function withPoint(value: Argument, mark: string): Argument {
  if (typeof value !== 'string') return value;
  const bare = value.replace(/[\s'’_.,]/gu, (char) => (char === mark ? char : ''));
  return mark === '' ? bare : bare.split(mark).join('.');
}
