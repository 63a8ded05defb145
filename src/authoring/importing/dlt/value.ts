import type { PythonFile, PythonNode } from '../python/python-file.ts';

/** A value of a source as it is written: JSON, and what code stands for that is not run. */
export type Value =
  | null
  | boolean
  | number
  | string
  | readonly Value[]
  | ValueMap
  | Setting
  | TextParts
  | PythonCall
  | Code;

/** A dictionary. */
export class ValueMap {
  readonly entries: ReadonlyMap<string, Value>;
  /** Keys and unpacked maps that only code knows. */
  readonly open: readonly Code[];

  constructor(entries: Iterable<readonly [string, Value]>, open: readonly Code[] = []) {
    this.entries = new Map(entries);
    this.open = open;
  }

  get(key: string): Value | undefined {
    return this.entries.get(key);
  }
}

/** A value that is given from outside: a secret, a variable of the environment, a parameter of the function. */
export class Setting {
  readonly name: string;
  readonly isSecret: boolean;
  /** The variable of the environment that the code itself names. */
  readonly variable: string | undefined;

  constructor(name: string, isSecret: boolean, variable?: string) {
    this.name = name;
    this.isSecret = isSecret;
    this.variable = variable;
  }
}

/** A text with settings inside: `f"https://{host}/api"`. */
export class TextParts {
  readonly parts: readonly (string | Setting)[];

  constructor(parts: readonly (string | Setting)[]) {
    this.parts = parts;
  }
}

/** A call with its arguments: `BearerTokenAuth(token="…")`. */
export class PythonCall {
  /** Without its modules: `incremental` of `dlt.sources.incremental`. */
  readonly name: string;
  readonly args: readonly Value[];
  readonly keywords: ValueMap;
  readonly text: string;

  constructor(name: string, args: readonly Value[], keywords: ValueMap, text: string) {
    this.name = name;
    this.args = args;
    this.keywords = keywords;
    this.text = text;
  }
}

/** An expression that would have to be run. */
export class Code {
  readonly text: string;
  readonly line: number;

  constructor(text: string, line: number) {
    this.text = text;
    this.line = line;
  }
}

/** A function of the file, or a lambda. */
export class FunctionCode extends Code {
  readonly file: PythonFile;
  readonly node: PythonNode;
  /** Reads an expression inside of it. */
  readonly read: (node: PythonNode) => Value;

  constructor(code: Code, file: PythonFile, node: PythonNode, read: (node: PythonNode) => Value) {
    super(code.text, code.line);
    this.file = file;
    this.node = node;
    this.read = read;
  }
}

/** Deepest nesting of values in a source. */
export const MAX_DEPTH = 100;

/**
 * Converts JSON to values.
 *
 * @throws {RangeError} for JSON that is nested too deep
 */
export function valueOfJson(json: unknown, depth = 0): Value {
  if (depth > MAX_DEPTH) throw new RangeError('it is nested too deep');
  if (Array.isArray(json)) return json.map((item) => valueOfJson(item, depth + 1));
  if (typeof json === 'object' && json !== null)
    return new ValueMap(Object.entries(json).map(([key, item]) => [key, valueOfJson(item, depth + 1)]));
  if (typeof json === 'string' || typeof json === 'number' || typeof json === 'boolean') return json;
  return null;
}

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

/** Formats a value for the report. */
export function shownValue(value: Value | undefined): string {
  if (value instanceof Code || value instanceof PythonCall) return value.text;
  if (value instanceof Setting) return value.name;
  if (value instanceof TextParts)
    return value.parts.map((part) => (typeof part === 'string' ? part : `{${part.name}}`)).join('');
  if (value instanceof ValueMap)
    return `{${[...value.entries].map(([key, item]) => `${JSON.stringify(key)}: ${shownValue(item)}`).join(', ')}}`;
  if (isList(value)) return `[${value.map((item) => shownValue(item)).join(', ')}]`;
  return JSON.stringify(value ?? null);
}

/** A value of the configuration that is made: JSON. */
export type TranslatedValue =
  | string
  | number
  | boolean
  | null
  | readonly TranslatedValue[]
  | { readonly [key: string]: TranslatedValue };

/** Makes a call of a function of the configuration. */
export function call(name: string, ...args: readonly TranslatedValue[]): TranslatedValue {
  return { function: name, args };
}
