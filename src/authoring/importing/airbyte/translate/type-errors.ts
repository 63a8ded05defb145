import { constant, Float, isConstant, isItems, type Constant, type Expression } from '../jinja/ast.ts';
import type { SchemaKind } from '../field-kinds.ts';
import { accessOf } from './position.ts';

/** Type of a value as Python tells them apart. */
type Kind = 'none' | 'text' | 'number' | 'list' | 'object' | 'time';
type Kinds = ReadonlySet<Kind>;
type KindsOf = (keys: readonly (string | number)[]) => ReadonlySet<SchemaKind> | undefined;

/** Knowledge of the fields of a record at a place in a template. */
interface Known {
  readonly kindsOf: KindsOf;
  /** Fields that a condition around the place finds to be something. */
  readonly given: ReadonlySet<string>;
}

const ANY: Kinds = new Set(['none', 'text', 'number', 'list', 'object']);
const TEXT: Kinds = new Set(['text']);
const NUMBER: Kinds = new Set(['number']);
const LIST: Kinds = new Set(['list']);
const WITH_ITEMS: Kinds = new Set(['text', 'list', 'object']);

/**
 * Tells if a template may do with a field of a record what Python has an error for, such as 1 + None: the other tool
 * gives the text of the template then.
 *
 * @param kindsOf gives what the schema says of a field
 */
export function mayFail(expression: Expression, kindsOf: KindsOf): boolean {
  return fails(expression, { kindsOf, given: new Set() });
}

function fails(expression: Expression, known: Known): boolean {
  const isOf = (part: Expression, allowed: Kinds): boolean => isWithin(kindOf(part, known), allowed);
  switch (expression.kind) {
    case 'choose': {
      const { when, then, otherwise } = expression;
      return (
        fails(when, known) ||
        fails(then, withGiven(known, givenIn(when, true))) ||
        (otherwise !== undefined && fails(otherwise, withGiven(known, givenIn(when, false))))
      );
    }
    case 'unary':
      return fails(expression.of, known) || (expression.operator !== 'not' && !isOf(expression.of, NUMBER));
    case 'slice':
      return fails(expression.of, known) || !isOf(expression.of, new Set(['text', 'list']));
    case 'binary': {
      const { operator, left, right } = expression;
      const isChain = operator === 'and' || operator === 'or';
      const later = isChain ? withGiven(known, givenIn(left, operator === 'and')) : known;
      return (
        fails(left, known) ||
        fails(right, later) ||
        clash(operator, kindOf(left, known), kindOf(right, known))
      );
    }
    case 'filter': {
      const allowed = Object.hasOwn(OF_FILTERS, expression.name) ? OF_FILTERS[expression.name] : undefined;
      const isMissing = expression.name === 'string' && isUnknown(expression.of, known);
      return (
        fails(expression.of, known) || isMissing || (allowed !== undefined && !isOf(expression.of, allowed))
      );
    }
    case 'call': {
      const [first] = expression.args.positional;
      const isDate = expression.of.kind === 'name' && READ_DATES.has(expression.of.name);
      const isWrong = isDate && first !== undefined && !isOf(first, new Set(['text', 'number', 'time']));
      const of = expression.of.kind === 'item' ? [expression.of.of] : [];
      return isWrong || [...of, ...expression.args.positional].some((part) => fails(part, known));
    }
    case 'item':
    case 'test':
      return fails(expression.of, known);
    case 'join':
      return expression.parts.some((part) => fails(part, known));
    case 'list':
      return expression.items.some((item) => fails(item, known));
    case 'map':
      return expression.entries.some(([, value]) => fails(value, known));
    default:
      return false;
  }
}

