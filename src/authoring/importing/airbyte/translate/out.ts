import { Float, isConstant, TemplateError, type Expression } from '../jinja/ast.ts';
import { pythonText } from '../../../../lib/python-literal.ts';
import { isMap, isSequence } from '../node.ts';
import { phpFormat } from '../time-format.ts';
import { accessOf, TYPE_WORDS, type TranslatedJson, type Typed } from './position.ts';

/** Returns a value as part of a text: booleans are `True` and `False`, times have their form. */
export function textOut(value: Typed): TranslatedJson {
  const { out, type } = value;
  if (type === 'boolean' && isFieldOfParent(out))
    return call('map', out, { true: 'True', false: 'False', null: 'None' });
  if (type === 'boolean')
    return typeof out === 'boolean' ? (out ? 'True' : 'False') : call('if', out, 'True', 'False');
  if (type === 'seconds') return call('date', 'Y-m-d H:i:sP', out);
  if (type === 'day') return call('date', 'Y-m-d', out);
  if (type === 'float')
    return typeof out === 'number' ? pythonText(new Float(out)) : call('concat', out, '.0');
  if (type === 'span') throw new TemplateError('a duration is no value of its own');
  if (type === 'list') throw new TemplateError('a list is written into a text');
  return out;
}

/** Returns a value inside of a text: a field that the parent row does not have is None there. */
export function orNone(out: TranslatedJson): TranslatedJson {
  return isFieldOfParent(out) ? call('if', call('is', out, 'present'), out, 'None') : out;
}

export function isFieldOfParent(out: TranslatedJson): boolean {
  return isMap(out) && out['parent'] !== undefined;
}

/** Tells if a value is a field of a row, which is read when there is one. */
export function isField(out: TranslatedJson): boolean {
  return isMap(out) && (out['path'] !== undefined || out['firstOf'] !== undefined);
}

/** Tells if a field of a row is in a value. */
export function readsRow(out: TranslatedJson): boolean {
  if (isSequence(out)) return out.some(readsRow);
  return isMap(out) && (isField(out) || Object.values(out).some(readsRow));
}

/** Tells if a setting is in a value. */
export function readsSetting(out: TranslatedJson): boolean {
  if (isSequence(out)) return out.some(readsSetting);
  return isMap(out) && (out['attr'] !== undefined || Object.values(out).some(readsSetting));
}

/**
 * Returns a field of a record as part of a text, as Python writes it: null is `None`. One that is missing is an empty
 * text, and `None` where `get` takes it.
 */
export function shownField(of: Expression, { out, type }: Typed): Typed {
  if (type !== 'any') return { out: textOut({ out, type }), type: 'text' };
  const fallback = accessOf(of)?.fallback;
  if (of.kind === 'call' && fallback === undefined) return { out: call('python', 'text', out), type: 'text' };
  const missing = isConstant(fallback) ? pythonText(fallback.value) : '';
  return { out: call('coalesce', call('python_text', out), missing), type: 'text' };
}

/** Returns a value that is made of a record as part of a text, as Python writes it. */
export function shownValue(of: Expression, out: TranslatedJson): TranslatedJson {
  const text = call('python_text', out);
  return mayBeMissing(of) ? call('if', call('is', out, 'present'), text, '') : text;
}

/** Tells if a part is an item of a list, which may not have as many: that is no text. */
function mayBeMissing(part: Expression): boolean {
  if (part.kind === 'filter') return part.name === 'first' || part.name === 'last';
  return part.kind === 'item' && isConstant(part.key) && typeof part.key.value === 'number';
}

/** Returns an item of what is a list, or the character of what is a text. */
export function characterOr(of: TranslatedJson, index: number, item: TranslatedJson): TranslatedJson {
  const isText = call('is', call('json_encode', of), 'startsWith', '"');
  // all arguments are worked out, whatever the field is
  return call('if', isText, call('substr', call('python_text', of), index, 1), item);
}

/** Returns the word of a condition for a value that is present or absent. A setting that is not given is an empty text. */
export function thereWord(out: TranslatedJson, isThere: boolean): string {
  if (isMap(out) && out['attr'] !== undefined) return isThere ? 'notEmpty' : 'empty';
  return isThere ? 'present' : 'absent';
}

/** The start of the run: the present time, the same in all requests. */
export const NOW: TranslatedJson = { time: 'currentStart' };

export function call(name: string, ...args: readonly TranslatedJson[]): TranslatedJson {
  return { function: name, args };
}

/** Returns what Python makes of values, by their types. */
export function python(operation: string, ...values: readonly Typed[]): TranslatedJson {
  return call('python', operation, ...values.map(asOfType));
}

/** Keeps a number with a fraction one, also where that is zero. */
function asOfType({ out, type }: Typed): TranslatedJson {
  return type === 'float' ? call('python', 'float', out) : out;
}

export function shifted(seconds: TranslatedJson, words: string, isBack: boolean): TranslatedJson {
  const spans = words.split(' ');
  const moved = spans.map((word) => (/^[+-]?\d/.test(word) ? signed(word, isBack) : word)).join(' ');
  return call('strtotime', moved, seconds);
}

function signed(word: string, isBack: boolean): string {
  const isMinus = word.startsWith('-') !== isBack;
  return `${isMinus ? '-' : '+'}${word.replace(/^[+-]/, '')}`;
}

/** Formats a time by `strftime`. */
export function formatted(seconds: TranslatedJson, format: string, zone?: string): TranslatedJson {
  return call('date', phpFormat(format), seconds, ...(zone === undefined ? [] : [zone]));
}

/** @throws {TemplateError} for a time that is compared with a text or a number */
export function refuseMixedTimes(a: Typed, b: Typed): void {
  if (a.type === b.type) return;
  for (const { type } of [a, b])
    if (type === 'seconds' || type === 'day')
      throw new TemplateError(`${TYPE_WORDS[type]} compared with something else`);
}

/** Tells if one of two values is known to be a number, and the other one a text: they are never equal. */
export function isOfTwoTypes(a: Typed, b: Typed): boolean {
  const types = [a.type, b.type];
  return types.includes('text') && (types.includes('number') || types.includes('float'));
}

/** Tells if a word of order is about two texts, one of which is known to be one. */
export function isOfTexts(word: string, ...both: readonly Typed[]): boolean {
  return !['equals', 'differs'].includes(word) && both.some(({ type }) => type === 'text');
}

/** Words of a condition, by the operators of an expression. */
export const COMPARISONS: Readonly<Record<string, string>> = {
  '==': 'equals',
  '!=': 'differs',
  '<': 'below',
  '<=': 'atMost',
  '>': 'above',
  '>=': 'atLeast',
};

/** Tests of a type, by how a value of it begins when it is written as JSON. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  string: '^"',
  number: '^(?:-?[0-9]|true|false)',
  boolean: '^(?:true|false)',
  mapping: '^\\{',
  sequence: '^[\\[\\{"]',
  iterable: '^[\\[\\{"]',
};

/** Returns the expression that a value of a type, as JSON, matches; undefined for a word that is no type. */
export function beginningOf(word: string): string | undefined {
  return Object.hasOwn(BEGINNINGS, word) ? BEGINNINGS[word] : undefined;
}
