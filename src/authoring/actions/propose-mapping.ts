import { ActionError } from '../../lib/errors.ts';
import { keysOf, objectOf, type AnyObject, type Json } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import { columnName, NameScope, safeName } from '../../engine/records/names.ts';
import { nearest } from '../../lib/suggest.ts';
import { shapeOf, type Leaf } from './record-shape.ts';

export interface ProposeOptions {
  /** Not empty. */
  readonly rows: readonly Json[];
  /** Extra columns of each page. */
  readonly extra: readonly AnyObject[];
  /** How many levels of objects inside of a row become columns of their own. */
  readonly nestingLevel: number;
  /** Columns, or paths, of the primary key. */
  readonly primaryKey: readonly string[];
  readonly log: Log;
}

/** A setting of the mapping to be. */
interface Entry {
  readonly path: string;
  readonly delimiter: string;
  readonly column: string;
  readonly kind: 'column' | 'user';
  readonly isComplex: boolean;
}

/**
 * Proposes a mapping for rows: a column for each property, in the order of their appearance in any row, named as the
 * columns of a run without a mapping; then the extra columns, as `user`.
 *
 * - properties of objects are columns `a_b` at the path `a.b`, down to the nesting level;
 * - lists, deeper objects, and properties that are sometimes objects and sometimes text are written as JSON text
 *   (`forceType`);
 * - rows that are no objects have the column `data`.
 *
 * @throws {ActionError} for a primary key that is no column, or holds lists or objects
 */
export function proposeMapping({ rows, extra, nestingLevel, primaryKey, log }: ProposeOptions): AnyObject {
  const leaves = shapeOf(rows, nestingLevel);
  const names = new Names();
  const paths = new Set(leaves.filter(({ keys }) => keys.length === 1).map(({ keys }) => keys[0] ?? ''));
  const columns = leaves.map(
    (leaf) =>
      ({
        ...placed(leaf, paths),
        column: names.take(columnName(leaf.keys)),
        kind: 'column',
        isComplex: leaf.isComplex,
      }) as const,
  );
  const entries: Entry[] = [...columns];
  for (const name of new Set(extra.flatMap((each) => keysOf(each)))) {
    if (paths.has(name) || name.includes('/')) {
      log.warn(
        `The extra column “${name}” is left out: ${paths.has(name) ? 'the rows have a property of that name' : 'a mapping cannot reach a name with a slash'}`,
      );
    } else
      entries.push({
        path: name,
        delimiter: '.',
        column: names.take(safeName(name)),
        kind: 'user',
        isComplex: false,
      });
  }
  const keys = keyColumns(primaryKey, entries);
  return objectOf(entries.map((entry) => [entry.path, settingOf(entry, keys.has(entry))]));
}

function settingOf({ delimiter, column, kind, isComplex }: Entry, isKey: boolean): Json {
  if (kind === 'column' && !isComplex && !isKey && delimiter === '.') return column;
  return objectOf([
    ['type', kind],
    ...(delimiter === '.' ? [] : [['delimiter', delimiter] as const]),
    ['mapping', objectOf([['destination', column], ...(isKey ? [['primaryKey', true] as const] : [])])],
    ...(isComplex ? [['forceType', true] as const] : []),
  ]);
}

const DELIMITERS = ['.', '/', '|', '~', ':', '>'];

/** Returns the path of a property, with a delimiter that is in none of its keys and a text that no other path has. */
function placed(
  { keys, isRow }: Leaf,
  taken: Set<string>,
): { readonly path: string; readonly delimiter: string } {
  if (isRow) return { path: '.', delimiter: '.' };
  for (let length = 1; ; length++) {
    for (const char of DELIMITERS) {
      const delimiter = char.repeat(length);
      const path = keys.join(delimiter);
      if (keys.some((key) => key.includes(delimiter)) || (keys.length > 1 && taken.has(path))) continue;
      taken.add(path);
      return { path, delimiter };
    }
  }
}

/** PostgreSQL has these columns in every table. */
const RESERVED = /^(?:oid|tableoid|xmin|cmin|xmax|cmax|ctid)$/i;
const MAX_LENGTH = 64;

/** Names that a storage takes as they are: safe, not reserved, different in more than their case. */
class Names {
  readonly #scope = new NameScope();
  readonly #taken = new Set<string>();

  take(name: string): string {
    const base = name === '' ? 'column' : RESERVED.test(name) ? `${name}_` : name;
    for (let wanted = base; ; wanted = base.slice(0, MAX_LENGTH - 6)) {
      let free = this.#scope.take(wanted);
      while (this.#taken.has(free.toLowerCase())) free = this.#scope.take(wanted);
      if (free.length > MAX_LENGTH) continue;
      this.#taken.add(free.toLowerCase());
      return free;
    }
  }
}

function keyColumns(primaryKey: readonly string[], entries: readonly Entry[]): ReadonlySet<Entry> {
  return new Set(
    primaryKey.map((name) => {
      const entry =
        entries.find(({ column }) => column === name) ?? entries.find(({ path }) => path === name);
      if (entry === undefined) throw noColumn(name, entries);
      if (!entry.isComplex) return entry;
      throw wrongKey(
        `“${name}” cannot be part of the primary key: it holds lists or objects.`,
        'Choose columns with single values.',
      );
    }),
  );
}

function noColumn(name: string, entries: readonly Entry[]): ActionError {
  const columns = entries.map(({ column }) => column);
  const near = nearest(name, columns);
  const shown = `${columns.slice(0, 20).join(', ')}${columns.length > 20 ? ' and others' : ''}`;
  return wrongKey(
    `There is no column “${name}” for the primary key.`,
    near === undefined ? `The columns are ${shown}.` : `Did you mean “${near}”?`,
  );
}

function wrongKey(message: string, hint: string): ActionError {
  return new ActionError('action.invalid', message, { where: { path: 'parameters.__PRIMARY_KEY' }, hint });
}
