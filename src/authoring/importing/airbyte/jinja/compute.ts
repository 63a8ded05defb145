import {
  Float,
  isItems,
  isMapping,
  TemplateError,
  type Arguments,
  type Constant,
  type Expression,
} from './ast.ts';
import { callMethod, FILTERS, FUNCTIONS, mapped, TESTS } from './library.ts';
import { pythonText } from '../../../../lib/python-literal.ts';
import { isEqual, isTruthy, limited, NOT_SAID, plain, type NotSaid } from './values.ts';

/** The value depends on something that is not known, or on what can't be worked out here. */
export class NotConstant extends Error {
  /** Most parts of templates are not known: the stack of each would take more time than all else. */
  constructor(what: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(what);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * Computes an expression whose names are all known.
 *
 * @throws {NotConstant} where it depends on anything else, the present time included
 */
export function compute(expression: Expression, known: ReadonlyMap<string, Constant>): Constant {
  const of = (part: Expression): Constant => compute(part, known);
  switch (expression.kind) {
    case 'constant':
      return expression.value;
    case 'name':
      if (known.has(expression.name)) return known.get(expression.name);
      throw new NotConstant(expression.name);
    case 'item':
      return itemOf(of(expression.of), of(expression.key));
    case 'slice':
      return sliceOf(
        of(expression.of),
        [expression.from, expression.to, expression.step].map((part) =>
          part === undefined ? undefined : of(part),
        ),
      );
    case 'call':
      return computeCall(expression.of, expression.args, of);
    case 'filter': {
      if (expression.name === 'map') return attempt(() => computeMap(expression, of));
      const filter = Object.hasOwn(FILTERS, expression.name) ? FILTERS[expression.name] : undefined;
      if (filter === undefined) throw new NotConstant(expression.name);
      return attempt(() => filter(of(expression.of), ...argumentsOf(expression.args, of)));
    }
    case 'test': {
      const test = Object.hasOwn(TESTS, expression.name) ? TESTS[expression.name] : undefined;
      if (test === undefined) throw new NotConstant(expression.name);
      return test(of(expression.of), ...argumentsOf(expression.args, of));
    }
    case 'unary': {
      const value = of(expression.of);
      if (expression.operator === 'not') return !isTruthy(value);
      return expression.operator === '-' ? arithmetic('-', 0, value) : value;
    }
    case 'binary':
      return computeBinary(expression, of);
    case 'choose':
      if (isTruthy(of(expression.when))) return of(expression.then);
      return expression.otherwise === undefined ? undefined : of(expression.otherwise);
    case 'list':
      return expression.items.map(of);
    case 'map':
      return Object.fromEntries(expression.entries.map(([key, value]) => [pythonText(of(key)), of(value)]));
    default:
      return expression.parts.reduce((text, part) => limited(text + pythonText(of(part))), '');
  }
}

function computeMap(
  { of: items, args }: Extract<Expression, { kind: 'filter' }>,
  of: (part: Expression) => Constant,
): Constant | NotSaid {
  const { attribute, ...others } = args.named;
  const [name, ...more] = args.positional.map(of);
  // a default for items without the attribute
  if (Object.keys(others).length > 0) return NOT_SAID;
  return mapped(of(items), { name, attribute: attribute === undefined ? undefined : of(attribute), more });
}

function itemOf(of: Constant, key: Constant): Constant {
  // what is undefined has no items: the runtime of templates fails, too
  if (of === undefined) throw new NotConstant('undefined');
  if (typeof key === 'number' && (isItems(of) || typeof of === 'string')) return of.at(key);
  if (isMapping(of) && typeof key === 'string') return Object.hasOwn(of, key) ? of[key] : undefined;
  return undefined;
}

function sliceOf(of: Constant, [from, to, step]: readonly Constant[]): Constant {
  if (step !== undefined && step !== null && step !== 1) throw new NotConstant('step');
  if (typeof of !== 'string' && !isItems(of)) throw new NotConstant('slice');
  return of.slice(bound(from), bound(to));
}

function bound(value: Constant): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return value;
  throw new NotConstant('bound');
}

function computeCall(callee: Expression, args: Arguments, of: (part: Expression) => Constant): Constant {
  if (callee.kind === 'name') {
    const called = Object.hasOwn(FUNCTIONS, callee.name) ? FUNCTIONS[callee.name] : undefined;
    if (called === undefined) throw new NotConstant(callee.name);
    return attempt(() => called(...argumentsOf(args, of)));
  }
  if (callee.kind !== 'item' || callee.key.kind !== 'constant' || typeof callee.key.value !== 'string')
    throw new NotConstant('call');
  const { value: name } = callee.key;
  const self = of(callee.of);
  return attempt(() => callMethod(self, name, argumentsOf(args, of)));
}

/** Returns the arguments, named ones behind the others; the few functions with named arguments expect them there. */
function argumentsOf({ positional, named }: Arguments, of: (part: Expression) => Constant): Constant[] {
  return [...positional, ...Object.values(named)].map(of);
}

function attempt(work: () => Constant | NotSaid): Constant {
  const value = work();
  if (value === NOT_SAID) throw new NotConstant('call');
  return typeof value === 'string' ? limited(value) : value;
}

function computeBinary(
  expression: Extract<Expression, { kind: 'binary' }>,
  of: (part: Expression) => Constant,
): Constant {
  const { operator } = expression;
  const left = of(expression.left);
  if (operator === 'or') return isTruthy(left) ? left : of(expression.right);
  if (operator === 'and') return isTruthy(left) ? of(expression.right) : left;
  const right = of(expression.right);
  switch (operator) {
    case '==':
      return isEqual(left, right);
    case '!=':
      return !isEqual(left, right);
    case 'in':
      return isIn(left, right);
    case 'not in':
      return !isIn(left, right);
    case '~':
      return limited(pythonText(left) + pythonText(right));
    case '<':
    case '>':
    case '<=':
    case '>=':
      return compare(operator, left, right);
    default:
      return arithmetic(operator, left, right);
  }
}

function isIn(item: Constant, of: Constant): boolean {
  if (typeof of === 'string') return typeof item === 'string' && of.includes(item);
  if (isItems(of)) return of.some((each: Constant) => isEqual(each, item));
  if (isMapping(of)) return typeof item === 'string' && Object.hasOwn(of, item);
  throw new NotConstant('in');
}

function compare(operator: '<' | '>' | '<=' | '>=', left: Constant, right: Constant): boolean {
  const [a, b] = [plain(left), plain(right)];
  const isSame =
    (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string');
  if (!isSame || a === undefined || b === undefined || a === null || b === null)
    throw new NotConstant('comparison');
  if (operator === '<') return a < b;
  if (operator === '>') return a > b;
  return operator === '<=' ? a <= b : a >= b;
}

function arithmetic(operator: string, left: Constant, right: Constant): Constant {
  if (operator === '+' && typeof left === 'string' && typeof right === 'string') return limited(left + right);
  if (operator === '+' && isItems(left) && isItems(right)) return [...left, ...right];
  const [a, b] = [plain(left), plain(right)];
  if (typeof a !== 'number' || typeof b !== 'number') throw new NotConstant('arithmetic');
  const isFloat = left instanceof Float || right instanceof Float || operator === '/';
  const value = calculate(operator, a, b);
  if (!isFloat && !Number.isSafeInteger(value)) throw new NotConstant('a large number');
  return isFloat ? new Float(value) : value;
}

function calculate(operator: string, a: number, b: number): number {
  if (b === 0 && '/%'.includes(operator[0] ?? '')) throw new TemplateError('division by zero');
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '//':
      return Math.floor(a / b);
    case '%':
      return a - Math.floor(a / b) * b;
    default:
      return a ** b;
  }
}