const OF_FILTERS: Readonly<Record<string, Kinds>> = {
  abs: NUMBER,
  length: WITH_ITEMS,
  count: WITH_ITEMS,
  list: WITH_ITEMS,
  first: WITH_ITEMS,
  last: WITH_ITEMS,
  join: WITH_ITEMS,
  regex_search: TEXT,
  urlencode: new Set(['text', 'number', 'none']),
};
const READ_DATES: ReadonlySet<string> = new Set(['format_datetime', 'timestamp', 'str_to_datetime']);
const REPEATED: Kinds = new Set(['text', 'number', 'list']);
const ORDER: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

/** Tells if two values may not go together with an operator. */
function clash(operator: string, left: Kinds, right: Kinds): boolean {
  const both = (allowed: Kinds): boolean => isWithin(left, allowed) && isWithin(right, allowed);
  if (left.has('time') || right.has('time')) return false;
  if (operator === 'in' || operator === 'not in')
    return !isWithin(right, WITH_ITEMS) || (right.has('text') && !isWithin(left, TEXT));
  if (operator === '+' || ORDER.has(operator)) return !both(TEXT) && !both(NUMBER) && !both(LIST);
  if (operator === '*')
    return ![
      [left, right],
      [right, left],
    ].some(([value = ANY, times = ANY]) => isWithin(value, REPEATED) && isWithin(times, NUMBER));
  if (operator === '%') return !both(NUMBER) && !isWithin(left, TEXT);
  return ['-', '/', '//', '**'].includes(operator) && !both(NUMBER);
}

function isWithin(kinds: Kinds, allowed: Kinds): boolean {
  return [...kinds].every((kind) => allowed.has(kind));
}

function union(...all: readonly Kinds[]): Kinds {
  return new Set(all.flatMap((kinds) => [...kinds]));
}

function kindOf(expression: Expression, known: Known): Kinds {
  const field = fieldKinds(expression, known);
  if (field !== undefined) return field;
  switch (expression.kind) {
    case 'constant':
      return new Set([kindOfConstant(expression.value)]);
    case 'join':
      return TEXT;
    case 'list':
      return LIST;
    case 'unary':
    case 'test':
      return NUMBER;
    case 'slice':
      return kindOf(expression.of, known);
    case 'choose': {
      const { when, then, otherwise = constant('') } = expression;
      return union(
        kindOf(then, withGiven(known, givenIn(when, true))),
        kindOf(otherwise, withGiven(known, givenIn(when, false))),
      );
    }
    case 'binary': {
      const { operator, left, right } = expression;
      const [a, b] = [kindOf(left, known), kindOf(right, known)];
      if (operator === '~') return TEXT;
      if (operator === 'or') return union(new Set([...a].filter((kind) => kind !== 'none')), b);
      if (operator === 'and') return union(a, b);
      if (operator === '+' || operator === '*') return isWithin(union(a, b), NUMBER) ? NUMBER : a;
      if (a.has('time') || b.has('time')) return new Set(['time']);
      return operator === '%' && isWithin(a, TEXT) ? TEXT : NUMBER;
    }
    case 'filter': {
      if (expression.name === 'default' || expression.name === 'd') {
        const [otherwise = constant(''), isForFalse] = expression.args.positional;
        const of = kindOf(expression.of, known);
        const isAll = isConstant(isForFalse) && isForFalse.value === true;
        return union(
          isAll ? new Set([...of].filter((kind) => kind !== 'none')) : of,
          kindOf(otherwise, known),
        );
      }
      return (Object.hasOwn(FROM, expression.name) ? FROM[expression.name] : undefined) ?? ANY;
    }
    case 'call': {
      const { of } = expression;
      const method = of.kind === 'item' && isConstant(of.key) ? of.key.value : undefined;
      const name = of.kind === 'name' ? of.name : typeof method === 'string' ? method : '';
      return (Object.hasOwn(FROM, name) ? FROM[name] : undefined) ?? ANY;
    }
    default:
      return ANY;
  }
}

