import { getKey, isInteger, numberOf, type AnyObject } from '../../lib/json/index.ts';
import type { Mapping, Mappings } from './mapping/mapping.ts';
import { safeName } from './names.ts';
import { structFromJson, STRUCT_VERSION } from './struct.ts';
import { Structure, type StructureNode } from './structure.ts';

/** The place that a column has its values from. */
export interface ColumnPath {
  /** Data type of the jobs whose rows have it. */
  readonly dataType: string;
  /** Path in a row of such a job, with `[]` behind lists: `author.name`, `pages[].number`. */
  readonly path: string;
}

/** By table, without its bucket, and column. */
export type ColumnPaths = ReadonlyMap<string, ReadonlyMap<string, readonly ColumnPath[]>>;

/**
 * Returns the places that columns come from: those of flattened rows by the structure in the state, those of mapped ones
 * by the mapping. Columns that a run makes, such as links of lists, are not among them.
 *
 * @param state of a run that has ended, with `json_parser.struct`; a structure of the legacy parser is left out
 */
export function columnPaths(state: AnyObject, mappings: Mappings): ColumnPaths {
  const found = new Found();
  const struct = getKey(state, 'json_parser.struct');
  const version = getKey(state, 'json_parser.structVersion');
  const isOurs = isInteger(version) && numberOf(version) === STRUCT_VERSION;
  if (struct !== undefined && isOurs) {
    const structure = new Structure(() => undefined);
    structFromJson(struct, structure);
    for (const [dataType, item] of structure.types)
      if (!mappings.has(dataType)) addItems(found, item, { dataType, above: '' });
  }
  for (const [dataType, mapping] of mappings) addMapped(found, mapping, { dataType, above: '' });
  return found.tables;
}

class Found {
  readonly tables = new Map<string, Map<string, ColumnPath[]>>();

  add(table: string, column: string, from: ColumnPath): void {
    const columns = this.tables.get(table) ?? new Map<string, ColumnPath[]>();
    this.tables.set(table, columns.set(column, [...(columns.get(column) ?? []), from]));
  }
}

/** Data type, and the path in front of what is looked at. */
interface At {
  readonly dataType: string;
  readonly above: string;
}

function addItems(found: Found, item: StructureNode, at: At): void {
  const table = safeName(item.path);
  if (item.kind === 'scalar') found.add(table, 'data', { dataType: at.dataType, path: at.above });
  else addFields(found, table, item, at);
}

function addFields(found: Found, table: string, node: StructureNode, { dataType, above }: At): void {
  for (const [key, child] of node.props) {
    const path = below(above, key);
    if (child.kind === 'object') addFields(found, table, child, { dataType, above: path });
    else if (child.item !== undefined) addItems(found, child.item, { dataType, above: `${path}[]` });
    else found.add(table, child.name ?? '', { dataType, path });
  }
}

function addMapped(found: Found, mapping: Mapping, { dataType, above }: At): void {
  for (const entry of mapping.entries) {
    if (entry.kind === 'self' || entry.kind === 'user') continue;
    const path = entry.path.split(entry.delimiter).reduce(below, above);
    if (entry.kind === 'table') addMapped(found, entry.mapping, { dataType, above: `${path}[]` });
    else found.add(mapping.table, entry.column, { dataType, path });
  }
}

function below(above: string, key: string): string {
  return above === '' ? key : `${above}.${key}`;
}
