import { isUtf8 } from 'node:buffer';
import type { ByteWriter } from '../../lib/bytes.ts';
import { quoteCell } from '../../lib/csv/write.ts';
import {
  behindText,
  behindValue,
  behindWhite,
  behindWord,
  md5OfRawObject,
  plainTextBetween,
  serializedEntries,
  toText,
  valueBetween,
  type AppendedText,
  type Json,
} from '../../lib/json/index.ts';
import { manyRows, type LayoutColumn, type LineLayout, type ManyRows } from '../../lib/wasm/rows.ts';
import { blanks, writeTail, type ChunkLines, type ChunkPlace, type Lines } from './chunk-lines.ts';
import type { PageExtras } from './extras.ts';
import { scalarText, type RowLook } from './look.ts';
import type { PageRows } from './parser.ts';
import type { ColumnPlan, ItemPlan, ObjectPlan } from './plan.ts';
import { RawSeen, type RawRows, type RowBytes } from './raw-rows.ts';
import { ValueTypes } from './types/value-types.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const SMALL_F = 0x66;
const SMALL_N = 0x6e;
const SMALL_T = 0x74;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Quoted texts of words in cells. */
interface Words {
  readonly null: Uint8Array;
  readonly true: Uint8Array;
  readonly false: Uint8Array;
}

/** Plan of an object, by the bytes of its names. */
interface RawPlan {
  readonly plan: ObjectPlan;
  readonly columns: readonly RawColumn[];
  /** The names came in the order of the columns so far, but for those that were left out. */
  isInOrder: boolean;
  /** Columns of rows that are written many at once; undefined for rows that cannot be. */
  readonly layout: readonly Omit<LayoutColumn, 'slot'>[] | undefined;
  /** How they were written last. */
  lines: LineLayout | undefined;
  /** Cell of the link of the object at hand; that of the next one takes its place. */
  cell: LinkCell | undefined;
}

/** A link as a cell, whose digest can be replaced. */
interface LinkCell {
  readonly path: string;
  readonly bytes: Uint8Array;
}

interface RawColumn {
  /** The name in quotes; undefined for one that has escapes. */
  readonly name: Uint8Array | undefined;
  readonly column: ColumnPlan;
  /** Plan of the object in the place of the column. */
  readonly object: RawPlan | undefined;
}

/** Surroundings of a row that is written. */
interface Around {
  readonly appended: AppendedText;
  readonly tail: Uint8Array | undefined;
  /** Salt that makes its link unlike that of an equal row; undefined if equal rows share one. */
  readonly salt: string | undefined;
}

/** Object whose link id the lists below it get. */
interface Frame {
  readonly raw: RawPlan;
  readonly path: string;
  /** Offset of its brace. */
  readonly at: number;
  readonly appended: AppendedText;
  readonly outer: Frame | undefined;
  readonly salt: string | undefined;
  link: Link | undefined;
}

/** A link id, and its cell. */
interface Link {
  readonly id: string;
  readonly cell: Uint8Array;
}

/** Bytes of rows from which on they are written many at once. */
const MANY_BYTES = 1 << 10;

const NOTHING: AppendedText = { text: '', count: 0 };

/** The rows cannot be written from their bytes: a value is no JSON, or of a form that only the parsed rows show. */
class Misfit extends Error {}

/**
 * Turns the rows of one chunk into CSV lines by a plan, as the emitter of parsed rows does, out of their bytes: a text
 * without escapes is a cell as it stands. What the plan does not cover, and what is rare, is left to the other one.
 */
export class RawEmitter {
  readonly #lines: ChunkLines;
  readonly #plans = new WeakMap<ObjectPlan, RawPlan>();
  #look: RowLook = {};
  #words = wordsOf({});
  #types: ValueTypes | undefined;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #seen: RawSeen | undefined;
  #row = 0;
  /** Places of the properties of objects whose names are in another order than the columns: begin and end of each. */
  #places = new Int32Array(256);
  #placed = 0;
  /** The chunk was given up as the names of an object are out of order: another attempt takes them so. */
  isToRepeat = false;

  constructor(lines: ChunkLines) {
    this.#lines = lines;
  }

