import { TemplateError, type Expression } from './jinja/ast.ts';
import { parseTemplate } from './jinja/parse.ts';
import { accessOf } from './translate/position.ts';

/** A list that a loop fills, item by item: its name, that of an item, what the items are taken from, and what is put in. */
const LOOP =
  /^\s*\{%-?\s*set (\w+) = \[\]\s*-?%\}\s*\{%-?\s*for (\w+) in (.+?)\s*:?\s*-?%\}\s*\{%-?\s*set \w+ = (\w+)\.append\((\{.*\})\)\s*-?%\}\s*\{%-?\s*endfor\s*-?%\}\s*\{\{-?\s*(\w+)\s*-?\}\}\s*$/s;

/**
 * Returns the fields that items of a list keep in a template which makes a field of the same field, and of each of its
 * items an object with some of its fields, as they were; undefined for any other template.
 */
export function cutItems(template: string, field: string): ReadonlySet<string> | undefined {
  const [, list, item = '', from = '', filled, object = '', given] = LOOP.exec(template) ?? [];
  if (list === undefined || list !== filled || list !== given) return undefined;
  const source = read(from);
  const of =
    source?.kind === 'binary' && source.operator === 'or' && source.right.kind === 'list'
      ? source.left
      : source;
  const root = of === undefined ? undefined : accessOf(of);
  if (root?.name !== 'record' || root.keys.join('.') !== field) return undefined;
  const made = read(object);
  if (made?.kind !== 'map') return undefined;
  const keys = made.entries.map(([key, value]) => {
    const access = accessOf(value);
    const isSame =
      key.kind === 'constant' &&
      typeof key.value === 'string' &&
      access?.name === item &&
      access.keys.length === 1 &&
      access.keys[0] === key.value;
    return isSame ? key.value : undefined;
  });
  return keys.includes(undefined) ? undefined : new Set(keys.filter((key) => key !== undefined));
}

function read(text: string): Expression | undefined {
  try {
    return parseTemplate(`{{ ${text} }}`);
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
