import {
  getKey,
  isList,
  isNumber,
  isObject,
  isScalar,
  toText,
  encodeExact,
  entriesOf,
  type AnyObject,
  type Json,
  type Path,
} from '../../lib/json/index.ts';
import { ID_NAMES } from './row-digest.ts';

/** Ids of rows that are remembered: those of at least so many rows back, and of twice as many at most. */
const GENERATION = 32_768;

/** Rows at each end of a page whose values are remembered, too. */
const SAMPLES = 4;

/** Facts about the rows of a page. */
export interface RowsFacts {
  readonly rows: number;
  /** Rows whose id came with an earlier page. */
  readonly known: number;
  /** Tells whether rows with known ids are the same rows: an id may belong to an object that has a row for each day. */
  readonly are: 'same' | 'others' | 'unknown';
  /** The page that the first of them came with. */
  readonly from: number | undefined;
  /** All rows have ids, and those are of one earlier page. */
  readonly isPage: number | undefined;
  /** All of its rows that are remembered by their values, or by a primary key, are the same. */
  readonly isSure: boolean;
  /** True if the difference between the first and the last row was the same on that page, too. */
  readonly isAlike: boolean;
  /** Difference between the first and the last row, without values that all rows share; absent when there is none. */
  readonly mask: string | undefined;
}

/**
 * Notices rows that come again, by their ids. Memory is bounded: ids of the last rows only, in two generations. An id
 * that comes twice in one page is no identity of a row, and ends the noticing.
 */
export class Identity {
  readonly #key: readonly Path[];
  #name: string | undefined;
  #isOff = false;
  #young = new Generation();
  #old = new Generation();
  /** Range of the numbers among the ids so far. */
  #lowest = Number.POSITIVE_INFINITY;
  #highest = Number.NEGATIVE_INFINITY;
  /** Digests of the masks of pages, and of some rows. */
  readonly #masks = new Map<number, number>();
  readonly #samples = new Map<number | string, number>();

  /** @param key where the parts of the primary key are in a row; empty where none is known */
  constructor(key: readonly Path[] = []) {
    this.#key = key;
  }

