import { RecordError } from '../../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isIntegerLike,
  isList,
  isObject,
  JsonMap,
  sizeOf,
  withKey,
  withoutKey,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { compileSource, type Source, type SourceOptions } from '../../language/index.ts';
import { kindOf } from '../../../lib/read-settings.ts';
import { DATA_COLUMN } from '../shape.ts';
import type { RowView } from './view.ts';
import type { RowWatch } from './watch.ts';

/** Columns that are computed from each row, or taken out of it (`columns`). */
export interface Columns {
  readonly sources: readonly Source[];
  /** JSON paths of those that are computed, with their names. */
  readonly places: readonly (readonly [at: string, name: string])[];
  /**
   * Puts what was computed of a row into what became of it.
   *
   * @param row what the view sees
   * @param made the same with its fields renamed and left out
   */
  readonly put: (row: Json, made: Json, view: RowView, watch: RowWatch | undefined) => Json;
}

interface Column {
  readonly name: string;
  readonly at: string;
  /** None takes the field out. */
  readonly source: Source | undefined;
  /** The name is a path into objects, or a key that a plain object would move. */
  readonly isPath: boolean;
}

/**
 * Reads `columns`: names and sources over the row; null takes the field of that name out.
 *
 * @throws {RecordError}
 */
export function compileColumns(node: Json | undefined, options: SourceOptions): Columns | undefined {
  const { at } = options;
  if (node === undefined || node === null || (isList(node) && node.length === 0)) return undefined;
  if (!isObject(node))
    throw new RecordError(
      'records.invalid',
      `“columns” is an object of names and sources, and here is ${kindOf(node)}`,
      {
        where: { path: at },
        hint: 'Write {"year": {"function": "substr", "args": [{"row": "date"}, 0, 4]}}.',
      },
    );
  if (sizeOf(node) === 0) return undefined;
  const columns = entriesOf(node).map(([name, value]): Column => {
    const place = `${at}.${name}`;
    return {
      name,
      at: place,
      source: value === null ? undefined : compileSource(value, { ...options, at: place }),
      isPath: name.includes('.') || isIntegerLike(name) || name === '__proto__',
    };
  });
  const computed = columns.filter(({ source }) => source !== undefined);
  const isPlain = computed.length === columns.length && !columns.some(({ isPath }) => isPath);
  return {
    sources: computed.flatMap(({ source }) => source ?? []),
    places: computed.map(({ at: place, name }) => [place, name] as const),
    put(row, made, view, watch) {
      if (row === null) return made;
      const object = isObject(made) ? made : { [DATA_COLUMN]: made };
      // reading comes first: a column sees the row as it came, whatever other columns are called
      const values = columns.map((column) => valueOf(column, view, watch));
      if (isPlain && !(object instanceof JsonMap)) {
        const out: Record<string, Json> = { ...object };
        for (let i = 0; i < columns.length; i++) out[columns[i]?.name ?? ''] = values[i] ?? null;
        return out;
      }
      return columns.reduce<AnyObject>(
        (out, { name, source }, i) =>
          source === undefined ? removed(out, name) : placed(out, name, values[i] ?? null),
        object,
      );
    },
  };
}

/** Returns the value of a column; a missing one is null, because the column exists all the same. */
function valueOf({ source, at }: Column, view: RowView, watch: RowWatch | undefined): Json {
  if (source === undefined) return null;
  view.at = at;
  const value = source.read(view) ?? null;
  if (value !== null) watch?.filled(at);
  return value;
}

/**
 * Sets the value of a column. A name with dots is the field inside an object if there is that object, as the column has
 * the same name.
 */
function placed(object: AnyObject, name: string, value: Json): AnyObject {
  const inner = innerOf(object, name);
  return inner === undefined
    ? withKey(object, name, value)
    : withKey(object, inner.key, placed(inner.object, inner.rest, value));
}

function removed(object: AnyObject, name: string): AnyObject {
  if (getKey(object, name) !== undefined) return withoutKey(object, name);
  const inner = innerOf(object, name);
  return inner === undefined ? object : withKey(object, inner.key, removed(inner.object, inner.rest));
}

function innerOf(
  object: AnyObject,
  name: string,
): { readonly key: string; readonly rest: string; readonly object: AnyObject } | undefined {
  if (getKey(object, name) !== undefined) return undefined;
  for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
    const key = name.slice(0, dot);
    const value = getKey(object, key);
    if (isObject(value)) return { key, rest: name.slice(dot + 1), object: value };
  }
  return undefined;
}
