import { ConfigError } from '../../../lib/errors.ts';
import type { TableLayout } from '../parser.ts';
import { primaryKeyOf } from './columns.ts';
import type { Mapping, Mappings } from './mapping.ts';
import { withChildren } from './tree.ts';

/**
 * Returns the tables that mappings name and that got no rows in the whole run: they are written with their header only.
 * The header has no link columns here, and a mapping without columns gives no table.
 *
 * @param exists whether a table of this name was written
 * @throws {ConfigError} for an entry of an unknown type; see {@link checkTypes}
 */
export function missingTables(
  mappings: Mappings,
  exists: (table: string) => boolean,
): readonly TableLayout[] {
  checkTypes(mappings);
  const missing = new Map<string, TableLayout>();
  for (const mapping of mappings.values()) {
    for (const each of withChildren(mapping)) {
      const columns = plainColumns(each);
      if (columns.length === 0 || missing.has(each.table) || exists(each.table)) continue;
      missing.set(each.table, headerOnly(each, columns));
    }
  }
  return [...missing.values()];
}

/**
 * Refuses entries of an unknown type, before the run makes any request: they would be read as columns, and the run
 * would end in an error.
 *
 * @throws {ConfigError}
 */
export function checkTypes(mappings: Mappings): void {
  for (const mapping of mappings.values()) {
    for (const { entries } of withChildren(mapping)) {
      for (const entry of entries) {
        if (entry.kind !== 'column' || entry.unknownType === undefined) continue;
        throw new ConfigError('config.invalid', `“${entry.unknownType}” is no type of a mapping's entry`, {
          where: { path: `${entry.at}.type` },
          hint: 'Use “column” (the default), “user”, “date”, “json” or “table”.',
        });
      }
    }
  }
}

function plainColumns(mapping: Mapping): string[] {
  return mapping.entries.flatMap((entry) =>
    entry.kind === 'self' || entry.kind === 'table' ? [] : [entry.column],
  );
}

function headerOnly(mapping: Mapping, columns: readonly string[]): TableLayout {
  const primaryKey = primaryKeyOf(mapping);
  const link = mapping.parentLink === undefined ? [] : [mapping.parentLink.column];
  const layout = { name: mapping.table, columns: [...columns, ...link] };
  return primaryKey.length === 0 ? layout : { ...layout, primaryKey };
}
