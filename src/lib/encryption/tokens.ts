import { parseExact, toText, type Json } from '../json/index.ts';
import { isSecretKey } from './format.ts';

/** Text, number or boolean under a `#` key, at any depth below it, and its place in the JSON text. */
export interface SecretToken {
  readonly keys: readonly string[];
  readonly value: Json;
  /** Offsets in UTF-16 units; the quotes of a text are inside. */
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the secrets of a JSON text, in its order. An empty text and null are none.
 *
 * @param text JSON that the exact parser accepted
 */
export function secretTokens(text: string): readonly SecretToken[] {
  // most documents have none and are not scanned
  return /"(?:#|\\u0023)/.test(text) ? new Scanner(text).run() : [];
}

/** Replaces tokens of the text by other JSON; everything between them stays as it is. */
export function replaceTokens(
  text: string,
  replacements: readonly { readonly start: number; readonly end: number; readonly json: string }[],
): string {
  let out = '';
  let at = 0;
  for (const { start, end, json } of replacements) {
    out += text.slice(at, start) + json;
    at = end;
  }
  return out + text.slice(at);
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s,:[\]{}"]+/y;
const WHITE = /[ \t\r\n]*/y;

class Scanner {
  readonly #text: string;
  readonly #found: SecretToken[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): readonly SecretToken[] {
    if (this.#text.startsWith('\uFEFF')) this.#at = 1;
    this.#value([], false);
    return this.#found;
  }

  #value(keys: readonly string[], isSecret: boolean): void {
    const first = this.#next();
    if (first === '{') {
      this.#items('}', () => {
        const key = toText(parseExact(this.#token()));
        this.#next(); // the colon
        this.#at++;
        this.#value([...keys, key], isSecret || isSecretKey(key));
      });
    } else if (first === '[') {
      let index = 0;
      this.#items(']', () => this.#value([...keys, String(index++)], isSecret));
    } else {
      const start = this.#at;
      const token = this.#token();
      if (isSecret && token !== 'null' && token !== '""')
        this.#found.push({ keys, value: parseExact(token), start, end: this.#at });
    }
  }

  #items(close: string, item: () => void): void {
    this.#at++;
    while (this.#next() !== close) {
      if (this.#text[this.#at] === ',') {
        this.#at++;
        this.#next();
      }
      item();
    }
    this.#at++;
  }

  /** Skips white space and returns the character behind it. */
  #next(): string {
    WHITE.lastIndex = this.#at;
    WHITE.exec(this.#text);
    this.#at = WHITE.lastIndex;
    return this.#text.charAt(this.#at);
  }

  #token(): string {
    TOKEN.lastIndex = this.#at;
    const token = TOKEN.exec(this.#text)?.[0];
    if (token === undefined) throw new TypeError('The text is not JSON.');
    this.#at += token.length;
    return token;
  }
}
