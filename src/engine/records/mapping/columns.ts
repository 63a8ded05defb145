import { ConfigError } from '../../../lib/errors.ts';
import type { TableLayout } from '../parser.ts';
import type { ColumnType } from '../types/column-type.ts';
import type { Mapping } from './mapping.ts';

/**
 * Returns the header of a mapped table: columns in the order of the mapping, a link column for each child table (if the
 * rows have no primary key that could be the link), the key of the parent row last.
 */
export function columnsOf(mapping: Mapping): readonly string[] {
  const columns: string[] = [];
  const links = new Set<string>();
  for (const entry of mapping.entries) {
    if (entry.kind === 'self') continue;
    if (entry.kind !== 'table') columns.push(entry.column);
    else if (hasLinkColumn(mapping, entry.mapping) && !links.has(entry.mapping.table)) {
      links.add(entry.mapping.table);
      columns.push(entry.mapping.table);
    }
  }
  if (mapping.parentLink !== undefined) columns.push(mapping.parentLink.column);
  return columns;
}

/** Returns the key columns in the order of the mapping, then the key of the parent row if it is part of it. */
export function primaryKeyOf(mapping: Mapping): readonly string[] {
  const key: string[] = [];
  for (const entry of mapping.entries) {
    if (entry.kind !== 'self' && entry.kind !== 'table' && entry.primaryKey) key.push(entry.column);
  }
  if (mapping.parentLink?.primaryKey === true) key.push(mapping.parentLink.column);
  return key;
}

export function layoutOf(mapping: Mapping): TableLayout {
  const primaryKey = primaryKeyOf(mapping);
  const layout = { name: mapping.table, columns: columnsOf(mapping) };
  return primaryKey.length === 0 ? layout : { ...layout, primaryKey };
}

/** Tells whether rows without a primary key show the generated key that their child rows refer to. */
export function hasLinkColumn(parent: Mapping, child: Mapping): boolean {
  return child.parentLink !== undefined && primaryKeyOf(parent).length === 0;
}

/**
 * Checks the columns of mappings: a column may occur in a table once, and entries that share a child table must agree
 * on its columns.
 *
 * @throws {ConfigError}
 */
export function checkColumns(mapping: Mapping): void {
  const twice = firstRepeated(columnsOf(mapping));
  if (twice !== undefined)
    throw new ConfigError(
      'config.invalid',
      `The mapping of the table “${mapping.table}” gives the column “${twice}” twice`,
      {
        where: { path: mapping.at },
        hint: 'Give each entry its own destination. A child table adds a column of its name, or the column of “parentKey.destination”.',
      },
    );
  const children = new Map<string, Mapping>();
  for (const entry of mapping.entries) {
    if (entry.kind !== 'table') continue;
    const first = children.get(entry.mapping.table) ?? entry.mapping;
    children.set(first.table, first);
    if (columnsOf(first).join('\n') === columnsOf(entry.mapping).join('\n')) continue;
    throw new ConfigError(
      'config.invalid',
      `The child table “${first.table}” is mapped twice with different columns`,
      {
        where: { path: entry.mapping.at },
        hint: `Map the same columns in the same order as in ${first.at}, or give another “destination”.`,
      },
    );
  }
}

/** Returns the types that mappings give by hand, by table and column; a column that has two is text. */
export function typesOf(mappings: Iterable<Mapping>): ReadonlyMap<string, ReadonlyMap<string, ColumnType>> {
  const tables = new Map<string, Map<string, ColumnType>>();
  for (const { table, entries } of mappings) {
    const types = tables.get(table) ?? new Map<string, ColumnType>();
    for (const entry of entries) {
      if (entry.kind === 'self' || entry.kind === 'table' || entry.type === undefined) continue;
      const known = types.get(entry.column) ?? entry.type;
      types.set(entry.column, known === entry.type ? known : 'text');
    }
    if (types.size > 0) tables.set(table, types);
  }
  return tables;
}

function firstRepeated(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}
