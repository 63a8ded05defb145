import {
  entriesOf,
  isList,
  isObject,
  JsonNumber,
  objectOf,
  toText,
  type Json,
} from '../../../lib/json/index.ts';
import {
  Float,
  floatText,
  isItems,
  isMapping,
  literalOf,
  quoted,
  tupleOf,
  type PythonValue,
} from '../../../lib/python-literal.ts';
import { textOf } from './arguments.ts';
import type { LibraryFunction } from './function.ts';

/** Values as a tool in Python writes them into a text, and reads them from one. */
export const PYTHON: Readonly<Record<string, LibraryFunction>> = {
  python_text: {
    usage: 'python_text(value)',
    description:
      "A value as Python writes it into a text: “None”, “True”, “1.0”, “[1, 'a']”; a text as it is.",
    arity: [1, 1],
    call: ([value = null]) =>
      typeof value === 'string' || value instanceof Uint8Array ? textOf(value) : written(value),
  },
  python_value: {
    usage: 'python_value(text)',
    description:
      "What a text reads as in Python: “None”, “True”, “1.50”, “[1, 'a']”, a text in quotes. Any other text, and what is none, stays as it is.",
    arity: [1, 1],
    call: ([value = null]) => {
      if (typeof value !== 'string') return value;
      return jsonOf(tupleOf(value) ?? literalOf(value), value);
    },
  },
};

function written(value: Json): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return quoted(value);
  if (isList(value)) return `[${value.map(written).join(', ')}]`;
  if (isObject(value))
    return `{${entriesOf(value)
      .map(([key, item]) => `${quoted(key)}: ${written(item)}`)
      .join(', ')}}`;
  const literal = value instanceof JsonNumber ? value.literal : toText(value);
  return /[.eE]/.test(literal) ? floatText(Number(literal)) : literal;
}

/** @param text it, where JSON has no such value */
function jsonOf(value: PythonValue, text: string): Json {
  if (value instanceof Float) {
    if (!Number.isFinite(value.value)) return text;
    return Number.isInteger(value.value) ? new JsonNumber(floatText(value.value)) : value.value;
  }
  if (isItems(value)) return value.map((item) => jsonOf(item, text));
  if (isMapping(value))
    return objectOf(Object.entries(value).map(([key, item]) => [key, jsonOf(item, text)] as const));
  return value ?? null;
}
