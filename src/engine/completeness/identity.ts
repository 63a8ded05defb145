import {
  getKey,
  isList,
  isNumber,
  isObject,
  isScalar,
  scalarsDigest,
  differenceDigest,
  differenceDigestOf,
  toText,
  encodeExact,
  keysOf,
  valueBetween,
  type AnyObject,
  type Json,
  type Path,
} from '../../lib/json/index.ts';
import type { SeenRows } from '../shared/seen-rows.ts';
import { ID_NAMES, wholeDigest } from './row-digest.ts';

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
  /** Returns the difference between the first and the last row, without values that all rows share; undefined when there is none. */
  readonly mask: () => string | undefined;
}

/**
 * Notices rows that come again, by their ids. Memory is bounded: ids of the last rows only, in two generations. An id
 * that comes twice in one page is no identity of a row: all of its values are from there on. Where those come twice in one
 * page, too, only pages that begin as the page before ended are noticed.
 */
export class Identity {
  readonly #key: readonly Path[];
  #name: string | undefined;
  /** Property that identifies a row; `border`: none does, and equal rows are normal, so pages are compared at their borders. */
  #by: 'id' | 'values' | 'border' | 'nothing' = 'id';
  #young = new Generation();
  #old = new Generation();
  /** Occurrences of the rows of the last page, by digest; only where pages are compared at their borders. */
  #counts = new Map<number, number>();
  #tailBefore: readonly number[] = [];
  #isOverlapSeen = false;
  /** Range of the numbers among the ids so far. */
  #lowest = Number.POSITIVE_INFINITY;
  #highest = Number.NEGATIVE_INFINITY;
  /** Digests of the masks of pages, and of some rows. */
  readonly #masks = new Map<number, number>();
  readonly #samples = new Map<number | string, number>();
  readonly #pages: KnownPages = {
    idsOf: (rows) => this.#idsOf(rows),
    see: (row, rows, page, noted) => this.#seen(row, rows, page, noted),
    facts: (page, seen) => this.#facts(page, seen),
    kept: () => this.#kept,
  };

  /** @param key where the parts of the primary key are in a row; empty where none is known */
  constructor(key: readonly Path[] = []) {
    this.#key = key;
  }

  /** True when every row so far had an id of its own. */
  get isKnown(): boolean {
    if (this.#by === 'nothing') return false;
    if (this.#by === 'border') return this.#isOverlapSeen;
    return this.#name !== undefined || this.#key.length > 0;
  }

  page(page: number): PageIdentity {
    return new PageIdentity(page, this.#pages);
  }

  /** Tells how much is kept of the rows at the ends of a page. */
  get #kept(): KeptRows {
    if (this.#by === 'border') return 'rows';
    return this.#by === 'id' && this.#key.length === 0 ? 'samples' : 'ends';
  }

  #facts(page: number, seen: Seen): RowsFacts {
    const { rows, noted, head, tail, samples } = seen;
    if (this.#by === 'border') return this.#border(page, seen);
    const { known, same, others, from, isMixed } = noted;
    const mask = (): string | undefined => maskOf(head[0], tail.at(-1));
    const digest = differenceOf(head[0], tail.at(-1));
    const isPage = known > 0 && known === rows && !isMixed ? from : undefined;
    const isAlike = isPage !== undefined && this.#masks.get(isPage) === digest;
    if (this.#masks.size < GENERATION) this.#masks.set(page, digest);
    if (this.#kept === 'samples') this.#sample(samples);
    const areSame = this.#key.length > 0 || this.#by === 'values';
    const are = areSame || same > 0 ? 'same' : others > 0 ? ('others' as const) : ('unknown' as const);
    const isSure = areSame || (same > 0 && others === 0);
    return { rows, known, are, from, isPage, isAlike, isSure, mask };
  }

  /** Rows in a row, each of which is once in both pages, at the end of one and the beginning of the next. */
  #border(page: number, { rows, head, tail, counts }: Seen): RowsFacts {
    const [begin, before] = [head.map((edge) => wholeDigest(rowOf(edge))), this.#tailBefore];
    const isOnce = (digest: number): boolean =>
      (counts.get(digest) ?? 1) === 1 && (this.#counts.get(digest) ?? 1) === 1;
    const isShared = (length: number): boolean =>
      before.length >= length &&
      begin.slice(0, length).every((digest, i) => digest === before.at(i - length) && isOnce(digest));
    const known = [4, 3, 2].find((length) => begin.length >= length && isShared(length)) ?? 0;
    this.#counts = counts;
    this.#tailBefore = tail.map((edge) => wholeDigest(rowOf(edge)));
    this.#isOverlapSeen ||= known > 0;
    const from = known > 0 ? page - 1 : undefined;
    const none = { isPage: undefined, isAlike: false, mask: () => maskOf(head[0], tail.at(-1)) };
    return { rows, known, are: known > 0 ? 'same' : 'unknown', from, isSure: known > 0, ...none };
  }

  #sample(samples: readonly Sample[]): void {
    if (this.#samples.size >= GENERATION) this.#samples.clear();
    for (const { id, digest } of samples) if (id !== undefined) this.#samples.set(id, digest);
  }

  /** Names of the properties that identify rows, as far as they are no parts of others. */
  wanted(): readonly string[] {
    if (this.#by !== 'id') return [];
    return this.#key.length > 0
      ? this.#key.flatMap(({ keys = [] }) => (keys.length === 1 ? keys : []))
      : [...(this.#name === undefined ? [] : [this.#name]), ...BESIDE_ID];
  }

  #seen(index: number, rows: RowIds, page: number, noted: Noted): void {
    if (this.#by === 'nothing' || this.#by === 'border') return;
    const id = this.#by === 'values' ? wholeDigest(rows.at(index)) : rows.id(index);
    if (id === undefined) {
      this.#goOnBy('nothing');
      return;
    }
    const isNew = this.#by === 'id' && this.#isBeyond(id);
    const before = isNew ? undefined : (this.#young.get(id) ?? this.#old.get(id));
    if (before === page) {
      const isTwin = this.#by === 'values' || this.#key.length > 0 || hasTwin(index, rows);
      this.#goOnBy(isTwin ? 'border' : 'values');
      return;
    }
    if (before !== undefined) {
      noted.known++;
      const sample = this.#samples.get(id);
      if (sample !== undefined) noted[sample === rows.digest(index) ? 'same' : 'others']++;
      noted.from ??= before;
      if (noted.from !== before) noted.isMixed = true;
    }
    this.#young.add(id, page);
    if (this.#young.size >= GENERATION) {
      [this.#old, this.#young] = [this.#young, this.#old];
      this.#young.clear();
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

  /** Returns the rows of a chunk, and a reader of what identifies them. */
  #idsOf(rows: SeenRows): RowIds {
    const { length } = rows;
    const at = (index: number): Json => rows.at(index);
    const digest = (index: number): number => rowDigest(rows.at(index));
    if (this.#key.length > 0) {
      const parts = this.#key.map(({ keys = [] }) =>
        keys.length === 1 ? rows.property(keys[0] ?? '') : undefined,
      );
      const read = parts.flatMap((part) => part ?? []);
      if (read.length < parts.length)
        return { length, at, digest, id: (index) => keyOf(this.#key.map((path) => path.find(at(index)))) };
      return { length, at, digest, id: (index) => keyOf(read.map((part) => part(index))) };
    }
    const [id, type, node] = [this.#name, ...BESIDE_ID].map((name) =>
      name === undefined ? undefined : rows.property(name),
    );
    if (id === undefined || type === undefined || node === undefined)
      return { length, at, digest, id: (index) => this.#idOf(at(index)) };
    return {
      length,
      at,
      digest: (index) => rows.digest?.(index) ?? digest(index),
      id: (index) => idWith(id(index), type(index)),
    };
  }

  #idOf(row: Json): number | string | undefined {
    if (!isObject(row)) return undefined;
    const holder = holderOf(row);
    this.#name ??= ID_NAMES.find((name) => isScalar(getKey(holder, name)));
    if (this.#name === undefined) return undefined;
    return idAt(holder, this.#name);
  }

  #goOnBy(what: 'values' | 'border' | 'nothing'): void {
    this.#by = what;
    this.#young = new Generation();
    this.#old = new Generation();
    this.#masks.clear();
    this.#samples.clear();
  }
}

/** Rows of a chunk, with what identifies them. */
interface RowIds extends Pick<SeenRows, 'length' | 'at'> {
  id(row: number): number | string | undefined;
  /** Digest of its scalar values. */
  digest(row: number): number;
}

/** Some rows at each end, digests of them beside the first and the last row, or these two alone. */
type KeptRows = 'rows' | 'samples' | 'ends';

/** A row whose values are remembered. */
interface Sample {
  readonly id: number | string | undefined;
  readonly digest: number;
}

/** Properties that tell, beside the id, what a row is. */
const BESIDE_ID = ['type', 'node'];

function keyOf(parts: readonly (Json | undefined)[]): number | string | undefined {
  const [first] = parts;
  if (parts.length === 1 && typeof first === 'number') return first;
  return parts.every(isScalar) ? parts.map(toText).join('\u0000') : undefined;
}

/** Returns the id of a row by the usual names. */
export function idOf(row: Json): number | string | undefined {
  if (!isObject(row)) return undefined;
  const holder = holderOf(row);
  const name = ID_NAMES.find((each) => isScalar(getKey(holder, each)));
  return name === undefined ? undefined : idAt(holder, name);
}

function idAt(holder: AnyObject, name: string): number | string | undefined {
  return idWith(getKey(holder, name), getKey(holder, 'type'));
}

function idWith(id: Json | undefined, type: Json | undefined): number | string | undefined {
  if (typeof id !== 'string' && !isNumber(id)) return undefined;
  // things of several types may share their numbers
  if (typeof type === 'string') return `${type} ${toText(id)}`;
  return typeof id === 'number' ? id : toText(id);
}

/** Checks whether a chunk has a second row with the same values. */
function hasTwin(row: number, rows: RowIds): boolean {
  const digest = wholeDigest(rows.at(row));
  for (let i = 0; i < rows.length; i++) if (i !== row && wholeDigest(rows.at(i)) === digest) return true;
  return false;
}

/** Returns the object with the fields of a row: in GraphQL it is the `node` of an edge. */
function holderOf(row: AnyObject): AnyObject {
  const node = getKey(row, 'node');
  return isObject(node) ? node : row;
}

/** Computes a digest of the scalar values of a row. */
function rowDigest(row: Json): number {
  return isObject(row) ? scalarsDigest(holderOf(row)) : 0;
}

/**
 * Ids with the pages they came with. A table of them is made only when one is looked for. The lists are used again, and
 * never shrink: those of new ones, which grow to a quarter of a megabyte, wait long for a collection.
 */
class Generation {
  readonly #ids: (number | string)[] = [];
  readonly #pages: number[] = [];
  readonly #table = new Map<number | string, number>();
  #tabled = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(id: number | string, page: number): void {
    this.#ids[this.#size] = id;
    this.#pages[this.#size++] = page;
  }

  clear(): void {
    this.#table.clear();
    this.#tabled = 0;
    this.#size = 0;
  }

  /** The page that brought an id last. */
  get(id: number | string): number | undefined {
    for (let i = this.#tabled; i < this.#size; i++) {
      const [known, page] = [this.#ids[i], this.#pages[i]];
      if (known !== undefined && page !== undefined) this.#table.set(known, page);
    }
    this.#tabled = this.#size;
    return this.#table.get(id);
  }
}

/** A row at an end of a page: decoded, or its JSON. */
type Edge = Json | Uint8Array;

function edgeAt(rows: SeenRows, row: number): Edge {
  return rows.json?.(row) ?? rows.at(row);
}

function rowOf(edge: Edge): Json {
  return edge instanceof Uint8Array ? valueBetween(edge, 0, edge.length) : edge;
}

interface Seen {
  readonly rows: number;
  readonly noted: Noted;
  /** Rows at the ends: several where pages are compared at their borders, else the first and the last. */
  readonly head: readonly Edge[];
  readonly tail: readonly Edge[];
  readonly samples: readonly Sample[];
  /** Occurrences of the rows, by digest; only where pages are compared at their borders. */
  readonly counts: Map<number, number>;
}

interface Noted {
  known: number;
  /** Rows with the same values, among those whose values are remembered. */
  same: number;
  others: number;
  from: number | undefined;
  isMixed: boolean;
}

/** Rows of a page that are counted. */
const MOST_COUNTED = 10_000;
const NO_COUNTS = new Map<number, number>();

/** Questions of a page to all that is known of rows. */
interface KnownPages {
  idsOf(rows: SeenRows): RowIds;
  see(row: number, rows: RowIds, page: number, noted: Noted): void;
  facts(page: number, seen: Seen): RowsFacts;
  kept(): KeptRows;
}

/** Takes the rows of one page as they are decoded, in order. */
export class PageIdentity {
  readonly page: number;
  readonly #known: KnownPages;
  readonly #noted: Noted = { known: 0, same: 0, others: 0, from: undefined, isMixed: false };
  #counts = NO_COUNTS;
  #rows = 0;
  readonly #head: Edge[] = [];
  #tail: Edge[] = [];
  readonly #first: Sample[] = [];
  #last: Sample[] = [];

  constructor(page: number, known: KnownPages) {
    this.page = page;
    this.#known = known;
  }

  take(rows: SeenRows): void {
    const { length } = rows;
    if (length === 0) return;
    const ids = this.#known.idsOf(rows);
    for (let i = 0; i < length; i++) this.#known.see(i, ids, this.page, this.#noted);
    const kept = this.#known.kept();
    if (kept === 'rows') this.#count(rows);
    const most = kept === 'rows' ? SAMPLES : 1;
    for (let i = 0; i < length && this.#head.length < most; i++) this.#head.push(edgeAt(rows, i));
    for (let i = Math.max(0, length - most); i < length; i++) this.#tail.push(edgeAt(rows, i));
    this.#tail = this.#tail.slice(-most);
    this.#rows += length;
    if (kept !== 'samples') return;
    const sample = (i: number): Sample => ({ id: ids.id(i), digest: ids.digest(i) });
    for (let i = 0; i < length && this.#first.length < SAMPLES; i++) this.#first.push(sample(i));
    for (let i = Math.max(0, length - SAMPLES); i < length; i++) this.#last.push(sample(i));
    this.#last = this.#last.slice(-SAMPLES);
  }

  #count(rows: SeenRows): void {
    for (let i = 0; i < rows.length && this.#counts.size < MOST_COUNTED; i++) {
      const digest = wholeDigest(rows.at(i));
      if (this.#counts === NO_COUNTS) this.#counts = new Map();
      this.#counts.set(digest, (this.#counts.get(digest) ?? 0) + 1);
    }
  }

  facts(): RowsFacts {
    return this.#known.facts(this.page, {
      rows: this.#rows,
      noted: this.#noted,
      head: this.#head,
      tail: this.#tail,
      samples: [...this.#first, ...this.#last],
      counts: this.#counts,
    });
  }
}

/**
 * Returns the difference between the first and the last row. A value that is the same in both, such as the time of the
 * answer, may change from answer to answer and is left out.
 */
function maskOf(first: Edge | undefined, last: Edge | undefined): string | undefined {
  if (first === undefined || last === undefined) return undefined;
  const [one, two] = [rowOf(first), rowOf(last)];
  if (!isObject(one) || !isObject(two)) return undefined;
  let different: string | undefined;
  for (const name of keysOf(one)) {
    const value = getKey(one, name) ?? null;
    const other = getKey(two, name);
    if (other === undefined || value === other || isObject(value) || isList(value)) continue;
    const a = encodeExact(value);
    const b = encodeExact(other);
    if (a !== b) different = `${different ?? ''}\n${name} ${a} ${b}`;
  }
  return different;
}

/** Returns a digest of that difference, which need not be written down for it; 0 where there is none. */
function differenceOf(first: Edge | undefined, last: Edge | undefined): number {
  if (first === undefined || last === undefined) return 0;
  if (first instanceof Uint8Array && last instanceof Uint8Array) {
    const digest = differenceDigestOf(first, last);
    if (digest !== null) return digest ?? 0;
  }
  const [one, two] = [rowOf(first), rowOf(last)];
  return isObject(one) && isObject(two) ? (differenceDigest(one, two) ?? 0) : 0;
}