  /** True when every row so far had an id of its own. */
  get isKnown(): boolean {
    return (this.#name !== undefined || this.#key.length > 0) && !this.#isOff;
  }

  page(page: number): PageIdentity {
    return new PageIdentity(
      page,
      (row, noted) => this.#seen(row, page, noted),
      (seen) => this.#facts(page, seen),
    );
  }

  #facts(page: number, { rows, noted, head, tail }: Seen): RowsFacts {
    const { known, same, others, from, isMixed } = noted;
    const mask = maskOf(head[0], tail.at(-1));
    const digest = mask === undefined ? 0 : textDigest(mask);
    const isPage = known > 0 && known === rows && !isMixed ? from : undefined;
    const isAlike = isPage !== undefined && this.#masks.get(isPage) === digest;
    if (this.#masks.size < GENERATION) this.#masks.set(page, digest);
    if (!this.#isOff && this.#key.length === 0) this.#sample([...head, ...tail]);
    const are =
      this.#key.length > 0 || same > 0 ? 'same' : others > 0 ? ('others' as const) : ('unknown' as const);
    const isSure = this.#key.length > 0 || (same > 0 && others === 0);
    return { rows, known, are, from, isPage, isAlike, isSure, mask };
  }

  #sample(rows: readonly Json[]): void {
    if (this.#samples.size >= GENERATION) this.#samples.clear();
    for (const row of rows) {
      const id = this.#idOf(row);
      if (id !== undefined) this.#samples.set(id, rowDigest(row));
    }
  }

  #seen(row: Json, page: number, noted: Noted): void {
    if (this.#isOff) return;
    const id = this.#key.length > 0 ? this.#keyOf(row) : this.#idOf(row);
    if (id === undefined) {
      this.#off();
      return;
    }
    const before = this.#isBeyond(id) ? undefined : (this.#young.get(id) ?? this.#old.get(id));
    if (before === page) {
      this.#off();
      return;
    }
    if (before !== undefined) {
      noted.known++;
      const sample = this.#samples.get(id);
      if (sample !== undefined) noted[sample === rowDigest(row) ? 'same' : 'others']++;
      noted.from ??= before;
      if (noted.from !== before) noted.isMixed = true;
    }
    this.#young.add(id, page);
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
  }

  /**
   * Tells whether an id is beyond all earlier ones, and so new without a search: in most lists ids only rise, or only
   * fall.
   */
  #isBeyond(id: number | string): boolean {
    if (typeof id !== 'number') return false;
    const isBeyond = id > this.#highest || id < this.#lowest;
    if (id > this.#highest) this.#highest = id;
    if (id < this.#lowest) this.#lowest = id;
    return isBeyond;
  }

  #keyOf(row: Json): number | string | undefined {
    const parts = this.#key.map((path) => path.find(row));
    const [first] = parts;
    if (parts.length === 1 && typeof first === 'number') return first;
    return parts.every(isScalar) ? parts.map(toText).join('\u0000') : undefined;
  }

  #idOf(row: Json): number | string | undefined {
    if (!isObject(row)) return undefined;
    const holder = holderOf(row);
    this.#name ??= ID_NAMES.find((name) => isScalar(getKey(holder, name)));
    if (this.#name === undefined) return undefined;
    return idAt(holder, this.#name);
  }

  #off(): void {
    this.#isOff = true;
    this.#young = new Generation();
    this.#old = new Generation();
    this.#masks.clear();
    this.#samples.clear();
  }
}

/** Returns the id of a row by the usual names. */
export function idOf(row: Json): number | string | undefined {
  if (!isObject(row)) return undefined;
  const holder = holderOf(row);
  const name = ID_NAMES.find((each) => isScalar(getKey(holder, each)));
  return name === undefined ? undefined : idAt(holder, name);
}

function idAt(holder: AnyObject, name: string): number | string | undefined {
  const id = getKey(holder, name);
  if (typeof id !== 'string' && !isNumber(id)) return undefined;
  // things of several types may share their numbers
  const type = getKey(holder, 'type');
  if (typeof type === 'string') return `${type} ${toText(id)}`;
  return typeof id === 'number' ? id : toText(id);
}

/** Returns the object with the fields of a row: in GraphQL it is the `node` of an edge. */
function holderOf(row: AnyObject): AnyObject {
  const node = getKey(row, 'node');
  return isObject(node) ? node : row;
}

/** Computes a digest of the scalar values of a row. */
function rowDigest(row: Json): number {
  if (!isObject(row)) return 0;
  let digest = 0;
  for (const [, value] of entriesOf(holderOf(row)))
    digest = Math.imul(digest, 31) + (isScalar(value) ? textDigest(toText(value)) : 1);
  return digest | 0;
}

/** Computes a digest of a text; of a long one only the beginning and the end count. */
function textDigest(text: string): number {
  const { length } = text;
  let digest = length;
  for (let i = 0; i < Math.min(length, 500); i++) digest = Math.imul(digest, 31) + text.charCodeAt(i);
  for (let i = Math.max(500, length - 500); i < length; i++)
    digest = Math.imul(digest, 31) + text.charCodeAt(i);
  return digest | 0;
}

/** Ids with the pages they came with. A table of them is made only when one is looked for. */
class Generation {
  readonly #ids: (number | string)[] = [];
  readonly #pages: number[] = [];
  readonly #table = new Map<number | string, number>();
  #tabled = 0;

  get size(): number {
    return this.#ids.length;
  }

  add(id: number | string, page: number): void {
    this.#ids.push(id);
    this.#pages.push(page);
  }

  /** The page that brought an id last. */
  get(id: number | string): number | undefined {
    for (let i = this.#tabled; i < this.#ids.length; i++) {
      const [known, page] = [this.#ids[i], this.#pages[i]];
      if (known !== undefined && page !== undefined) this.#table.set(known, page);
    }
    this.#tabled = this.#ids.length;
    return this.#table.get(id);
  }
}

interface Seen {
  readonly rows: number;
  readonly noted: Noted;
  readonly head: readonly Json[];
  readonly tail: readonly Json[];
}

interface Noted {
  known: number;
  /** Rows with the same values, among those whose values are remembered. */
  same: number;
  others: number;
  from: number | undefined;
  isMixed: boolean;
}

/** Takes the rows of one page as they are decoded, in order. */
export class PageIdentity {
  readonly page: number;
  readonly #see: (row: Json, noted: Noted) => void;
  readonly #tell: (seen: Seen) => RowsFacts;
  readonly #noted: Noted = { known: 0, same: 0, others: 0, from: undefined, isMixed: false };
  #rows = 0;
  readonly #head: Json[] = [];
  #tail: Json[] = [];

  constructor(page: number, see: (row: Json, noted: Noted) => void, tell: (seen: Seen) => RowsFacts) {
    this.page = page;
    this.#see = see;
    this.#tell = tell;
  }

  take(rows: readonly Json[]): void {
    for (const row of rows) this.#see(row, this.#noted);
    if (rows.length === 0) return;
    if (this.#head.length < SAMPLES) this.#head.push(...rows.slice(0, SAMPLES - this.#head.length));
    const tail = rows.slice(-SAMPLES);
    this.#tail = tail.length < SAMPLES ? [...this.#tail, ...tail].slice(-SAMPLES) : tail;
    this.#rows += rows.length;
  }

  facts(): RowsFacts {
    return this.#tell({ rows: this.#rows, noted: this.#noted, head: this.#head, tail: this.#tail });
  }
}

/**
 * Returns the difference between the first and the last row. A value that is the same in both, such as the time of the
 * answer, may change from answer to answer and is left out.
 */
function maskOf(first: Json | undefined, last: Json | undefined): string | undefined {
  if (!isObject(first) || !isObject(last)) return undefined;
  const different = entriesOf(first).flatMap(([name, value]) => {
    const other = getKey(last, name);
    if (other === undefined || value === other || isObject(value) || isList(value)) return [];
    const [a, b] = [encodeExact(value), encodeExact(other)];
    return a === b ? [] : [`${name} ${a} ${b}`];
  });
  return different.length === 0 ? undefined : different.join('\n');
}
