import { Float, isConstant, TemplateError, type Expression } from '../jinja/ast.ts';
import { pythonText } from '../../../../lib/python-literal.ts';
import { partsOf } from '../jinja/map-parts.ts';
import { isMap, isSequence, shown, type ManifestNode } from '../node.ts';
import { call, isField, readsRow } from './out.ts';
import type { TranslatedJson, Typed } from './position.ts';

/** Filters that write numbers and JSON in a way of their own, which is read again. */
const OWN: ReadonlySet<string> = new Set(['round', 'tojson']);

/**
 * Refuses the value of a field of a record that cannot be made here as the other tool makes it.
 *
 * @throws {TemplateError}
 */
export function refuseOther(expression: Expression): void {
  if (expression.kind === 'filter' && OWN.has(expression.name))
    throw new TemplateError(`the filter ${expression.name}`);
  if (expression.kind === 'list')
    throw new TemplateError('a list of values that are known only while it runs');
  for (const part of partsOf(expression)) refuseOther(part);
}

/** Tells if a value is reckoned with fractions, which the other tool keeps in binary digits: 0.1 * 3 is 0.30000000000000004. */
export function isReckoned(expression: Expression): boolean {
  if (expression.kind === 'binary' && '+-*/%'.includes(expression.operator)) {
    const { operator, left, right } = expression;
    const hasFraction = [left, right].some((side) => isConstant(side) && side.value instanceof Float);
    const isShifted = isConstant(right) && /^10+$/.test(pythonText(right.value));
    if (hasFraction || (operator === '/' && !isShifted)) return true;
  }
  return partsOf(expression).some(isReckoned);
}

/** Returns in what values of a field may be others than those of the other tool. */
export function otherValues(expression: Expression, template: ManifestNode): readonly string[] {
  return [
    ...(losesFraction(expression) ? ['is without the fractions of seconds that the times have'] : []),
    ...(typeof template === 'string' && /^\s*['"]/.test(template)
      ? [
          'has the quotes around it where there are more of them, or lines, in the value: here they are taken off',
        ]
      : []),
  ];
}

/** Tells if a time that is read from a text is shown with its fraction, or reckoned with. */
function losesFraction(expression: Expression): boolean {
  if (expression.kind === 'call' && expression.of.kind === 'item' && isConstant(expression.of.key)) {
    const [format] = expression.args.positional;
    const isWhole = isConstant(format) && typeof format.value === 'string' && !format.value.includes('%f');
    if (expression.of.key.value === 'strftime' && isWhole) return false;
  }
  if (expression.kind === 'call' && expression.of.kind === 'name' && expression.of.name === 'str_to_datetime')
    return true;
  return partsOf(expression).some(losesFraction);
}

/** Functions whose text or number reads as itself. */
const PLAIN: ReadonlySet<unknown> = new Set(
  'add subtract multiply divide mod floor abs number length is not all any date strtotime parse_date hash hash_hmac base64_encode urlencode'.split(
    ' ',
  ),
);

/** Operations of `python` that give numbers. */
const PLAIN_OPERATIONS: ReadonlySet<unknown> = new Set('- / // % ** int'.split(' '));

/**
 * Returns the value of an added field: the text that a template gives is read there as a literal of Python.
 *
 * @param isPlain whether a field of the record cannot be a text that reads as another value
 */
export function readAgain({ out, type }: Typed, isPlain: (field: TranslatedJson) => boolean): TranslatedJson {
  const isText = type === 'text' || type === 'any';
  if (!isText || !readsRow(out)) return out;
  const only = onlyPart(out);
  if (only !== undefined && isNumber(only)) return only;
  return readsAsItself(out, isPlain) ? out : call('python_value', out);
}

/** Returns the value whose text has nothing but white space around it, as behind `{% set … %}`: it is read without that. */
function onlyPart(out: TranslatedJson): TranslatedJson | undefined {
  if (!isMap(out) || out['function'] !== 'concat' || !isSequence(out['args'])) return undefined;
  const [part, ...others] = out['args'].filter((each) => typeof each !== 'string' || each.trim() !== '');
  if (!isMap(part) || others.length > 0) return undefined;
  const [value, text] = isSequence(part['args']) ? part['args'] : [];
  if (part['function'] === 'python' && value === 'text') return text;
  return part['function'] === 'python_text' ? value : part;
}

/** Tells if a value is a number, or null. */
function isNumber(out: TranslatedJson): boolean {
  if (!isMap(out)) return out === null || typeof out === 'number';
  const { function: name, args } = out;
  if (name === 'number') return true;
  const parts = isSequence(args) ? args : [];
  if (name === 'python')
    return ['float', 'int'].includes(shown(parts[0] ?? '')) && parts.slice(2).every(isNumber);
  return name === 'if' && parts.length === 3 && parts.slice(1).every(isNumber);
}

function readsAsItself(out: TranslatedJson, isPlain: (field: TranslatedJson) => boolean): boolean {
  if (!isMap(out)) return typeof out !== 'string';
  if (isField(out)) return isPlain(out);
  const { function: name, args } = out;
  const parts = isSequence(args) ? args : [];
  if (PLAIN.has(name)) return true;
  if (name === 'python') return PLAIN_OPERATIONS.has(parts[0]);
  const [, ...others] = parts;
  if (name === 'concat') return isPlainText(parts);
  if (name === 'if') return others.every((part) => isReadText(part) || readsAsItself(part, isPlain));
  return name === 'coalesce' && parts.every((part) => isReadText(part) || readsAsItself(part, isPlain));
}

/** Tells if a text that is put together reads as itself: a letter or a sign in it stands in no number, and nothing is quoted. */
export function isPlainText(parts: readonly TranslatedJson[]): boolean {
  const texts = parts.filter((part) => typeof part === 'string');
  if (texts.some((text) => /['"[({]|True|False|None/.test(text))) return false;
  return texts.some((text) => /[A-DF-Za-df-z/@%;?!&|~^<>=$`]/.test(text));
}

/** Tells if a constant text reads as itself. */
function isReadText(out: TranslatedJson): boolean {
  return (
    typeof out === 'string' && /^(?:[A-Za-z]{2}[\w -]*)?$/.test(out) && !/^(?:True|False|None)$/.test(out)
  );
}

/**
 * Refuses a number with a fraction as a text: the other tool writes `7 / 7` as `1.0`. What speaks of settings alone is
 * worked out then.
 *
 * @throws {TemplateError}
 */
export function refuseFraction(expression: Expression): Expression {
  if (isFraction(expression)) throw new TemplateError('a number that is written with its fraction');
  return expression;
}

function isFraction(expression: Expression): boolean {
  switch (expression.kind) {
    case 'unary':
      return expression.operator !== 'not' && isFraction(expression.of);
    case 'filter':
      return (
        ['float', 'round'].includes(expression.name) ||
        (expression.name === 'abs' && isFraction(expression.of))
      );
    case 'choose':
      return [expression.then, expression.otherwise].some((part) => part !== undefined && isFraction(part));
    case 'join':
      return expression.parts.some(isFraction);
    case 'binary':
      break;
    default:
      return false;
  }
  const { operator, left, right } = expression;
  if (operator === '/') return true;
  const sides = [left, right];
  if (['~', 'or', 'and'].includes(operator)) return sides.some(isFraction);
  return (
    ['+', '-', '*', '//', '%', '**'].includes(operator) &&
    sides.some((side) => isFraction(side) || isFloat(side))
  );
}

function isFloat(expression: Expression): boolean {
  return isConstant(expression) && expression.value instanceof Float;
}
