import { quoteCell } from '../csv/write.ts';
import {
  isList,
  isObject,
  JsonMap,
  JsonNumber,
  keysOf,
  md5,
  serialize,
  serializeWith,
  toJsonText,
  toText,
  type AnyObject,
  type Json,
} from '../json/index.ts';
import type { PageExtras } from './extras.ts';
import type { ItemPlan, ObjectPlan } from './plan.ts';

/** A table that rows can be written to. */
export interface OpenTable {
  readonly name: string;
  readonly plan: ItemPlan;
  /** The extra columns that were given when it was opened last. */
  pageExtras: PageExtras;
}

/** Name of the extra column that links a nested row to its parent. */
const PARENT_COLUMN = 'JSON_parentId';

interface Lines {
  readonly table: OpenTable;
  lines: string;
  rows: number;
}

/** Whose link id the lists below an object get; worked out when the first list with items asks for it. */
interface Frame {
  readonly path: string;
  readonly value: AnyObject;
  readonly extras: PageExtras | undefined;
  readonly outer: Frame | undefined;
  id: string | undefined;
}

/**
 * Turns the rows of one chunk into CSV lines by a plan. It writes only what the plan covers: the first row that
 * shows a new property or kind ends it, and the lines so far are thrown away.
 */
export class RowEmitter {
  readonly #open: (plan: ItemPlan, extra: AnyObject) => OpenTable;
  readonly #lines = new Map<ItemPlan, Lines>();

  constructor(open: (plan: ItemPlan, extra: AnyObject) => OpenTable) {
    this.#open = open;
  }

  tables(): Iterable<Lines> {
    return this.#lines.values();
  }

  /** False when a row does not fit the plan. */
  rows(plan: ItemPlan, rows: readonly Json[], extra: AnyObject): boolean {
    const out = this.#linesOf(plan, extra);
    const { pageExtras } = out.table;
    const tail = pageExtras.cells.join(',');
    for (let i = 0; i < rows.length; i++) {
      if (!this.#row(plan, out, rows[i] ?? null, pageExtras, tail)) return false;
    }
    return true;
  }

  #linesOf(plan: ItemPlan, extra: AnyObject): Lines {
    let lines = this.#lines.get(plan);
    if (lines === undefined) {
      lines = { table: this.#open(plan, extra), lines: '', rows: 0 };
      this.#lines.set(plan, lines);
    }
    return lines;
  }

  #row(plan: ItemPlan, out: Lines, row: Json, extras: PageExtras, tail: string): boolean {
    let line: string | undefined;
    if (isObject(row)) {
      if (plan.kind !== 'object') return false;
      const frame = { path: plan.path, value: row, extras, outer: undefined, id: undefined };
      line = this.#cells(plan.row, row, '', frame);
    } else if (plan.kind === 'object') {
      if (row !== null) return false;
      line = blanks('', plan.row.width);
    } else if (plan.node.kind === 'null' && row !== null) return false;
    else line = quoteCell(isList(row) ? toJsonText(row) : toText(row));
    if (line === undefined) return false;
    out.lines += tail === '' ? `${line}\n` : line === '' ? `${tail}\n` : `${line},${tail}\n`;
    out.rows++;
    return true;
  }

  /** Appends the cells of an object to a line; undefined when the plan does not cover it. */
  #cells(plan: ObjectPlan, object: AnyObject, start: string, frame: Frame): string | undefined {
    const keys = keysOf(object);
    const { columns } = plan;
    const aligned = isAligned(keys, plan);
    if (!aligned) for (const key of keys) if (!plan.index.has(key)) return undefined;
    const plain = object instanceof JsonMap ? undefined : object;
    let line = start;
    for (let i = 0; i < columns.length; i++) {
      const key = plan.keys[i] ?? '';
      const value =
        plain === undefined
          ? (object as JsonMap).get(key)
          : aligned || Object.hasOwn(plain, key)
            ? plain[key]
            : undefined;
      const column = columns[i];
      if (column === undefined) return undefined;
      if (column.kind === 'scalar') {
        if (typeof value === 'string') {
          line += line === '' ? '"' : ',"';
          line += value.indexOf('"') < 0 ? value : value.replaceAll('"', '""');
          line += '"';
        } else if (typeof value === 'object' && value !== null && !(value instanceof JsonNumber)) return undefined;
        else if (value === null || value === undefined) line += line === '' ? '""' : ',""';
        else line += (line === '' ? '"' : ',"') + toText(value) + '"';
      } else if (column.kind === 'null') {
        if (value !== null && value !== undefined) return undefined;
        line += line === '' ? '""' : ',""';
      } else if (column.kind === 'object') {
        if (value === null || value === undefined) line = blanks(line, column.plan.width);
        else if (!isObject(value)) return undefined;
        else {
          const inner = { path: column.plan.path, value, extras: undefined, outer: frame, id: undefined };
          const next = this.#cells(column.plan, value, line, inner);
          if (next === undefined) return undefined;
          line = next;
        }
      } else {
        const cell = this.#nested(column.table, value, frame);
        if (cell === undefined) return undefined;
        line += line === '' ? cell : `,${cell}`;
      }
    }
    return line;
  }

  /** Writes the items of a list to their own table; gives the quoted link cell. */
  #nested(plan: ItemPlan, value: Json | undefined, frame: Frame): string | undefined {
    if (value === null || value === undefined) return '""';
    const items = isList(value) ? value : [value];
    if (items.length === 0) return '""';
    const id = linkId(frame);
    const cell = quoteCell(id);
    const known = this.#lines.get(plan);
    const out = known ?? this.#linesOf(plan, { [PARENT_COLUMN]: id });
    const name = out.table.pageExtras.entries[0]?.[0] ?? PARENT_COLUMN;
    const extras: PageExtras = { cells: [cell], entries: [[name, id]] };
    for (let i = 0; i < items.length; i++) {
      if (!this.#row(plan, out, items[i] ?? null, extras, cell)) return undefined;
    }
    return cell;
  }
}

function isAligned(keys: readonly string[], plan: ObjectPlan): boolean {
  const wanted = plan.keys;
  if (keys.length !== wanted.length) return false;
  for (let i = 0; i < keys.length; i++) if (keys[i] !== wanted[i]) return false;
  return true;
}

function blanks(line: string, count: number): string {
  if (count === 0) return line;
  const cells = BLANKS[count] ?? Array<string>(count).fill('""').join(',');
  return line === '' ? cells : `${line},${cells}`;
}

const BLANKS = Array.from({ length: 64 }, (_, count) => Array<string>(count).fill('""').join(','));

/** MD5 over the object, its extra columns and the enclosing link id (spec extractor 5.6 "Link id", 0.8). */
function linkId(frame: Frame): string {
  if (frame.id === undefined) {
    const text = frame.extras === undefined ? serialize(frame.value) : serializeWith(frame.value, frame.extras.entries);
    frame.id = `${frame.path}_${md5(frame.outer === undefined ? text : text + linkId(frame.outer))}`;
  }
  return frame.id;
}
