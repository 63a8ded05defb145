import { isIntegerLike, JsonMap, JsonNumber, type Json } from './value.ts';

/** Error at the place where a text stops being JSON. `offset` counts UTF-16 units from 0. */
export class JsonSyntaxError extends Error {
  readonly offset: number;
  readonly line: number;
  readonly column: number;

  constructor(reason: string, text: string, offset: number) {
    const before = text.slice(0, offset);
    let line = 1;
    for (let at = before.indexOf('\n'); at !== -1; at = before.indexOf('\n', at + 1)) line += 1;
    const column = offset - before.lastIndexOf('\n');
    super(`${reason} at line ${line}, column ${column}`);
    this.name = 'JsonSyntaxError';
    this.offset = offset;
    this.line = line;
    this.column = column;
  }
}

/** Deepest nesting that is accepted. */
export const MAX_DEPTH = 512;

/**
 * Parses JSON exactly: key order, every number literal, odd keys. Strict as RFC 8259.
 * Unpaired surrogate escapes become U+FFFD.
 *
 * @throws {JsonSyntaxError} with line and column.
 */
export function parseExact(text: string): Json {
  const parser = new ExactParser(text);
  return parser.document();
}

/** Parses a text as {@link parseExact} does; undefined when it is not JSON. */
export function jsonOf(text: string): Json | undefined {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

const WHITE = new Set([0x20, 0x09, 0x0a, 0x0d]);
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

class ExactParser {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Json {
    this.#skip();
    const value = this.#value();
    this.#skip();
    if (this.#at < this.#text.length) this.#fail('Unexpected text after the JSON value');
    return value;
  }

  #value(): Json {
    const char = this.#text.charAt(this.#at);
    if (char === '"') return this.#string();
    if (char === '{') return this.#object();
    if (char === '[') return this.#list();
    if (char === 't') return this.#word('true', true);
    if (char === 'f') return this.#word('false', false);
    if (char === 'n') return this.#word('null', null);
    return this.#number();
  }

  #object(): Json {
    this.#enter();
    const entries: [string, Json][] = [];
    let ordered = true;
    for (this.#skip(); this.#text.charAt(this.#at) !== '}'; this.#skip()) {
      if (entries.length > 0) {
        this.#expect(',');
        this.#skip();
      }
      if (this.#text.charAt(this.#at) !== '"') this.#fail('A property name in double quotes was expected');
      const key = this.#string();
      this.#skip();
      this.#expect(':');
      this.#skip();
      entries.push([key, this.#value()]);
      if (isIntegerLike(key)) ordered = false;
    }
    this.#leave();
    if (!ordered) return new JsonMap(entries);
    const object: Record<string, Json> = {};
    for (const [key, value] of entries) {
      if (key === '__proto__') {
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      } else object[key] = value;
    }
    return object;
  }

  #list(): Json {
    this.#enter();
    const list: Json[] = [];
    for (this.#skip(); this.#text.charAt(this.#at) !== ']'; this.#skip()) {
      if (list.length > 0) {
        this.#expect(',');
        this.#skip();
      }
      list.push(this.#value());
    }
    this.#leave();
    return list;
  }

  #string(): string {
    const start = ++this.#at;
    const text = this.#text;
    let out = '';
    let from = start;
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (code === 0x22) break;
      if (Number.isNaN(code)) this.#fail('The text ends inside a string');
      if (code < 0x20) this.#fail('A control character must be escaped in a string');
      if (code !== 0x5c) {
        this.#at++;
        continue;
      }
      out += text.slice(from, this.#at);
      const letter = text.charAt(this.#at + 1);
      if (letter === 'u') {
        out += String.fromCharCode(this.#hex(this.#at + 2));
        this.#at += 6;
      } else {
        const char = ESCAPES[letter];
        if (char === undefined) this.#fail('An unknown escape');
        out += char;
        this.#at += 2;
      }
      from = this.#at;
    }
    out += text.slice(from, this.#at);
    this.#at++;
    return out.toWellFormed();
  }

  #hex(at: number): number {
    const digits = this.#text.slice(at, at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail('Four hexadecimal digits were expected after \\u');
    return parseInt(digits, 16);
  }

  #number(): Json {
    NUMBER.lastIndex = this.#at;
    const literal = NUMBER.exec(this.#text)?.[0];
    if (literal === undefined)
      this.#fail(this.#at >= this.#text.length ? 'The text ends too early' : 'A JSON value was expected');
    this.#at += literal.length;
    return numberFrom(literal);
  }

  #word<T extends Json>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail('A JSON value was expected');
    this.#at += word.length;
    return value;
  }

  #expect(char: string): void {
    if (this.#text.charAt(this.#at) !== char) this.#fail(`“${char}” was expected`);
    this.#at++;
  }

  #enter(): void {
    this.#at++;
    if (++this.#depth > MAX_DEPTH) this.#fail(`More than ${MAX_DEPTH} levels of nesting`);
  }

  #leave(): void {
    this.#at++;
    this.#depth--;
  }

  #skip(): void {
    while (WHITE.has(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  #fail(reason: string): never {
    throw new JsonSyntaxError(reason, this.#text, this.#at);
  }
}

/**
 * Returns a plain number where a double keeps the literal's value and gives the reference's text, else a JsonNumber.
 */
export function numberFrom(literal: string): number | JsonNumber {
  if (/^-?\d{1,15}$/.test(literal) && literal !== '-0') return Number(literal);
  // From seven zeros on, the text of a double has an exponent.
  const isSmall = literal.startsWith('0.000000') || literal.startsWith('-0.000000');
  if (/^-?\d+\.\d*[1-9]$/.test(literal) && literal.length <= 14 && !isSmall) return Number(literal);
  return new JsonNumber(literal);
}
