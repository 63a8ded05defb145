import type { TriedRequest, TriedTable } from '../../data/client.ts';

/** A request of a trial, and of which row of the configuration it is. */
export interface ShownRequest extends TriedRequest {
  readonly key: string;
  readonly row: string | undefined;
}

/** The lines of each table that a row of an answer has become. */
export type Landing = ReadonlyMap<TriedTable, ReadonlySet<number>>;

/** Returns the line in the table of its job; undefined if it is unknown. */
export function lineOf({ took }: ShownRequest, index: number): number | undefined {
  return took?.table === undefined ? undefined : took.table.from + index;
}

/** Returns the line of a row, and the lines of the tables of its lists: these name their parent line in a column. */
export function landingOf(
  request: ShownRequest,
  index: number | undefined,
  tables: readonly TriedTable[],
): Landing {
  const landing = new Map<TriedTable, ReadonlySet<number>>();
  const main = tables.find(({ row, name }) => row === request.row && name === request.took?.table?.name);
  const line = index === undefined ? undefined : lineOf(request, index);
  if (main === undefined || line === undefined) return landing;
  const own = tables.filter(({ row }) => row === request.row);
  const follow = (table: TriedTable, lines: ReadonlySet<number>): void => {
    landing.set(table, lines);
    const keys = new Set([...lines].flatMap((at) => keysOf(table, at)));
    for (const child of own) {
      if (landing.has(child)) continue;
      const column = child.columns.findIndex(
        (name) => name === 'JSON_parentId' || name === `${table.name}_pk`,
      );
      const found =
        column < 0 ? [] : child.rows.flatMap((row, at) => (keys.has(row[column] ?? '') ? [at] : []));
      if (found.length > 0) follow(child, new Set(found));
    }
  };
  follow(main, new Set([line]));
  return landing;
}

/** Returns the values by which lines of other tables may refer to a line: a cell made for that, or its key. */
function keysOf({ rows, columns, primaryKey }: TriedTable, at: number): readonly string[] {
  const cells = rows[at];
  if (cells === undefined) return [];
  const key = primaryKey.map((name) => cells[columns.indexOf(name)] ?? '').join(',');
  return [...cells, key].filter((cell) => cell !== '');
}
