import { compilePath, isList, isObject, toText, type Json } from '../../lib/json/index.ts';
import { jobError } from './read-job.ts';

/**
 * Compiles a `recursionFilter`, which decides what parent rows start a child:
 *
 *     role==parent|id>300&id<400
 *
 * `&` binds tighter than `|`; there are no parentheses and no escaping, and blanks count. A condition is a path in
 * the row, an operator and a value: `==` `!=` exact text, `>` `<` `>=` `<=` numeric when both sides are numbers and
 * by bytes otherwise, `~~` `!~` like and not like, where `%` is any run of characters within a line.
 *
 * @param at JSON path of the filter, for messages
 * @throws {JobError} for a condition without an operator, a path or a value to compare with
 */
export function compileFilter(text: string, at: string): (row: Json) => boolean {
  const alternatives = text
    .split('|')
    .map((all) => all.split('&').map((condition) => compileCondition(condition, at)));
  return (row) => {
    const fields = fieldsOf(row);
    return alternatives.some((all) => all.every((holds) => holds(fields)));
  };
}

type RowTest = (row: Json) => boolean;
type Test = (text: string) => boolean;

/** Tests of the operators on the text in the row. */
const OPERATORS: Readonly<Record<string, (value: string) => Test>> = {
  '==': (value) => (text) => text === value,
  '!=': (value) => (text) => text !== value,
  '>=': (value) => (text) => compareTexts(text, value) >= 0,
  '<=': (value) => (text) => compareTexts(text, value) <= 0,
  '>': (value) => (text) => compareTexts(text, value) > 0,
  '<': (value) => (text) => compareTexts(text, value) < 0,
  '~~': (value) => compileWildcard(value),
  '!~': (value) => (text) => !compileWildcard(value)(text),
};
/** The leftmost operator of two characters; only without one, the leftmost of one. */
const LONG_OPERATOR = />=|<=|==|!=|~~|!~/;
const SHORT_OPERATOR = /[><]/;
/** Operators that need a value; without one, the others test for emptiness. */
const NEEDS_VALUE = /[><]/;

function compileCondition(condition: string, at: string): RowTest {
  const operator = (LONG_OPERATOR.exec(condition) ?? SHORT_OPERATOR.exec(condition))?.[0];
  const makeTest = operator === undefined ? undefined : OPERATORS[operator];
  if (operator === undefined || makeTest === undefined)
    throw filterError(
      condition,
      'has no operator',
      `Use one of ${Object.keys(OPERATORS).join(' ')}, such as id>10.`,
      at,
    );
  // A further occurrence of the operator ends the value.
  const [path = '', value = ''] = condition.split(operator);
  if (path === '')
    throw filterError(condition, 'has no path', `Name a property of the row before ${operator}.`, at);
  if (value === '' && NEEDS_VALUE.test(operator))
    throw filterError(condition, 'has no value', `Give the value to compare with after ${operator}.`, at);
  const test = makeTest(value);
  const field = compilePath(path, { at });
  return (row) => test(toText(field.find(row)));
}

function filterError(condition: string, mistake: string, hint: string, at: string): Error {
  return jobError(at, `The condition “${condition}” of the filter ${mistake}`, hint);
}

/** Returns the fields of a row: a list has its indexes for properties; a scalar is the property `scalar`; null has none. */
export function fieldsOf(row: Json): Json {
  if (isObject(row) || isList(row)) return row;
  return row === null ? {} : { scalar: row };
}

function compareTexts(left: string, right: string): number {
  if (NUMERIC.test(left) && NUMERIC.test(right)) return compareNumbers(left, right);
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

const NUMERIC = /^[ \t\n\r\v\f]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^\s*[+-]?\d{1,400}$/;

/** Integers beyond 2^53 differ though their doubles are equal. */
function compareNumbers(left: string, right: string): number {
  const [a, b] = [Number(left), Number(right)];
  if (a !== b) return a < b ? -1 : 1;
  if (!INTEGER.test(left) || !INTEGER.test(right)) return 0;
  const [exactA, exactB] = [BigInt(left.trim()), BigInt(right.trim())];
  return exactA === exactB ? 0 : exactA < exactB ? -1 : 1;
}

/**
 * Compiles a pattern in which `%` stands for any run of characters except a line feed, and all else for itself. The
 * whole text must match. Takes time in proportion to the text, whatever the pattern is: no regular expression.
 */
function compileWildcard(pattern: string): (text: string) => boolean {
  // No `%` reaches over a line feed, so each line of the text meets the line of the pattern at the same place.
  const lines = pattern.split('\n').map((line) => line.split('%'));
  return (text) => {
    const parts = text.split('\n');
    return parts.length === lines.length && parts.every((part, index) => matches(part, lines[index] ?? []));
  };
}

/**
 * Tells whether a text matches the pieces between wildcards: the first and the last are at the ends, the others as
 * early as possible.
 */
function matches(text: string, pieces: readonly string[]): boolean {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, from);
    if (found === -1) return false;
    from = found + piece.length;
  }
  return text.length - from >= last.length && text.endsWith(last);
}
