/** A value of Python; `undefined` is what the template language has for a name without one. */
export type PythonValue =
  | null
  | undefined
  | boolean
  | number
  | string
  | Float
  | readonly PythonValue[]
  | { readonly [key: string]: PythonValue };

/** A number that is written with its fraction, also where it has none: `10 / 2` is `5.0`. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** Tells whether a value is a list; `Array.isArray` would lose the type of its items. */
export function isItems(value: PythonValue): value is readonly PythonValue[] {
  return Array.isArray(value);
}

export function isMapping(value: PythonValue): value is { readonly [key: string]: PythonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Float);
}

/**
 * Reads a rendered text as the runtime of templates does: the form of a number, a list, a map, a text in quotes,
 * `True`, `False` or `None` is that value; anything else stays the text.
 */
export function literalOf(text: string): PythonValue {
  // most texts begin as no literal does, and an error for each takes long
  if (!/^\s*(?:[-+[({"'.\d]|(?:True|False|None)\b)/.test(text)) return text;
  const reader = new Reader(text.trimStart().length === text.length ? text : text.replace(/^[ \t]+/, ''));
  try {
    const value = reader.value(0);
    return reader.isAtEnd() ? value : text;
  } catch {
    return text;
  }
}

/** Reads values behind each other, with commas between them and no brackets around: `1, 2`; undefined for other texts. */
export function tupleOf(text: string): readonly PythonValue[] | undefined {
  if (!text.includes(',')) return undefined;
  const value = literalOf(`(${text.trim()}\n)`);
  return isItems(value) && !isItems(literalOf(text)) ? value : undefined;
}

/** Converts a value to text, as the template language writes it. */
export function pythonText(value: PythonValue): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : repr(value);
}

/** Converts a value to JSON in ASCII, with blanks behind commas and colons. */
export function jsonText(value: PythonValue): string {
  if (value instanceof Float) return floatText(value.value);
  if (typeof value === 'string')
    return JSON.stringify(value).replaceAll(
      /[\u0080-\uffff]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  if (isItems(value)) return `[${value.map(jsonText).join(', ')}]`;
  if (isMapping(value)) {
    const entries = Object.entries(value).map(([key, item]) => `${jsonText(key)}: ${jsonText(item)}`);
    return `{${entries.join(', ')}}`;
  }
  return JSON.stringify(value ?? null);
}

function repr(value: PythonValue): string {
  if (value === undefined) return 'Undefined';
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  if (value instanceof Float) return floatText(value.value);
  if (typeof value === 'string') return quoted(value);
  if (isMapping(value)) {
    const entries = Object.entries(value).map(([key, item]) => `${quoted(key)}: ${repr(item)}`);
    return `{${entries.join(', ')}}`;
  }
  return `[${value.map(repr).join(', ')}]`;
}

/** Writes a text in quotes. */
export function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('\r', '\\r');
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}

/** Writes a number with its fraction, in the fewest digits that give it back. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) return Number.isInteger(value) ? `${value}.0` : String(value);
  // at least two digits in the exponent
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};

/** Returns how long an escape is, without its backslash, and what it stands for: itself, where it is none. */
function escapeAt(text: string, at: number): readonly [number, string] {
  const code = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/.exec(text.slice(at, at + 9));
  if (code !== null)
    return [code[0].length, String.fromCodePoint(parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16))];
  const octal = /^[0-7]{1,3}/.exec(text.slice(at, at + 3))?.[0];
  if (octal !== undefined) return [octal.length, String.fromCodePoint(parseInt(octal, 8))];
  const char = text[at] ?? '';
  if ('xuU'.includes(char) && char !== '') throw new SyntaxError('an escape that is cut off');
  return [1, ESCAPES[char] ?? `\\${char}`];
}

/** Literals as Python's `ast.literal_eval` takes them; it throws for all else. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    this.#space();
    return this.#at === this.#text.length;
  }

  value(depth: number): PythonValue {
    if (depth > 50) throw new SyntaxError('too deep');
    this.#space();
    const char = this.#text[this.#at] ?? '';
    if (char === '[') return this.#items(']', depth);
    if (char === '(') return this.#items(')', depth);
    if (char === '{') return this.#map(depth);
    if (char === '"' || char === "'") return this.#texts(depth);
    const rest = this.#text.slice(this.#at);
    const word = /^(?:True|False|None)\b/.exec(rest)?.[0];
    if (word !== undefined) {
      this.#at += word.length;
      return word === 'None' ? null : word === 'True';
    }
    return this.#number(rest);
  }

  #number(rest: string): PythonValue {
    const found =
      /^[+-]?\s*(?:0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d(?:_?\d)*)?\.?(?:\d(?:_?\d)*)?(?:[eE][+-]?\d+)?)/.exec(
        rest,
      )?.[0] ?? '';
    const digits = found.replaceAll(/[\s_]/g, '');
    if (!/\d/.test(digits)) throw new SyntaxError('no literal');
    const bare = digits.replace(/^[+-]/, '');
    const isFloat = /^[\d.]/.test(bare) && /[.eE]/.test(bare) && !/^0[xX]/.test(bare);
    if (!isFloat && /^0\d/.test(bare) && /[1-9]/.test(bare)) throw new SyntaxError('leading zeros');
    const sign = digits.startsWith('-') ? -1 : 1;
    const value = sign * Number(bare);
    if (Number.isNaN(value)) throw new SyntaxError('no number');
    if (!isFloat && !Number.isSafeInteger(value)) throw new SyntaxError('too large to stay exact');
    this.#at += found.length;
    return isFloat ? new Float(value) : value;
  }

  #items(close: string, depth: number): PythonValue {
    this.#at++;
    const items: PythonValue[] = [];
    let commas = 0;
    for (;;) {
      this.#space();
      if (this.#take(close)) break;
      items.push(this.value(depth + 1));
      this.#space();
      if (this.#take(',')) commas++;
      else if (this.#take(close)) break;
      else throw new SyntaxError('no list');
    }
    // (1) is 1, and not a list of it
    return close === ')' && items.length === 1 && commas === 0 ? items[0] : items;
  }

  #map(depth: number): PythonValue {
    this.#at++;
    const entries: [string, PythonValue][] = [];
    for (;;) {
      this.#space();
      if (this.#take('}')) break;
      const key = this.value(depth + 1);
      this.#space();
      if (typeof key !== 'string' || !this.#take(':')) throw new SyntaxError('no map of texts');
      entries.push([key, this.value(depth + 1)]);
      this.#space();
      if (!this.#take(',') && this.#text[this.#at] !== '}') throw new SyntaxError('no map');
    }
    return Object.fromEntries(entries);
  }

  /** Reads texts side by side, which are one; on several lines they are so inside of brackets alone. */
  #texts(depth: number): string {
    let text = '';
    for (;;) {
      const char = this.#text[this.#at] ?? '';
      if (char !== '"' && char !== "'") return text;
      text += this.#quoted(char);
      const end = this.#at;
      this.#space();
      if (depth === 0 && this.#text.slice(end, this.#at).includes('\n')) return text;
    }
  }

  #quoted(quote: string): string {
    const triple = quote.repeat(3);
    const close = this.#text.startsWith(triple, this.#at) ? triple : quote;
    let at = this.#at + close.length;
    let text = '';
    for (; at < this.#text.length; at++) {
      if (this.#text.startsWith(close, at)) {
        this.#at = at + close.length;
        return text;
      }
      const char = this.#text[at] ?? '';
      if (char === '\n' && close.length === 1) throw new SyntaxError('a line break in a text');
      if (char !== '\\') text += char;
      else {
        const [found, meant] = escapeAt(this.#text, at + 1);
        text += meant;
        at += found;
      }
    }
    throw new SyntaxError('a text is not closed');
  }

  #take(sign: string): boolean {
    if (this.#text[this.#at] !== sign) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    // a comment counts as white space
    const blank = /(?:\s|#[^\n]*)*/y;
    blank.lastIndex = this.#at;
    this.#at += blank.exec(this.#text)?.[0].length ?? 0;
  }
}
