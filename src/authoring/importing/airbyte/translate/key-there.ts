import { constant, TemplateError, type Expression } from '../jinja/ast.ts';
import { isMap } from '../node.ts';
import { call, thereWord } from './out.ts';
import {
  accessOf,
  innerAccess,
  pathText,
  type Access,
  type TranslatedJson,
  type TranslatePart,
} from './position.ts';

/** A condition on a value: `is` of the language of configurations. */
export interface ValueTest {
  readonly value: TranslatedJson;
  readonly is: string;
  readonly than?: TranslatedJson;
}

/** Returns what tells if a key is there, also with null as its value; known beforehand for a field that is removed or added. */
export function keyThere(item: Expression, translate: TranslatePart): ValueTest | boolean {
  const { out } = translate(item);
  if (out === null) return false;
  // a field that was added with a constant
  if (!isMap(out)) return true;
  return keyIsThere(item, out, translate) ?? { value: out, is: thereWord(out, true) };
}

/** Returns what tells if a value is defined: that of `get` always is. */
export function isDefined(of: Expression, translate: TranslatePart): ValueTest | boolean {
  if (of.kind === 'call' && accessOf(of)?.name === 'record') return true;
  return keyThere(of, translate);
}

/** Returns a test as a call of a function. */
export function asCall(test: ValueTest | boolean): TranslatedJson {
  if (typeof test === 'boolean') return test;
  const { value, is, than } = test;
  return call('is', value, is, ...(than === undefined ? [] : [than]));
}

/** @returns undefined for what is no field of a record or an answer as it came */
function keyIsThere(
  item: Expression,
  field: TranslatedJson,
  translate: TranslatePart,
): ValueTest | undefined {
  if (item.kind !== 'item' || item.key.kind !== 'constant') return undefined;
  const { value: key } = item.key;
  if (typeof key !== 'string') return undefined;
  const around = innerAccess(item.of);
  if (around === undefined || !['record', 'response'].includes(around.name)) return undefined;
  const word = around.name === 'record' ? 'path' : 'response';
  if (!isMap(field) || field[word] !== pathText([...around.keys, key])) return undefined;
  const object = objectAt(around, translate);
  if (!isMap(object) || object[word] !== pathText(around.keys)) return undefined;
  return { value: object, is: 'contains', than: key };
}

function objectAt({ name, keys }: Access, translate: TranslatePart): TranslatedJson | undefined {
  const of = keys.reduce<Expression>((inner, key) => ({ kind: 'item', of: inner, key: constant(key) }), {
    kind: 'name',
    name,
  });
  try {
    return translate(of).out;
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
