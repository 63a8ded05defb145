import { numberFrom, objectOf, type Json } from '../../../lib/json/index.ts';
import {
  Float,
  floatText,
  isItems,
  isMapping,
  literalOf,
  tupleOf,
  type PythonValue,
} from '../../../lib/python-literal.ts';
import { CallError, textOf, type Argument } from './arguments.ts';
import type { LibraryFunction } from './function.ts';
import { OPERATIONS, pythonText } from './python-operations.ts';

/** Values as a tool in Python writes them into a text, and reads them from one. */
export const PYTHON: Readonly<Record<string, LibraryFunction>> = {
  python_text: {
    usage: 'python_text(value)',
    description:
      "A value as Python writes it into a text: “None”, “True”, “1.0”, “[1, 'a']”; a text as it is.",
    arity: [1, 1],
    call: ([value = null]) => (value instanceof Uint8Array ? textOf(value) : pythonText(value)),
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
  python: {
    usage: 'python(operation, value, …)',
    description:
      'What Python makes of values by “+”, “-”, “*”, “/”, “//”, “%”, “**”, “==”, “int”, “float”, “abs”, “or”, “slice” (from, to, step), “first”, “last”, “list”, “join” (by), “in”, “json” and “text”: by their types, with fractions in binary digits. Null where it has an error.',
    arity: [2, 5],
    takesNothing: true,
    call: ([operation, ...values]) => operationOf(operation)(values.map(noBytes)),
  },
};

function operationOf(name: Argument | undefined): (values: readonly Json[]) => Json {
  const word = textOf(name);
  const operation = Object.hasOwn(OPERATIONS, word) ? OPERATIONS[word] : undefined;
  if (operation !== undefined) return operation;
  throw new CallError(`there is no operation “${word}”`, `Known are ${Object.keys(OPERATIONS).join(' ')}.`);
}

function noBytes(value: Argument): Json {
  return value instanceof Uint8Array ? textOf(value) : value;
}

/** @param text it, where JSON has no such value */
function jsonOf(value: PythonValue, text: string): Json {
  if (value instanceof Float) {
    return Number.isFinite(value.value) ? numberFrom(floatText(value.value)) : text;
  }
  if (isItems(value)) return value.map((item) => jsonOf(item, text));
  if (isMapping(value))
    return objectOf(Object.entries(value).map(([key, item]) => [key, jsonOf(item, text)] as const));
  return value ?? null;
}