  /**
   * Writes rows.
   *
   * @param wanted names of properties that somebody will look at
   * @returns what was seen of the rows; undefined when they cannot be written so
   */
  rows(
    plan: ItemPlan,
    raw: RowBytes & Pick<RawRows, 'rows'>,
    page: Pick<PageRows, 'extra' | 'look' | 'page'>,
    place: ChunkPlace,
    wanted: readonly string[] = [],
  ): RawSeen | undefined {
    const { bytes, start, end } = raw;
    this.isToRepeat = false;
    if (plan.node.kind === 'null' || !isUtf8(bytes.subarray(start, end))) return undefined;
    const { look = {} } = page;
    if (look !== this.#look) {
      this.#look = look;
      this.#words = wordsOf(look);
    }
    this.#types = look.types === true ? new ValueTypes(look, page.page) : undefined;
    this.#bytes = bytes;
    try {
      this.#seen = new RawSeen(raw, scalarNames(plan, wanted));
      this.#chunk(plan, raw, page, place);
      return this.isToRepeat ? undefined : this.#seen;
    } catch (error) {
      if (error instanceof Misfit || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #chunk(
    plan: ItemPlan,
    { start, end, rows }: RowBytes & Pick<RawRows, 'rows'>,
    { extra, look = {} }: Pick<PageRows, 'extra' | 'look'>,
    place: ChunkPlace,
  ): void {
    this.#lines.clear();
    this.#placed = 0;
    const lines = this.#lines.of(plan, extra);
    const { pageExtras } = lines.table;
    const tail = pageExtras.cells.length === 0 ? undefined : Buffer.from(pageExtras.cells.join(','));
    const around: Around = { appended: appendedTo(plan, pageExtras), tail, salt: undefined };
    const bytes = this.#bytes;
    this.#at = start;
    const many = end - start < MANY_BYTES ? undefined : this.#manyOf(plan, lines, tail);
    for (let i = 0; ; i++) {
      if (many !== undefined) i = this.#writeMany(many, lines, i, rows, end);
      if (i === rows) break;
      if (i > 0) {
        this.#at = behindWhite(bytes, this.#at);
        if (bytes[this.#at++] !== COMMA) throw new Misfit();
      }
      this.#at = behindWhite(bytes, this.#at);
      this.#row = i;
      this.#seen?.begin(i, this.#at);
      const own =
        look.unique === undefined
          ? around
          : { ...around, salt: `${look.unique}.${place.page}.${place.row + i}` };
      this.#item(plan, lines, own, true);
      if (this.isToRepeat) return;
      this.#seen?.end(i, this.#at);
    }
    if (this.#at !== end) throw new Misfit();
  }

  /** Returns the code that writes many rows of a plan at once; undefined where it does not know all of them. */
  #manyOf(plan: ItemPlan, { order }: Lines, tail: Uint8Array | undefined): ManyRows | undefined {
    if (plan.kind !== 'object' || order !== undefined || this.#types !== undefined) return undefined;
    const raw = this.#planOf(plan.row);
    const { layout, isInOrder } = raw;
    if (layout === undefined || !isInOrder) return undefined;
    const { width: noted = 0, slots = [] } = this.#seen?.noted ?? {};
    const words = this.#words;
    const known = raw.lines;
    const isKnown =
      known !== undefined &&
      known.words === words &&
      known.noted === noted &&
      isSame(known.tail, tail) &&
      known.columns.every(({ slot }, i) => slot === slots[i]);
    if (!isKnown)
      raw.lines = { columns: layout.map((column, i) => ({ ...column, slot: slots[i] })), words, tail, noted };
    const many = manyRows();
    return raw.lines !== undefined && many?.begin(raw.lines) === true ? many : undefined;
  }

  /** Writes rows from one on, as many as can be written at once, and returns the number of the first one that is left. */
  #writeMany(many: ManyRows, lines: Lines, first: number, rows: number, end: number): number {
    let row = first;
    while (row < rows) {
      const made = many.write(this.#bytes, this.#at, end, row === 0, rows - row);
      this.#lines.addLines(lines, made.lines, made.rows);
      this.#seen?.add({ rows: made.spans, values: made.noted }, row, made.from);
      this.#at = made.at;
      row += made.rows;
      if (!made.goesOn) break;
    }
    return row;
  }

  #item(plan: ItemPlan, lines: Lines, { appended, tail, salt }: Around, isRow: boolean): void {
    const { out } = lines;
    const start = out.length;
    const byte = this.#bytes[this.#at];
    if (byte === OPEN_OBJECT) {
      if (plan.kind !== 'object' || plan.node.kind === 'null') throw new Misfit();
      const raw = this.#planOf(plan.row);
      const frame = plan.row.hasLists
        ? { raw, path: plan.path, at: this.#at, appended, outer: undefined, salt, link: undefined }
        : undefined;
      this.#object(raw, out, start, frame, isRow);
    } else if (plan.kind === 'object') {
      if (byte !== SMALL_N) throw new Misfit();
      this.#word('null');
      blanks(out, start, plan.row.width);
    } else {
      const at = this.#at;
      this.#scalar(out);
      const [data] = plan.row.columns;
      if (data?.kind === 'scalar') this.#types?.raw(data.seen, this.#bytes, at, this.#at);
    }
    if (this.isToRepeat) return;
    writeTail(out, start, tail);
    this.#lines.endLine(lines, start);
  }

  #object(raw: RawPlan, out: ByteWriter, start: number, frame: Frame | undefined, isRow: boolean): void {
    if (!raw.isInOrder) return this.#inAnyOrder(raw, out, start, frame, isRow);
    const bytes = this.#bytes;
    const { columns } = raw;
    let next = 0;
    let at = behindWhite(bytes, this.#at + 1);
    if (bytes[at] !== CLOSE_OBJECT)
      for (;;) {
        let behind = nameAt(bytes, at, columns[next]);
        if (behind < 0) {
          const [found, end] = this.#columnAt(raw, at);
          if (found < next) {
            raw.isInOrder = false;
            this.isToRepeat = true;
            return;
          }
          for (; next < found; next++) missing(columns[next], out, start);
          behind = end;
        }
        this.#at = behindColon(bytes, behind);
        if (isRow) this.#seen?.value(this.#row, next, this.#at);
        this.#value(columns[next++], out, start, frame);
        if (this.isToRepeat) return;
        at = this.#at;
        if (bytes[at] !== COMMA && bytes[at] !== CLOSE_OBJECT) at = behindWhite(bytes, at);
        if (bytes[at] === CLOSE_OBJECT) break;
        if (bytes[at] !== COMMA) throw new Misfit();
        at = behindWhite(bytes, at + 1);
      }
    for (; next < columns.length; next++) missing(columns[next], out, start);
    this.#at = at + 1;
  }

  /** Writes an object whose names are not in the order of the columns: all are found first. */
  #inAnyOrder(raw: RawPlan, out: ByteWriter, start: number, frame: Frame | undefined, isRow: boolean): void {
    const bytes = this.#bytes;
    const { columns } = raw;
    const from = this.#placed;
    this.#placed += 2 * columns.length;
    if (this.#placed > this.#places.length) {
      const larger = new Int32Array(2 * this.#placed);
      larger.set(this.#places);
      this.#places = larger;
    }
    this.#places.fill(-1, from, this.#placed);
    let expected = 0;
    let at = behindWhite(bytes, this.#at + 1);
    if (bytes[at] !== CLOSE_OBJECT)
      for (;;) {
        let found = expected;
        let behind = nameAt(bytes, at, columns[expected]);
        if (behind < 0) [found, behind] = this.#columnAt(raw, at);
        const place = from + 2 * found;
        // a name that comes twice
        if ((this.#places[place] ?? 0) >= 0) throw new Misfit();
        const value = behindColon(bytes, behind);
        at = behindValue(bytes, value);
        this.#places[place] = value;
        this.#places[place + 1] = at;
        expected = found + 1;
        at = behindWhite(bytes, at);
        if (bytes[at] === CLOSE_OBJECT) break;
        if (bytes[at] !== COMMA) throw new Misfit();
        at = behindWhite(bytes, at + 1);
      }
    for (let i = 0; i < columns.length; i++) {
      const value = this.#places[from + 2 * i] ?? -1;
      if (value < 0) missing(columns[i], out, start);
      else {
        this.#at = value;
        if (isRow) this.#seen?.value(this.#row, i, value);
        this.#value(columns[i], out, start, frame);
        if (this.isToRepeat) return;
        if (this.#at !== this.#places[from + 2 * i + 1]) throw new Misfit();
      }
    }
    this.#placed = from;
    this.#at = at + 1;
  }

  /** Finds the column of the name at an offset, and the offset behind it. */
  #columnAt({ plan }: RawPlan, at: number): readonly [column: number, behind: number] {
    if (this.#bytes[at] !== QUOTE) throw new Misfit();
    const behind = behindText(this.#bytes, at);
    const name = plainTextBetween(this.#bytes, at, behind);
    const column = name === undefined ? undefined : plan.index.get(name);
    if (column === undefined) throw new Misfit();
    return [column, behind];
  }

  #value(raw: RawColumn | undefined, out: ByteWriter, start: number, frame: Frame | undefined): void {
    if (raw === undefined) throw new Misfit();
    const { column, object } = raw;
    const byte = this.#bytes[this.#at];
    if (object !== undefined) {
      if (byte === OPEN_OBJECT) {
        const inner =
          frame === undefined || !object.plan.hasLists
            ? undefined
            : {
                raw: object,
                path: object.plan.path,
                at: this.#at,
                appended: NOTHING,
                outer: frame,
                salt: undefined,
                link: undefined,
              };
        this.#object(object, out, start, inner, false);
        return;
      }
      if (byte !== SMALL_N) throw new Misfit();
      this.#word('null');
      blanks(out, start, object.plan.width);
      return;
    }
    if (out.length > start) out.comma();
    if (column.kind === 'scalar') {
      const at = this.#at;
      this.#scalar(out);
      this.#types?.raw(column.seen, this.#bytes, at, this.#at);
    } else if (column.kind === 'array') this.#list(column.table, out, frame);
    else {
      if (column.kind === 'null') this.#types?.value(column.seen, null);
      this.#word('null');
      out.bytes(this.#words.null);
    }
  }

  #scalar(out: ByteWriter): void {
    const bytes = this.#bytes;
    const at = this.#at;
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      const end = out.jsonText(bytes, at);
      if (end < 0) {
        this.#at = behindText(bytes, at);
        out.cell(toText(valueBetween(bytes, at, this.#at)));
      } else this.#at = end;
    } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      const end = out.jsonNumber(bytes, at);
      if (end < 0) {
        this.#at = behindWord(bytes, at);
        out.cell(toText(valueBetween(bytes, at, this.#at)));
      } else this.#at = end;
    } else if (byte === SMALL_N) {
      this.#word('null');
      out.bytes(this.#words.null);
    } else if (byte === SMALL_T) {
      this.#word('true');
      out.bytes(this.#words.true);
    } else if (byte === SMALL_F) {
      this.#word('false');
      out.bytes(this.#words.false);
    } else throw new Misfit();
  }

  /** Reads a word of JSON. */
  #word(word: 'null' | 'true' | 'false'): void {
    for (let i = 0; i < word.length; i++)
      if (this.#bytes[this.#at + i] !== word.charCodeAt(i)) throw new Misfit();
    this.#at += word.length;
  }

  /** Writes the items of a list to their own table, and the link to the cell. */
  #list(plan: ItemPlan, out: ByteWriter, frame: Frame | undefined): void {
    const bytes = this.#bytes;
    const byte = bytes[this.#at];
    const isList = byte === OPEN_LIST;
    const first = isList ? behindWhite(bytes, this.#at + 1) : this.#at;
    if (byte === SMALL_N || (isList && bytes[first] === CLOSE_LIST)) {
      if (isList) this.#at = first + 1;
      else this.#word('null');
      out.cell('');
      return;
    }
    if (frame === undefined) throw new Misfit();
    const { id, cell } = this.#linkOf(frame);
    const { lines, name } = this.#lines.ofNested(plan, id);
    const appended = this.#parent(plan, name, id);
    const around: Around = { appended, tail: cell, salt: undefined };
    this.#at = first;
    for (let i = 0; ; i++) {
      const own = this.#look.unique === undefined ? around : { ...around, salt: String(i) };
      this.#item(plan, lines, own, false);
      if (this.isToRepeat) return;
      if (!isList) break;
      this.#at = behindWhite(bytes, this.#at);
      const end = bytes[this.#at++];
      if (end === CLOSE_LIST) break;
      if (end !== COMMA) throw new Misfit();
      this.#at = behindWhite(bytes, this.#at);
    }
    out.slice(cell, 0, cell.length);
  }

  /** Returns what the column of the link appends to a row of a list, where rows of it have lists of their own. */
  #parent(plan: ItemPlan, name: string, id: string): AppendedText {
    if (plan.kind === 'scalar' || !plan.row.hasLists) return NOTHING;
    return appendedTo(plan, { cells: [], entries: [[name, id]] });
  }

  #linkOf(frame: Frame): Link {
    if (frame.link === undefined) {
      const outer = frame.outer === undefined ? '' : this.#linkOf(frame.outer).id;
      const behind = frame.salt === undefined ? outer : `${outer}#${frame.salt}`;
      const { raw, path, appended } = frame;
      const digest = md5OfRawObject(this.#bytes, frame.at, appended, behind);
      if (digest === undefined) throw new Misfit();
      frame.link = { id: `${path}_${digest}`, cell: linkCell(raw, path, digest) };
    }
    return frame.link;
  }

  #planOf(plan: ObjectPlan): RawPlan {
    let raw = this.#plans.get(plan);
    if (raw === undefined) {
      const columns = plan.columns.map((column, i) => ({
        name: rawName(plan.keys[i] ?? ''),
        column,
        object: column.kind === 'object' ? this.#planOf(column.plan) : undefined,
      }));
      this.#plans.set(
        plan,
        (raw = {
          plan,
          columns,
          isInOrder: true,
          layout: layoutOf(columns),
          lines: undefined,
          cell: undefined,
        }),
      );
    }
    return raw;
  }
}

function isSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0;
}

/** Returns the columns of rows that are written many at once: scalars alone, whose names have no escapes. */
function layoutOf(columns: readonly RawColumn[]): RawPlan['layout'] {
  const layout = columns.flatMap(({ name, column: { kind } }) =>
    name === undefined || (kind !== 'scalar' && kind !== 'null') ? [] : [{ name, isNull: kind === 'null' }],
  );
  return layout.length < columns.length ? undefined : layout;
}

function rawName(name: string): Uint8Array | undefined {
  const quoted = `"${name}"`;
  return JSON.stringify(name) === quoted ? Buffer.from(quoted) : undefined;
}

/** Returns the offset behind the name of a column; −1 where another name is, or none. */
function nameAt(bytes: Uint8Array, at: number, column: RawColumn | undefined): number {
  const name = column?.name;
  if (name === undefined) return -1;
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return -1;
  return at + name.length;
}

function behindColon(bytes: Uint8Array, from: number): number {
  const at = behindWhite(bytes, from);
  if (bytes[at] !== COLON) throw new Misfit();
  return behindWhite(bytes, at + 1);
}

function missing(raw: RawColumn | undefined, out: ByteWriter, start: number): void {
  blanks(out, start, raw?.object === undefined ? 1 : raw.object.plan.width);
}

/** @throws {Misfit} where a property of the rows would be replaced */
function appendedTo(plan: ItemPlan, { entries }: PageExtras): AppendedText {
  if (entries.some(([name]) => plan.row.index.has(name))) throw new Misfit();
  return entries.length === 0 ? NOTHING : { text: serializedEntries(entries), count: entries.length };
}

function cellOf(text: string): Uint8Array {
  return Buffer.from(quoteCell(text));
}

/** Returns the cell of a link; valid until the next one of the same plan, whose object is then behind this one. */
function linkCell(raw: RawPlan, path: string, digest: string): Uint8Array {
  if (raw.cell?.path !== path) raw.cell = { path, bytes: cellOf(`${path}_${digest}`) };
  const { bytes } = raw.cell;
  const from = bytes.length - 1 - digest.length;
  for (let i = 0; i < digest.length; i++) bytes[from + i] = digest.charCodeAt(i);
  return bytes;
}

function wordsOf(look: RowLook): Words {
  const text = scalarText(look);
  const cell = (value: Json): Uint8Array => cellOf(text(value));
  return { null: cell(null), true: cell(true), false: cell(false) };
}

/** Columns of the wanted names, undefined for what is no scalar in all rows. */
export function scalarNames(
  plan: ItemPlan,
  wanted: readonly string[],
): ReadonlyMap<string, number | undefined> {
  return new Map(
    wanted.map((name) => {
      const column = plan.row.index.get(name);
      if (column === undefined) return [name, -1];
      const kind = plan.row.columns[column]?.kind;
      return [name, kind === 'scalar' || kind === 'null' ? column : undefined];
    }),
  );
}
