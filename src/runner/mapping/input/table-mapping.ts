import type { WhereFilter } from '../../../storage/client/index.ts';
import type { MappingNode } from './entry.ts';
import { fileNameProblem } from './file-name.ts';

/** One entry of `storage.input.tables`. */
export interface InputTableMapping {
  readonly entry: MappingNode;
  /** Id of the table. */
  readonly source: string;
  /** Name of the file in `in/tables`. */
  readonly name: string;
  /** All when it is undefined. */
  readonly columns: readonly string[] | undefined;
  readonly where: WhereFilter | undefined;
  readonly limit: number | undefined;
  /** Only rows that changed since the last successful run. */
  readonly isAdaptive: boolean;
  readonly changedSince: string | undefined;
  readonly changedUntil: string | undefined;
}

/**
 * Reads the mappings of the tables to fetch. `column_types` without `columns` names the columns; its types,
 * `overwrite`, `use_view` and `keep_internal_timestamp_column` are for workspaces and change nothing in a file.
 */
export function readTableMappings(
  input: MappingNode,
  warn: (message: string) => void,
): readonly InputTableMapping[] {
  const mappings = input.nodes('tables').map((entry) => readTable(entry, warn));
  const first = new Map<string, InputTableMapping>();
  for (const mapping of mappings) {
    const { name, entry } = mapping;
    const taken = first.get(name);
    if (name !== '' && taken !== undefined)
      entry.wrong(
        'destination',
        `“${name}” is the file of ${taken.entry.path}, too.`,
        'Give each table a file name of its own.',
      );
    else first.set(name, mapping);
  }
  return mappings;
}

function readTable(entry: MappingNode, warn: (message: string) => void): InputTableMapping {
  const source = entry.text('source') ?? '';
  if (source === '')
    entry.wrong('source', '`source` is missing.', 'It is the id of a table, such as in.c-main.users.');
  const name = entry.text('destination') ?? source;
  const problem = name === '' ? undefined : fileNameProblem(name);
  if (problem !== undefined)
    entry.wrong('destination', `“${name}” cannot be the name of a file: ${problem}.`);
  const columns = entry.texts('columns');
  const typed = entry.nodes('column_types').map((column) => column.text('source') ?? '');
  const chosen = columns.length > 0 ? columns : typed;
  const mapping = {
    entry,
    source,
    name,
    columns: chosen.length > 0 ? chosen : undefined,
    where: readWhere(entry, warn),
    limit: entry.whole('limit') || undefined, // 0 is none, as the service has it
    changedUntil: entry.text('changed_until'),
    ...readSince(entry),
  };
  if (mapping.isAdaptive && (mapping.limit !== undefined || mapping.changedUntil !== undefined))
    warn(
      `${entry.path}: with \`limit\` or \`changed_until\`, “adaptive” leaves rows out for ever: ` +
        'the next run begins at the last import, and not at the last row that was fetched',
    );
  return mapping;
}

function readSince(entry: MappingNode): Pick<InputTableMapping, 'changedSince' | 'isAdaptive'> {
  const since = entry.text('changed_since');
  const days = entry.whole('days') || undefined;
  if (since !== undefined && days !== undefined)
    entry.wrong('days', '`days` and `changed_since` exclude each other.', 'Keep `changed_since`.');
  const isAdaptive = since === 'adaptive';
  return {
    isAdaptive,
    changedSince: isAdaptive ? undefined : (since ?? (days === undefined ? undefined : `-${days} days`)),
  };
}

function readWhere(entry: MappingNode, warn: (message: string) => void): WhereFilter | undefined {
  const column = entry.text('where_column');
  const operator = entry.text('where_operator') ?? 'eq';
  const values = entry.texts('where_values');
  if (operator !== 'eq' && operator !== 'ne') {
    entry.wrong('where_operator', `“${operator}” is no operator.`, 'Write `eq` or `ne`.');
    return undefined;
  }
  if (column === undefined) {
    if (values.length > 0) entry.wrong('where_column', '`where_values` needs `where_column`.');
    return undefined;
  }
  if (values.length === 0) {
    warn(`${entry.path}: \`where_column\` has no \`where_values\`, so all rows are fetched`);
    return undefined;
  }
  return { column, operator, values };
}
