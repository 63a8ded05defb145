import { isConstant, TemplateError, type Expression } from '../jinja/ast.ts';
import { accessOf, pathText, type TemplatePosition, type TranslatedJson } from './position.ts';

/** A choice of the items of a list by one of their fields. */
interface Selection {
  readonly list: Expression;
  readonly key: string;
  /** Values of the field that are looked for; absent: any. */
  readonly values?: readonly TranslatedJson[];
}

/** Filters that change nothing in whether there is an item. */
const SAME: ReadonlySet<string> = new Set(['list', 'length', 'count', 'first', 'last']);

/**
 * Translates a condition on whether a list has an item with a value in one of its fields:
 * `response.errors | selectattr('type', 'equalto', 'BUSY') | list | length > 0`.
 *
 * @returns undefined for any other condition
 * @throws {TemplateError} for items that are chosen in a way that has no counterpart
 */
export function selectedOf(expression: Expression, position: TemplatePosition): TranslatedJson | undefined {
  const asked = askedItems(expression);
  const selection = asked === undefined ? undefined : selectionOf(asked.of);
  if (asked === undefined || selection === undefined) return undefined;
  const access = accessOf(withoutDefault(selection.list));
  const of = access === undefined ? undefined : position.reference(access.name, access.keys)?.out;
  if (
    access === undefined ||
    of === undefined ||
    JSON.stringify(of) !== JSON.stringify({ response: pathText(access.keys) })
  )
    throw new TemplateError('the filter selectattr of anything but a list of the answer');
  const items = access.keys.length === 0 ? '$' : `$${access.keys.map(segmentOf).join('')}`;
  const value = { response: `${items}[*]${segmentOf(selection.key)}` };
  const { values } = selection;
  const [only] = values ?? [];
  const condition: TranslatedJson =
    values === undefined
      ? { value, is: 'notEmpty' }
      : values.length === 1
        ? { value, is: 'contains', than: only ?? null }
        : { any: values.map((than) => ({ value, is: 'contains', than })) };
  return asked.isThere ? condition : { not: condition };
}

/** Returns a key as a part of JSONPath. */
export function segmentOf(key: string | number): string {
  return typeof key === 'number' ? `[${key}]` : `['${key.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}']`;
}

/** Returns the items whose number is compared with zero, or which are taken as a condition. */
function askedItems(
  expression: Expression,
): { readonly of: Expression; readonly isThere: boolean } | undefined {
  if (expression.kind === 'filter') return { of: expression, isThere: true };
  if (expression.kind !== 'binary' || expression.left.kind !== 'filter' || !isConstant(expression.right))
    return undefined;
  const { operator, left, right } = expression;
  if (left.name !== 'length' && left.name !== 'count') return undefined;
  const asked = `${operator} ${JSON.stringify(right.value ?? null)}`;
  if (['> 0', '>= 1', '!= 0'].includes(asked)) return { of: left, isThere: true };
  return ['== 0', '< 1', '<= 0'].includes(asked) ? { of: left, isThere: false } : undefined;
}

function selectionOf(expression: Expression): Selection | undefined {
  if (expression.kind !== 'filter') return undefined;
  const { name, of, args } = expression;
  if (SAME.has(name)) return selectionOf(of);
  if (name !== 'selectattr') return undefined;
  const [key, test, than] = args.positional;
  const inner = of.kind === 'filter' ? selectionOf(of) : undefined;
  const known = key !== undefined && isConstant(key) && typeof key.value === 'string' ? key.value : undefined;
  const word = test !== undefined && isConstant(test) ? test.value : undefined;
  // by a path, an item without a part of it is an error there
  if (known === undefined || /[.*]/.test(known) || (inner !== undefined && inner.key !== known))
    throw new TemplateError('the filter selectattr by several fields');
  const values = word === 'defined' ? undefined : valuesOf(word, than);
  if (inner?.values !== undefined && values !== undefined)
    throw new TemplateError('the filter selectattr with several values one after the other');
  const found = values ?? inner?.values;
  return { list: inner?.list ?? of, key: known, ...(found === undefined ? {} : { values: found }) };
}

/** Returns the values that a test takes; it has to be one of equality. */
function valuesOf(test: unknown, than: Expression | undefined): readonly TranslatedJson[] {
  const value = than !== undefined && isConstant(than) ? than.value : undefined;
  if (['equalto', 'eq', '=='].includes(String(test)) && isPlain(value)) return [value];
  if (test === 'in' && Array.isArray(value) && value.length > 0 && value.every(isPlain)) return value;
  throw new TemplateError(`the filter selectattr with “${String(test)}”`);
}

function isPlain(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** Returns the list in `list or []`. */
function withoutDefault(expression: Expression): Expression {
  if (expression.kind !== 'binary' || expression.operator !== 'or') return expression;
  return isConstant(expression.right) || expression.right.kind === 'list' ? expression.left : expression;
}
