import type { ByteWriter } from '../../lib/bytes.ts';
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
import { blanks, writeTail, type ChunkLines, type ChunkPlace, type Lines } from './chunk-lines.ts';
import type { PageExtras } from './extras.ts';
import { scalarText, type RowLook, type ScalarText } from './look.ts';
import type { PageRows } from './parser.ts';
import type { ItemPlan, ObjectPlan } from './plan.ts';
import { ValueTypes } from './types/value-types.ts';

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
  readonly #jsonText: JsonText;
  readonly #lines: ChunkLines;
  #look = USUAL;
  #isUsual = true;
  #text: ScalarText = scalarText(USUAL);
  #types: ValueTypes | undefined;

  constructor(lines: ChunkLines, jsonText: JsonText) {
    this.#lines = lines;
    this.#jsonText = jsonText;
  }

  /** Writes rows; returns false when a row does not fit the plan. */
  rows(
    plan: ItemPlan,
    rows: readonly Json[],
    page: Pick<PageRows, 'extra' | 'look' | 'page'>,
    place: ChunkPlace,
  ): boolean {
    const { extra, look = USUAL } = page;
    if (look !== this.#look) {
      this.#look = look;
      this.#isUsual = look.words === undefined;
      this.#text = scalarText(look);
    }
    this.#types = look.types === true ? new ValueTypes(look, page.page) : undefined;
    this.#lines.clear();
    const lines = this.#lines.of(plan, extra);
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
    } else {
      out.cell(isList(row) ? this.#jsonText(row) : this.#text(row));
      const [data] = plan.row.columns;
      if (this.#types !== undefined && data?.kind === 'scalar') this.#types.value(data.seen, row);
    }
    writeTail(out, start, tail);
    this.#lines.endLine(lines, start);
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
        this.#types?.value(column.seen, value);
        if (typeof value === 'string') out.cell(value);
        else if (typeof value === 'object' && value !== null && !(value instanceof JsonNumber)) return false;
        else if (this.#isUsual) out.cell(value === null || value === undefined ? '' : toText(value));
        else out.cell(this.#text(value));
      } else if (column.kind === 'null') {
        if (value !== null && value !== undefined) return false;
        this.#types?.value(column.seen, value);
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
    const { lines, name } = this.#lines.ofNested(plan, id);
    const extras: PageExtras = { cells: [], entries: [[name, id]] };
    const around: Around = { extras, tail: id, salt: undefined };
    for (let i = 0; i < items.length; i++) {
      const own = this.#look.unique === undefined ? around : { ...around, salt: String(i) };
      if (!this.#row(plan, lines, items[i] ?? null, own)) return undefined;
    }
    return id;
  }
}

function isAligned(keys: readonly string[], plan: ObjectPlan): boolean {
  const wanted = plan.keys;
  if (keys.length !== wanted.length) return false;
  for (let i = 0; i < keys.length; i++) if (keys[i] !== wanted[i]) return false;
  return true;
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
