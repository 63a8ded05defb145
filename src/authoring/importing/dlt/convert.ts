import { children } from '../python/nodes.ts';
import { Untaken } from './findings.ts';
import { call, FunctionCode, type TranslatedValue, type Value } from './value.ts';

/** A value of a cursor, as a function of the source makes another one of it. */
export type Convert = (value: TranslatedValue) => TranslatedValue;

/** Expressions over `§`, the value of the cursor, with what they are here. */
const FORMS: readonly (readonly [RegExp, (value: TranslatedValue, ...parts: string[]) => TranslatedValue])[] =
  [
    [/^§$/, (value) => value],
    [/^str\(§\)$/, (value) => call('python_text', value)],
    [/^§\[:(\d+)\]$/, (value, end) => call('substr', value, 0, Number(end))],
    [/^§\.split\((["'])([^"'\\]+)\1\)\[0\]$/, (value, _quote, sign = '') => call('split', value, sign, 0)],
    [
      /^§\.replace\((["'])([^"'\\]+)\1, ?(["'])([^"'\\]*)\3\)$/,
      (value, _quote, search = '', _other, by = '') => call('replace', value, search, by),
    ],
    [
      /^f(["'])([^"'\\{}]*)\{§\}([^"'\\{}]*)\1$/,
      (value, _quote, before = '', behind = '') => call('concat', before, call('python_text', value), behind),
    ],
    [
      /^pendulum\.from_timestamp\((?:int\()?§\)?\)\.to_date_string\(\)$/,
      (value) => call('date', 'Y-m-d', value),
    ],
    [
      /^pendulum\.from_timestamp\((?:int\()?§\)?\)\.to_datetime_string\(\)$/,
      (value) => call('date', 'Y-m-d H:i:s', value),
    ],
    [
      /^(?:ensure_pendulum_datetime|pendulum\.parse)\(§\)\.int_timestamp$/,
      (value) => call('strtotime', value),
    ],
  ];

/** Forms for whole numbers, which are sent as they are. */
const OF_NUMBERS: typeof FORMS = [
  [/^int\(§\)$/, (value) => value],
  [/^§ ?\+ ?(\d+)$/, (value, more) => call('add', value, Number(more))],
  [/^§ ?- ?(\d+)$/, (value, less) => call('subtract', value, Number(less))],
];

/**
 * Returns what a function of `convert` does with a value.
 *
 * @param first the beginning, which says of what kind the values are
 * @throws {Untaken} for a function that is not understood
 */
export function convertOf(code: Value, first: TranslatedValue | undefined): Convert {
  if (first === undefined)
    throw new Untaken('a function that changes the value, which may be given none in the first run', code);
  const text = code instanceof FunctionCode ? expressionOf(code) : undefined;
  const forms = typeof first === 'number' && Number.isInteger(first) ? [...FORMS, ...OF_NUMBERS] : FORMS;
  for (const [form, make] of text === undefined ? [] : forms) {
    const found = form.exec(text ?? '');
    if (found !== null) return (value) => make(value, ...found.slice(1));
  }
  throw new Untaken('a function that changes the value, which is Python code', code);
}

/** Returns the expression that a function gives, with `§` for its parameter; undefined for other functions. */
function expressionOf({ file, node }: FunctionCode): string | undefined {
  const list = children(node).find(({ name }) => name === 'ParamList');
  const names = (list === undefined ? [] : children(list)).filter(({ name }) => name === 'VariableName');
  const [parameter] = names;
  if (parameter === undefined || names.length > 1) return undefined;
  const [, statement, ...others] =
    node.name === 'LambdaExpression' ? [] : children(children(node).at(-1) ?? node);
  const body =
    node.name === 'LambdaExpression'
      ? node.lastChild
      : statement?.name === 'ReturnStatement' && others.length === 0
        ? statement.lastChild
        : null;
  if (body === null) return undefined;
  const name = file.text(parameter);
  const inText = new RegExp(String.raw`\{${name}\}`, 'g');
  // texts stay as they are, but for what stands in braces after f
  return file
    .oneLine(body)
    .replaceAll(new RegExp(String.raw`f?(["'])(?:\\.|(?!\1).)*\1|\b${name}\b`, 'g'), (found) =>
      found === name ? '§' : found.startsWith('f') ? found.replaceAll(inText, '{§}') : found,
    );
}
