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
  scanner.value(scanner.root, undefined);
  const { root, duplicates } = scanner;
  const at = (keys: KeyPath): DocumentPlace | undefined => {
    let node: Node | undefined = root;
    for (const key of keys) node = node?.inner?.get(key);
    return node?.place;
  };
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

/** A value of the document, with those inside of it by their keys: a path that is written out for each would be long. */
interface Node {
  readonly above?: Node;
  readonly key: string;
  place?: DocumentPlace;
  inner?: Map<string, Node>;
}

/** A name without escapes. */
const PLAIN = /^"[\w.$-]*"$/;

const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s,:[\]{}"]+/y;

class Scanner {
  readonly root: Node = { key: '' };
  readonly duplicates: DuplicateKey[] = [];
  readonly #text: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(node: Node, key: DocumentPosition | undefined): void {
    this.#skip();
    const value = this.#position();
    node.place = key === undefined ? { value } : { key, value };
    const char = this.#text[this.#at];
    if (char === '{') this.#object(node);
    else if (char === '[') this.#list(node);
    else this.#token();
  }

  #object(node: Node): void {
    const inner = (node.inner = new Map<string, Node>());
    for (this.#open(); this.#more('}'); this.#close(',')) {
      const position = this.#position();
      const key = nameOf(this.#token());
      // of a key that occurs twice, the first value leaves nothing behind
      const found: Node = { above: node, key };
      if (inner.has(key)) this.duplicates.push({ path: pathOf(found), position });
      inner.set(key, found);
      this.#skip();
      this.#close(':');
      this.value(found, position);
    }
    this.#close('}');
  }

  #list(node: Node): void {
    const inner = (node.inner = new Map<string, Node>());
    for (this.#open(); this.#more(']'); this.#close(',')) {
      const found: Node = { above: node, key: String(inner.size) };
      inner.set(found.key, found);
      this.value(found, undefined);
    }
    this.#close(']');
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

function pathOf(node: Node): KeyPath {
  return node.above === undefined ? [] : [...pathOf(node.above), node.key];
}

/** Decodes the name in a quoted token; unpaired surrogates become U+FFFD, as in the exact parser. */
function nameOf(token: string): string {
  if (PLAIN.test(token)) return token.slice(1, -1);
  try {
    return String(JSON.parse(token)).toWellFormed();
  } catch {
    return token;
  }
}
