import { isList, keysOf, objectOf, type Json } from '../../lib/json/index.ts';
import { broken } from './rows.ts';
import type { XmlSettings } from './format-settings.ts';

/** Maximum nesting of elements; no data of an API is nested deeper. */
const MOST_DEPTH = 200;

/** Maximum of elements beside the rows that are stored for the pagination: more would be rows that no setting names. */
const MOST_BESIDE = 100_000;

/** Characters of a text that may be in many pieces. */
const PIECES_LENGTH = 4096;

/** An element that is open. */
interface Frame {
  readonly name: string;
  /** Attributes and children, in order; a name that repeats has a list. */
  readonly entries: Map<string, Json>;
  readonly repeated: Set<string>;
  text: string;
  /** The end of the text, in the pieces in which it came. */
  pieces: string;
  /** True when there was text in a CDATA section, in which blanks count. */
  hasCdata: boolean;
  readonly isNil: boolean;
}

/** Builds the rows of a document, and the data beside them, while its tags arrive. */
export class XmlTree {
  readonly #settings: XmlSettings;
  /** The root's only kind of child, when no path was given. */
  #path: readonly string[] | undefined;
  readonly #isGiven: boolean;
  readonly #stack: Frame[] = [];
  /** Number of the open elements that are on the path, from the root on. */
  #onPath = 0;
  /** Depth of the open row. */
  #row: number | undefined;
  #rows: Json[] = [];
  #beside = 0;
  #root: Json = null;

  constructor(settings: XmlSettings, path: readonly string[] | undefined) {
    this.#settings = settings;
    this.#path = path;
    this.#isGiven = path !== undefined;
  }

  /** The document without its rows. */
  get envelope(): Json {
    return this.#root;
  }

  /** Returns the rows that were completed since the last call. */
  take(): readonly Json[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Readonly<Record<string, string>>, at: () => string): void {
    const depth = this.#stack.length;
    if (depth >= MOST_DEPTH) throw broken(`The XML of the response is nested too deeply. ${at()}.`);
    const own = this.#nameOf(name);
    if (!this.#isGiven && depth === 1) this.#settle(own);
    if (this.#onPath === depth && this.#path?.[depth] === own) this.#onPath++;
    if (this.#row === undefined && this.#onPath === depth + 1 && this.#path?.length === depth + 1)
      this.#row = depth;
    if (this.#row === undefined && ++this.#beside > MOST_BESIDE) this.#tooMuch();
    const entries = new Map<string, Json>();
    let isNil = false;
    for (const [key, value] of Object.entries(attributes)) {
      if (key === 'xmlns' || key.startsWith('xmlns:')) continue;
      if (/^(?:[^:]+:)?nil$/.test(key) && key !== 'nil') isNil = value === 'true' || value === '1';
      else entries.set(`@${this.#nameOf(key)}`, value);
    }
    this.#stack.push({
      name: own,
      entries,
      repeated: new Set(),
      text: '',
      pieces: '',
      hasCdata: false,
      isNil,
    });
  }

  text(text: string, isCdata: boolean): void {
    const frame = this.#stack.at(-1);
    if (frame === undefined) return;
    frame.pieces += text;
    if (frame.pieces.length >= PIECES_LENGTH) {
      frame.text += inOnePiece(frame.pieces);
      frame.pieces = '';
    }
    if (isCdata) frame.hasCdata = true;
  }

  close(): void {
    const frame = this.#stack.pop();
    if (frame === undefined) return;
    const depth = this.#stack.length;
    const value = this.#valueOf(frame);
    if (this.#onPath > depth) this.#onPath = depth;
    if (this.#row === depth) {
      this.#row = undefined;
      this.#rows.push(value);
      return;
    }
    const parent = this.#stack.at(-1);
    if (parent === undefined) this.#root = objectOf([[frame.name, value]]);
    else put(parent, frame.name, value);
  }

  /** Describes the content of a document without rows. */
  describe(): string {
    const names = this.#root !== null && typeof this.#root === 'object' ? namesIn(this.#root, '', 2) : [];
    return names.length === 0
      ? 'It is empty.'
      : `It has ${names
          .slice(0, 20)
          .map((name) => `“${name}”`)
          .join(', ')}.`;
  }

  #nameOf(name: string): string {
    return this.#settings.namespaces === 'remove' ? name.slice(name.indexOf(':') + 1) : name;
  }

  #valueOf({ entries, text: beginning, pieces, hasCdata, isNil }: Frame): Json {
    const text = beginning + pieces;
    const isBlank = text.trim() === '' && !hasCdata;
    if (entries.size === 0) {
      if (isNil || isBlank) return null;
      return this.#settings.leaves === 'texts' ? text : { '#text': text };
    }
    const own = [...entries];
    if (!isBlank) own.push(['#text', text]);
    return objectOf(own);
  }

  /** Sets the path when none is given: the rows are the children of the root, which must all have one name. */
  #settle(name: string): void {
    const root = this.#stack[0]?.name ?? '';
    const known = this.#path?.[1];
    if (known === undefined) {
      this.#path = [root, name];
      this.#onPath = 1;
    } else if (known !== name) {
      throw broken(
        `The XML of the response has more than one kind of element below “${root}”: “${known}”, “${name}”.`,
        `Set “dataField” of the job to the path of the rows from the root on, such as "${root}.${name}".`,
      );
    }
  }

  #tooMuch(): never {
    throw broken(
      'The XML of the response has very many elements that are no rows.',
      'Set “dataField” of the job to the path of the rows from the root on.',
    );
  }
}

/**
 * Copies a text that was put together from many pieces. The runtime keeps the pieces: the line breaks between the rows of
 * a large document would take 32 bytes each.
 */
function inOnePiece(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

function put({ entries, repeated }: Frame, name: string, value: Json): void {
  const before = entries.get(name);
  if (before === undefined) entries.set(name, value);
  else if (repeated.has(name) && isList(before)) (before as Json[]).push(value); // made here, two lines below
  else {
    repeated.add(name);
    entries.set(name, [before, value]);
  }
}

function namesIn(value: Json, above: string, depth: number): string[] {
  if (depth < 0 || value === null || typeof value !== 'object' || isList(value)) return [];
  const own = value as { readonly [key: string]: Json }; // an element is an object
  return keysOf(own).flatMap((key) => {
    if (key.startsWith('@') || key === '#text') return [];
    const path = above === '' ? key : `${above}.${key}`;
    const inner = namesIn(own[key] ?? null, path, depth - 1);
    return inner.length === 0 ? [path] : inner;
  });
}
