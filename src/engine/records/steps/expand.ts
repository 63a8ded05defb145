import { RecordError } from '../../../lib/errors.ts';
import {
  compilePath,
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isNumber,
  isObject,
  keysOf,
  objectOf,
  toText,
  type AnyObject,
  type Json,
  type Path,
} from '../../../lib/json/index.ts';
import { compileSource, type Source, type SourceOptions } from '../../language/index.ts';
import { checkKeys, kindOf } from '../../../lib/read-settings.ts';
import { DATA_COLUMN } from '../shape.ts';
import type { RowView } from './view.ts';
import type { RowWatch } from './watch.ts';
import { unusable } from '../record-error.ts';

/** Items of a list in each record as rows (`expand`). */
export interface Expand {
  readonly sources: readonly Source[];
  readonly change: (rows: readonly Json[], view: RowView, watch: RowWatch | undefined) => readonly Json[];
}

const KEYS = ['path', 'with', 'empty'];

/**
 * Reads `expand`: a path to a list in each row, whose items become the rows, or an object with
 * - `path`
 * - `with`: fields of the record that each item gets: names and sources, a list of paths, or `*` for all but the list
 * - `empty`: "skip" (the default) or "keep" a record without items, as a row with the fields of `with` alone
 *
 * @throws {RecordError}
 */
export function compileExpand(node: Json | undefined, options: SourceOptions): Expand | undefined {
  if (node === undefined || isEmpty(node)) return undefined;
  const { at } = options;
  const settings: AnyObject = isObject(node) ? node : { path: node };
  checkKeys(settings, KEYS, at, (place, message, hint) => unusable(message, place, hint), 'in “expand”');
  const path = pathOf(getKey(settings, 'path') ?? null, isObject(node) ? `${at}.path` : at);
  const empty = getKey(settings, 'empty') ?? 'skip';
  if (empty !== 'skip' && empty !== 'keep') throw unusable('“empty” is "skip" or "keep"', `${at}.empty`);
  const taken = compileWith(getKey(settings, 'with'), path, options);
  return {
    sources: taken.sources,
    change: (rows, view, watch) => {
      const out: Json[] = [];
      for (const row of rows) {
        const value = path.find(row);
        const items = isList(value) ? value : value === undefined || value === null ? [] : [value];
        if (watch !== undefined) {
          watch.record ??= row;
          watch.expanded++;
          watch.looked(path, value !== undefined, at);
          if (items.length === 0) watch.childless++;
        }
        if (items.length === 0 && empty === 'skip') continue;
        view.see(row);
        const fields = taken.read(row, view);
        if (items.length === 0) out.push(objectOf(fields));
        for (const item of items) out.push(fields.length === 0 ? item : itemWith(item, fields, at));
      }
      return out;
    },
  };
}

interface With {
  readonly sources: readonly Source[];
  readonly read: (row: Json, view: RowView) => readonly (readonly [string, Json])[];
}

function compileWith(node: Json | undefined, path: Path, options: SourceOptions): With {
  const at = `${options.at}.with`;
  if (node === undefined || isEmpty(node)) return { sources: [], read: () => [] };
  if (node === '*') {
    const [own] = path.keys ?? [];
    return {
      sources: [],
      read: (row) => (isObject(row) ? entriesOf(row).filter(([key]) => key !== own) : []),
    };
  }
  const given = isList(node)
    ? node.map((item) => [nameOf(item, at), item] as const)
    : isObject(node)
      ? entriesOf(node)
      : [];
  if (given.length === 0)
    throw unusable(
      `“with” cannot be ${kindOf(node)}`,
      at,
      'Write {"order_id": "id"}, ["id"], or "*" for all fields.',
    );
  const fields = given.map(
    ([name, source]) => [name, compileSource(source, { ...options, at: `${at}.${name}` })] as const,
  );
  return {
    sources: fields.map(([, source]) => source),
    read: (_row, view) => {
      view.at = at;
      return fields.map(([name, source]) => [name, source.read(view) ?? null] as const);
    },
  };
}

function nameOf(item: Json, at: string): string {
  if (typeof item === 'string' || isNumber(item)) return toText(item);
  throw unusable(`A list of fields has names, and here is ${kindOf(item)}`, at);
}

/** @throws {RecordError} where the item has a field of that name: one of the two would be lost */
function itemWith(item: Json, fields: readonly (readonly [string, Json])[], at: string): AnyObject {
  const own = isObject(item) ? entriesOf(item) : item === null ? [] : [[DATA_COLUMN, item] as const];
  const made = objectOf([...own, ...fields]);
  if (keysOf(made).length === own.length + fields.length) return made;
  const names = new Set(own.map(([key]) => key));
  const name = fields.find(([key]) => names.has(key))?.[0] ?? '';
  throw new RecordError(
    'records.invalid',
    `The items that rows are made of have a field “${name}” of their own, and the one of the record around would take its place`,
    {
      where: { path: `${at}.with` },
      hint: `Give it another name: "with": {"parent_${name}": "${name}"}.`,
    },
  );
}

function pathOf(value: Json, at: string): Path {
  if ((typeof value === 'string' && value !== '') || isNumber(value))
    return compilePath(toText(value), { at });
  throw unusable(`“expand” needs the path of a list in the rows, and here is ${kindOf(value)}`, at);
}
