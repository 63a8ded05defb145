import { isConstant, isItems, isMapping, TemplateError, type Expression } from '../jinja/ast.ts';
import { literalOf, pythonText, tupleOf } from '../jinja/literal.ts';
import { mapParts } from '../jinja/map-parts.ts';

/** Filters that write numbers and JSON in a way of their own, which is read again. */
const OWN: ReadonlySet<string> = new Set(['round', 'tojson']);

/**
 * Refuses the value of a field of a record that the other tool makes another one of: the result of a template is read as
 * a literal of Python there, so that `{{ record.a }}_{{ record.b }}` is the number 12 for 1 and 2.
 *
 * @param isText whether the value is kept as a text, and not read
 * @throws {TemplateError}
 */
export function refuseOther(expression: Expression, isText: boolean): void {
  if (!isText && readsAsLiteral(expression))
    throw new TemplateError('a text that the other tool reads as a number or a list');
  refuseParts(expression);
}

function refuseParts(expression: Expression): void {
  if (expression.kind === 'filter' && OWN.has(expression.name))
    throw new TemplateError(`the filter ${expression.name}`);
  if (expression.kind === 'list')
    throw new TemplateError('a list of values that are known only while it runs');
  mapParts(expression, (part) => {
    refuseParts(part);
    return part;
  });
}

/** Values that stand for those of a record: what becomes another value with one of them may do so with others. */
const SAMPLES = ['5', '10', '1.5', 'a'];

function readsAsLiteral(expression: Expression): boolean {
  if (expression.kind === 'choose')
    return [expression.then, expression.otherwise].some((part) => part !== undefined && readsAsLiteral(part));
  const parts = partsOf(expression);
  if (parts.length < 2) return false;
  return SAMPLES.some((sample) => {
    const text = parts.map((part) => (isConstant(part) ? pythonText(part.value) : sample)).join('');
    const read = literalOf(text);
    return tupleOf(text) !== undefined || isItems(read) || isMapping(read) || pythonText(read) !== text;
  });
}

/** Returns the parts of a text that is put together. */
function partsOf(expression: Expression): readonly Expression[] {
  if (expression.kind === 'join') return expression.parts.flatMap(partsOf);
  if (expression.kind !== 'binary') return [expression];
  const { operator, left, right } = expression;
  if (operator !== '~' && operator !== '+') return [expression];
  const parts = [...partsOf(left), ...partsOf(right)];
  const isText = operator === '~' || parts.some((part) => isConstant(part) && typeof part.value === 'string');
  return isText ? parts : [expression];
}
