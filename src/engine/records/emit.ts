import { ByteWriter } from '../../lib/bytes.ts';
import {
  isList,
  isObject,
  JsonMap,
  JsonNumber,
  keysOf,
  md5OfObject,
  toText,
  type AnyObject,
  type Json,
  type JsonText,
} from '../../lib/json/index.ts';
import type { PageExtras } from './extras.ts';
import { scalarText, type RowLook, type ScalarText } from './look.ts';
import type { PageRows } from './parser.ts';
import type { ItemPlan, ObjectPlan } from './plan.ts';

/** A table that rows can be written to. */
export interface OpenTable {
  readonly name: string;
  readonly plan: ItemPlan;
  /** The extra columns that were given when it was opened last. */
  pageExtras: PageExtras;
}

/** Name of the extra column that links a nested row to its parent. */
export const PARENT_COLUMN = 'JSON_parentId';

/** Lines that follow each other in one table. */
export interface LineBatch {
  readonly table: OpenTable;
  readonly bytes: Uint8Array;
  readonly rows: number;
}

/** The lines of one table, of one chunk of rows. */
interface Lines {
  readonly table: OpenTable;
  readonly out: ByteWriter;
  rows: number;
  /** End of the last whole line. */
  end: number;
  /** Name that the column of the link got when the table was opened. */
  alias: string | undefined;
  /** The order of lines among all tables of the same name. */
  order: LinePiece[] | undefined;
}

interface LinePiece {
  readonly lines: Lines;
  readonly from: number;
  readonly to: number;
}

/** Position of a chunk in a run, for rows that have links of their own. */
export interface ChunkPlace {
  /** Number of the page among all that the parser took, from 0. */
  readonly page: number;
  /** The first row of the chunk in its page, from 0. */
  readonly row: number;
}

/** Surroundings of a row that is written. */
interface Around {
  readonly extras: PageExtras;
  /** The quoted cells behind the data. */
  readonly tail: Uint8Array | string | undefined;
  /** Salt that makes its link unlike that of an equal row; undefined if equal rows share one. */
  readonly salt: string | undefined;
}

const USUAL: RowLook = {};

/** Object whose link id the lists below it get; the id is computed when the first list with items needs it. */
interface Frame {
  readonly path: string;
  readonly value: AnyObject;
  readonly extras: PageExtras | undefined;
  readonly outer: Frame | undefined;
  readonly salt: string | undefined;
  id: string | undefined;
}

/**
 * Turns the rows of one chunk into CSV lines by a plan. It writes only what the plan covers: the first row that
 * shows a new property or kind ends it, and the lines so far are thrown away. Reused for every chunk.
 */
export class RowEmitter {
  readonly #open: (plan: ItemPlan, extra: AnyObject) => OpenTable;
  readonly #alias: () => string | undefined;
  readonly #jsonText: JsonText;
  readonly #lines = new Map<ItemPlan, Lines>();
  readonly #writers = new Map<ItemPlan, ByteWriter>();
  #look = USUAL;
  #isUsual = true;
  #text: ScalarText = scalarText(USUAL);

  /** @param alias what an earlier table renamed the column of the link to */
  constructor(
    open: (plan: ItemPlan, extra: AnyObject) => OpenTable,
    alias: () => string | undefined,
    jsonText: JsonText,
  ) {
    this.#open = open;
    this.#jsonText = jsonText;
    this.#alias = alias;
  }

  /**
   * Yields the lines of the last chunk, by table; valid until the next chunk. Lists whose tables have one name share a
   * batch, in which a row is behind the items of its own lists, as in the reference.
   */
  *batches(): Iterable<LineBatch> {
    const done = new Set<LinePiece[]>();
    for (const { table, out, rows, order } of this.#lines.values()) {
      if (order === undefined) yield { table, bytes: out.view(), rows };
      else if (!done.has(order)) {
        done.add(order);
        yield inOrder(table, order);
      }
    }
  }

  /** Writes rows; returns false when a row does not fit the plan. */
  rows(
    plan: ItemPlan,
    rows: readonly Json[],
    page: Pick<PageRows, 'extra' | 'look'>,
    place: ChunkPlace,
  ): boolean {
    const { extra, look = USUAL } = page;
    if (look !== this.#look) {
      this.#look = look;
      this.#isUsual = look.words === undefined;
      this.#text = scalarText(look);
    }
    this.#lines.clear();
    const lines = this.#linesOf(plan, extra);
    const { pageExtras } = lines.table;
    const tail = pageExtras.cells.length === 0 ? undefined : Buffer.from(pageExtras.cells.join(','));
    const around: Around = { extras: pageExtras, tail, salt: undefined };
    for (let i = 0; i < rows.length; i++) {
      const own =
        look.unique === undefined
          ? around
          : { ...around, salt: `${look.unique}.${place.page}.${place.row + i}` };
      if (!this.#row(plan, lines, rows[i] ?? null, own)) return false;
    }
    return true;
  }

  /** Forgets plans that are not used any more. */
  reset(): void {
    this.#lines.clear();
    this.#writers.clear();
  }

  #linesOf(plan: ItemPlan, extra: AnyObject): Lines {
    let lines = this.#lines.get(plan);
    if (lines === undefined) {
      let out = this.#writers.get(plan);
      if (out === undefined) this.#writers.set(plan, (out = new ByteWriter()));
      out.length = 0;
      const table = this.#open(plan, extra);
      lines = { table, out, rows: 0, end: 0, alias: this.#alias(), order: this.#orderOf(table.name) };
      this.#lines.set(plan, lines);
    }
    return lines;
  }

  /** Returns the shared order of the tables of a name; undefined for the first table of it. */
  #orderOf(name: string): LinePiece[] | undefined {
    for (const lines of this.#lines.values()) {
      if (lines.table.name === name) return (lines.order ??= [{ lines, from: 0, to: lines.end }]);
    }
    return undefined;
  }