/** Types that filters, methods and functions give. */
const FROM: Readonly<Record<string, Kinds>> = {
  ...Object.fromEntries(
    'int float abs round length count timestamp startswith endswith'.split(' ').map((name) => [name, NUMBER]),
  ),
  ...Object.fromEntries(
    'upper lower trim strip lstrip rstrip replace string join tojson urlencode hash hmac base64encode base64decode regex_search format_datetime strftime isoformat day_delta sanitize_url'
      .split(' ')
      .map((name) => [name, TEXT]),
  ),
  ...Object.fromEntries(['list', 'split', 'keys', 'values'].map((name) => [name, LIST])),
  ...Object.fromEntries(
    'now_utc today_utc str_to_datetime duration today_with_timezone'
      .split(' ')
      .map((name) => [name, new Set<Kind>(['time'])]),
  ),
};

function kindOfConstant(value: Constant): Kind {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number' || typeof value === 'boolean' || value instanceof Float) return 'number';
  return value === null || value === undefined ? 'none' : isItems(value) ? 'list' : 'object';
}

const OF_SCHEMA: Readonly<Record<SchemaKind, Kind | undefined>> = {
  text: 'text',
  formatted: 'text',
  list: 'list',
  object: 'object',
  number: 'number',
  boolean: 'number',
  null: 'none',
  other: undefined,
};

/** Returns the types of a field of the record; one that is missing is an error of another kind, unless `get` takes it. */
function fieldKinds(expression: Expression, known: Known): Kinds | undefined {
  const access = accessOf(expression);
  if (access?.name !== 'record' || access.keys.length === 0) return undefined;
  const named = [...(known.kindsOf(access.keys) ?? [])].map((kind) => OF_SCHEMA[kind]);
  const isOpen = named.length === 0 || named.includes(undefined);
  const kinds = isOpen ? [...ANY] : named.filter((kind) => kind !== undefined);
  const isGet = expression.kind === 'call';
  const missing = !isGet
    ? []
    : access.fallback === undefined
      ? (['none'] as const)
      : [...kindOf(access.fallback, known)];
  const all = new Set<Kind>([...kinds, ...missing]);
  if (isGiven(expression, known)) all.delete('none');
  return all;
}

function keyOf(expression: Expression): string | undefined {
  const access = accessOf(expression);
  return access?.name === 'record' && access.keys.length > 0 ? JSON.stringify(access.keys) : undefined;
}

function isGiven(expression: Expression, { given }: Known): boolean {
  const key = keyOf(expression);
  return key === undefined || given.has(key);
}

/** Tells if nothing is known of a field, not even that there is such a one. */
function isUnknown(expression: Expression, known: Known): boolean {
  const keys = accessOf(expression)?.keys ?? [];
  const isField = expression.kind === 'item' && !isGiven(expression, known);
  return isField && known.kindsOf(keys) === undefined;
}

function withGiven(known: Known, keys: readonly string[]): Known {
  return { ...known, given: new Set([...known.given, ...keys]) };
}

/** Returns the fields that are something where a condition holds, or where it does not. */
function givenIn(when: Expression, holds: boolean): readonly string[] {
  const key = keyOf(when);
  if (key !== undefined) return holds ? [key] : [];
  if (when.kind === 'unary' && when.operator === 'not') return givenIn(when.of, !holds);
  if (when.kind === 'filter') return holds ? givenIn(when.of, true) : [];
  if (when.kind === 'test') {
    const isNone =
      when.name === 'none' ? !holds : ['string', 'number', 'mapping'].includes(when.name) && holds;
    return isNone ? givenIn(when.of, true) : [];
  }
  if (when.kind !== 'binary') return [];
  const { operator, left, right } = when;
  if (operator === (holds ? 'and' : 'or')) return [...givenIn(left, holds), ...givenIn(right, holds)];
  if (operator !== '==' && operator !== '!=') return ORDER.has(operator) && holds ? givenIn(left, true) : [];
  const isOfNone = isConstant(right) && right.value === null;
  return (operator === '==') === (holds !== isOfNone) && isConstant(right) ? givenIn(left, true) : [];
}
