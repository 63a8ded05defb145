import { keysOfPath, type KeyPath } from './path.ts';

/** A place in a text; both count from 1, columns in UTF-16 units. */
export interface DocumentPosition {
  readonly line: number;
  readonly column: number;
}

/** Place of a property: of its name (absent for list items and the whole document) and of its value. */
export interface DocumentPlace {
  readonly key?: DocumentPosition;
  readonly value: DocumentPosition;
}

/** A key that an object has twice; the last value counts. */
export interface DuplicateKey {
  readonly path: KeyPath;
  readonly position: DocumentPosition;
}

/** Places of all values in a JSON text. */
export interface Positions {
  at(keys: KeyPath): DocumentPlace | undefined;
  /**
   * Returns the place of the value, or of the nearest one around it that exists. A text is a path such as `a.b[0].c`.
   */
  nearest(path: KeyPath | string): DocumentPlace;
  readonly duplicates: readonly DuplicateKey[];
}

/**
 * Maps each path of a JSON text to its line and column.
 *
 * @param text JSON that a parser accepted; for anything else the result is undefined in parts
 */
export function positionsOf(text: string): Positions {
  const scanner = new Scanner(text);
  scanner.value([], undefined);
  const { places, duplicates } = scanner;
  const at = (keys: KeyPath): DocumentPlace | undefined => places.get(idOf(keys));
  return {
    at,
    nearest(path) {
      const keys = typeof path === 'string' ? keysOfPath(path) : path;
      for (let length = keys.length; length > 0; length--) {
        const place = at(keys.slice(0, length));
        if (place !== undefined) return place;
      }
      return at([]) ?? { value: { line: 1, column: 1 } };
    },
    duplicates,
  };
}

/** Joins keys to a text that is unique to them. */
function idOf(keys: KeyPath): string {
  return JSON.stringify(keys);
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s,:[\]{}"]+/y;

class Scanner {
  readonly places = new Map<string, DocumentPlace>();
  readonly duplicates: DuplicateKey[] = [];
  readonly #text: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(keys: KeyPath, key: DocumentPosition | undefined): void {
    this.#skip();
    const value = this.#position();
    this.places.set(idOf(keys), key === undefined ? { value } : { key, value });
    const char = this.#text[this.#at];
    if (char === '{') this.#object(keys);
    else if (char === '[') this.#list(keys);
    else this.#token();
  }

  #object(keys: KeyPath): void {
    const seen = new Set<string>();
    for (this.#open(); this.#more('}'); this.#close(',')) {
      const position = this.#position();
      const name = nameOf(this.#token());
      const path = [...keys, name];
      if (seen.has(name)) {
        this.duplicates.push({ path, position });
        this.#forget(path);
      }
      seen.add(name);
      this.#skip();
      this.#close(':');
      this.value(path, position);
    }
    this.#close('}');
  }

  #list(keys: KeyPath): void {
    let index = 0;
    for (this.#open(); this.#more(']'); this.#close(',')) this.value([...keys, String(index++)], undefined);
    this.#close(']');
  }

  /** Forgets a place: of a key that occurs twice, the first value leaves nothing behind. */
  #forget(path: KeyPath): void {
    const prefix = `${idOf(path).slice(0, -1)},`;
    for (const id of this.places.keys()) if (id.startsWith(prefix)) this.places.delete(id);
  }

  #open(): void {
    this.#at++;
    this.#skip();
  }

  #more(end: string): boolean {
    this.#skip();
    return this.#at < this.#text.length && this.#text[this.#at] !== end;
  }

  #close(char: string): void {
    this.#skip();
    if (this.#text[this.#at] === char) this.#at++;
    this.#skip();
  }

  #token(): string {
    TOKEN.lastIndex = this.#at;
    const token = TOKEN.exec(this.#text)?.[0] ?? this.#text.slice(this.#at, this.#at + 1);
    this.#at += token.length;
    return token;
  }

  #skip(): void {
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x0a) {
        this.#line++;
        this.#lineStart = this.#at + 1;
      } else if (code !== 0x20 && code !== 0x09 && code !== 0x0d) return;
    }
  }

  #position(): DocumentPosition {
    return { line: this.#line, column: this.#at - this.#lineStart + 1 };
  }
}

/** Decodes the name in a quoted token; unpaired surrogates become U+FFFD, as in the exact parser. */
function nameOf(token: string): string {
  try {
    return String(JSON.parse(token)).toWellFormed();
  } catch {
    return token;
  }
}
