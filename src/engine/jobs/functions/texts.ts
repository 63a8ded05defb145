import { compilePattern, type Pattern } from '../../language/index.ts';
import { isList, isObject, sizeOf, type Json } from '../../../lib/json/index.ts';
import { CallError, integerOf, textOf, type Argument } from './arguments.ts';
import type { LibraryFunction } from './function.ts';

/** Parts and forms of texts; null stays null. Characters count as people see them in code points, not in bytes. */
export const TEXTS: Readonly<Record<string, LibraryFunction>> = {
  lower: {
    usage: 'lower(text)',
    description: 'A text in small letters.',
    arity: [1, 1],
    call: ([text]) => changed(text, (value) => value.toLowerCase()),
  },
  upper: {
    usage: 'upper(text)',
    description: 'A text in capital letters.',
    arity: [1, 1],
    call: ([text]) => changed(text, (value) => value.toUpperCase()),
  },
  trim: {
    usage: 'trim(text[, characters])',
    description: 'A text without white space, or without these characters, at both ends.',
    arity: [1, 2],
    call: ([text, characters]) =>
      changed(text, (value) =>
        characters === undefined ? value.trim() : trimmed(value, textOf(characters)),
      ),
  },
  substr: {
    usage: 'substr(text, start[, length])',
    description: 'A part of a text; start counts from 0, below 0 from the end.',
    arity: [2, 3],
    call: ([text, start, length]) => changed(text, (value) => part(value, start, length)),
  },
  split: {
    usage: 'split(text, delimiter[, part])',
    description:
      'The parts of a text as a list, or one of them: 0 is the first, -1 the last; null when it has not as many.',
    arity: [2, 3],
    call: ([text, delimiter, index]) => splitText(text, textOf(delimiter), index),
  },
  replace: {
    usage: 'replace(text, search, replacement)',
    description: 'A text with every occurrence of another replaced.',
    arity: [3, 3],
    call: ([text, search, replacement]) =>
      changed(text, (value) =>
        textOf(search) === '' ? value : value.replaceAll(textOf(search), () => textOf(replacement)),
      ),
  },
  match: {
    usage: 'match(text, expression)',
    description:
      'What the group of a regular expression holds, or all that it finds where it has none; null where it finds nothing.',
    arity: [2, 2],
    call: ([text, expression]) =>
      text === null || text === undefined ? null : (patternOf(expression).capture(textOf(text)) ?? null),
  },
  length: {
    usage: 'length(value)',
    description: 'The number of characters of a text, or of items of a list or an object.',
    arity: [1, 1],
    call: ([value]) => lengthOf(value),
  },
  base64_decode: {
    usage: 'base64_decode(text)',
    description: 'The text in UTF-8 that a Base64 stands for.',
    arity: [1, 1],
    call: ([text]) => changed(text, (value) => Buffer.from(value, 'base64').toString('utf8')),
  },
};

function changed(text: Argument | undefined, change: (value: string) => string): Json {
  return text === null || text === undefined ? null : change(textOf(text));
}

function trimmed(text: string, characters: string): string {
  const chars = new Set(characters);
  const letters = Array.from(text);
  let [from, to] = [0, letters.length];
  while (from < to && chars.has(letters[from] ?? '')) from++;
  while (to > from && chars.has(letters[to - 1] ?? '')) to--;
  return letters.slice(from, to).join('');
}

function part(text: string, start: Argument | undefined, length: Argument | undefined): string {
  const letters = Array.from(text);
  const first = Number(integerOf(start));
  const from = first < 0 ? Math.max(0, letters.length + first) : first;
  if (length === undefined || length === null) return letters.slice(from).join('');
  const count = Number(integerOf(length));
  return letters.slice(from, count < 0 ? Math.max(from, letters.length + count) : from + count).join('');
}

function splitText(text: Argument | undefined, delimiter: string, index: Argument | undefined): Json {
  if (text === null || text === undefined) return null;
  if (delimiter === '') throw new CallError('the delimiter is empty', 'Take substr for a part by its place.');
  const parts = textOf(text).split(delimiter);
  return index === undefined || index === null ? parts : (parts.at(Number(integerOf(index))) ?? null);
}

function lengthOf(value: Argument | undefined): Json {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return value.length;
  if (isList(value)) return value.length;
  return isObject(value) ? sizeOf(value) : Array.from(textOf(value)).length;
}

/** Expressions are written in configurations, so there are few. */
const patterns = new Map<string, Pattern>();
const MAX_PATTERNS = 1000;

function patternOf(expression: Argument | undefined): Pattern {
  const text = textOf(expression);
  let pattern = patterns.get(text);
  if (pattern === undefined) {
    pattern = compilePattern(text, '', (_at, message, hint) => new CallError(lowerFirst(message), hint));
    if (patterns.size < MAX_PATTERNS) patterns.set(text, pattern);
  }
  return pattern;
}

/** Lowers the first letter of a message that continues a sentence after “failed:”. */
function lowerFirst(message: string): string {
  return (message.charAt(0).toLowerCase() + message.slice(1)).replace(/\.$/, '');
}
