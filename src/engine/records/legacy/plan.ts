import type { TableLayout } from '../parser.ts';
import { legacyHeader, legacyName } from './names.ts';
import type { LegacyKind, LegacyStruct } from './struct.ts';

/** How the rows of one type become cells. */
export interface LegacyPlan {
  readonly type: string;
  /** Name and columns; for a nested object only the columns count. */
  readonly layout: TableLayout;
  readonly fields: readonly LegacyField[];
}

export interface LegacyField {
  readonly property: string;
  readonly kind: LegacyKind;
  /** The cell that takes the value. */
  readonly cell: number;
  /** For an object: its own plan, and for each of its cells the cell of the row that takes it. */
  readonly nested: { readonly plan: LegacyPlan; readonly cells: readonly number[] } | undefined;
}

/**
 * Lays out a table: its columns, those of nested objects with the name of their property in
 * front, then the extra columns. A value goes to the first column of its name; so an extra column that is
 * named like a data column replaces it, and leaves the column of its own blank.
 *
 * @param extraColumns of the table
 * @param replaced the extra columns of this row; they are read as scalars whatever the data says
 */
export function createPlan(
  struct: LegacyStruct,
  type: string,
  extraColumns: readonly string[],
  replaced: readonly string[],
): LegacyPlan {
  const kinds = struct.get(type) ?? new Map<string, LegacyKind>();
  const nestedPlans = new Map<string, LegacyPlan>();
  const raw: string[] = [];
  for (const [property, kind] of kinds) {
    if (kind !== 'object') raw.push(property);
    else {
      const plan = createPlan(struct, `${type}.${property}`, [], []);
      nestedPlans.set(property, plan);
      raw.push(...plan.layout.columns.map((column) => nestedName(property, column)));
    }
  }
  raw.push(...extraColumns);
  const header = legacyHeader(raw);
  const cellOf = (name: string): number => header.indexOf(legacyName(name));

  const all = new Map([...kinds, ...replaced.map((column): [string, LegacyKind] => [column, 'scalar'])]);
  const fields = [...all].map(([property, kind]): LegacyField => {
    const plan = kind === 'object' ? nestedPlans.get(property) : undefined;
    const nested = plan && {
      plan,
      cells: plan.layout.columns.map((column) => cellOf(nestedName(property, column))),
    };
    return { property, kind, cell: cellOf(property), nested };
  });
  return { type, layout: { name: legacyName(type), columns: header }, fields };
}

function nestedName(property: string, column: string): string {
  return `${legacyName(property)}_${column}`;
}