  #row(plan: ItemPlan, lines: Lines, row: Json, { extras, tail, salt }: Around): boolean {
    const { out } = lines;
    const start = out.length;
    if (plan.node.kind === 'null' && row !== null) return false;
    if (isObject(row)) {
      if (plan.kind !== 'object') return false;
      const frame = { path: plan.path, value: row, extras, outer: undefined, salt, id: undefined };
      if (!this.#cells(plan.row, row, out, start, frame)) return false;
    } else if (plan.kind === 'object') {
      if (row !== null) return false;
      blanks(out, start, plan.row.width);
    } else out.cell(isList(row) ? this.#jsonText(row) : this.#text(row));
    if (tail !== undefined) {
      if (out.length > start) out.comma();
      if (typeof tail === 'string') out.cell(tail);
      else out.bytes(tail);
    }
    out.newline();
    lines.rows++;
    lines.end = out.length;
    lines.order?.push({ lines, from: start, to: lines.end });
    return true;
  }

  /** Appends the cells of an object to a line that began at `start`; false when the plan does not cover it. */
  #cells(plan: ObjectPlan, object: AnyObject, out: ByteWriter, start: number, frame: Frame): boolean {
    const keys = keysOf(object);
    const { columns } = plan;
    const aligned = isAligned(keys, plan);
    if (!aligned) for (const key of keys) if (!plan.index.has(key)) return false;
    const plain = object instanceof JsonMap ? undefined : object;
    for (let i = 0; i < columns.length; i++) {
      const key = plan.keys[i] ?? '';
      const value =
        plain === undefined
          ? (object as JsonMap).get(key) // only a JsonMap is not plain
          : aligned || Object.hasOwn(plain, key)
            ? plain[key]
            : undefined;
      const column = columns[i];
      if (column === undefined) return false;
      if (column.kind === 'object') {
        if (value === null || value === undefined) blanks(out, start, column.plan.width);
        else if (!isObject(value)) return false;
        else {
          const { path } = column.plan;
          const inner = { path, value, extras: undefined, outer: frame, salt: undefined, id: undefined };
          if (!this.#cells(column.plan, value, out, start, inner)) return false;
        }
        continue;
      }
      if (out.length > start) out.comma();
      if (column.kind === 'scalar') {
        if (typeof value === 'string') out.cell(value);
        else if (typeof value === 'object' && value !== null && !(value instanceof JsonNumber)) return false;
        else if (this.#isUsual) out.cell(value === null || value === undefined ? '' : toText(value));
        else out.cell(this.#text(value));
      } else if (column.kind === 'null') {
        if (value !== null && value !== undefined) return false;
        out.cell(this.#text(value));
      } else {
        const id = this.#nested(column.table, value, frame);
        if (id === undefined) return false;
        out.cell(id);
      }
    }
    return true;
  }

  /** Writes the items of a list to their own table; gives the link id, or an empty text when there are none. */
  #nested(plan: ItemPlan, value: Json | undefined, frame: Frame): string | undefined {
    if (value === null || value === undefined) return '';
    const items = isList(value) ? value : [value];
    if (items.length === 0) return '';
    const id = linkId(frame);
    const lines = this.#lines.get(plan) ?? this.#linesOf(plan, { [PARENT_COLUMN]: id });
    // Each list is written as by the names of its own moment: another table may have renamed the column meanwhile.
    if (lines.alias !== this.#alias()) {
      lines.alias = this.#alias();
      this.#open(plan, { [PARENT_COLUMN]: id });
    }
    const name = lines.table.pageExtras.entries[0]?.[0] ?? PARENT_COLUMN;
    const extras: PageExtras = { cells: [], entries: [[name, id]] };
    const around: Around = { extras, tail: id, salt: undefined };
    for (let i = 0; i < items.length; i++) {
      const own = this.#look.unique === undefined ? around : { ...around, salt: String(i) };
      if (!this.#row(plan, lines, items[i] ?? null, own)) return undefined;
    }
    return id;
  }
}

function inOrder(table: OpenTable, order: readonly LinePiece[]): LineBatch {
  const bytes = Buffer.concat(order.map(({ lines, from, to }) => lines.out.view().subarray(from, to)));
  const rows = new Set(order.map(({ lines }) => lines)).values().reduce((sum, lines) => sum + lines.rows, 0);
  return { table, bytes, rows };
}

function isAligned(keys: readonly string[], plan: ObjectPlan): boolean {
  const wanted = plan.keys;
  if (keys.length !== wanted.length) return false;
  for (let i = 0; i < keys.length; i++) if (keys[i] !== wanted[i]) return false;
  return true;
}

function blanks(out: ByteWriter, start: number, count: number): void {
  for (let i = 0; i < count; i++) {
    if (out.length > start) out.comma();
    out.cell('');
  }
}

/** Computes the link id: MD5 over the object, its extra columns and the enclosing link id. */
function linkId(frame: Frame): string {
  if (frame.id === undefined) {
    const outer = frame.outer === undefined ? '' : linkId(frame.outer);
    const behind = frame.salt === undefined ? outer : `${outer}#${frame.salt}`;
    frame.id = `${frame.path}_${md5OfObject(frame.value, frame.extras?.entries, behind)}`;
  }
  return frame.id;
}
