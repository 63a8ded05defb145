import type { NameScope } from './names.ts';
import type { Structure, StructureNode } from './structure.ts';
import type { SeenValues } from './types/seen-values.ts';

/** How the properties of one kind of object become cells. Built from the structure, again after each change. */
export interface ObjectPlan {
  /** Raw path, in front of link ids. */
  readonly path: string;
  readonly keys: readonly string[];
  readonly columns: readonly ColumnPlan[];
  readonly index: ReadonlyMap<string, number>;
  /** Cells that a missing object leaves blank. */
  readonly width: number;
  readonly headers: readonly string[];
  /** Contents of the cells under each header: nothing yet, text, or the link id of a list. */
  readonly contents: readonly ('null' | 'text' | 'link')[];
  /** There are lists in it, or in an object below it: they need a link. */
  readonly hasLists: boolean;
}

export type ColumnPlan =
  | { readonly kind: 'scalar'; readonly seen: SeenValues }
  /** Nothing but null was seen so far. */
  | { readonly kind: 'null'; readonly seen: SeenValues }
  | { readonly kind: 'object'; readonly plan: ObjectPlan }
  | { readonly kind: 'array'; readonly table: ItemPlan };

/** How the items of a list become rows of a table. */
export interface ItemPlan {
  readonly node: StructureNode;
  /** Raw path of the table. */
  readonly path: string;
  /** A list that held nothing but null so far has no columns, as one of empty objects. */
  readonly kind: 'scalar' | 'object';
  readonly row: ObjectPlan;
  /** Pages before this one wrote the table wrongly: a list was a lone value then. */
  readonly staleBefore: number;
  readonly scope: () => NameScope;
}

/** The column of a table whose items are no objects. */
const DATA_COLUMN = 'data';

export function planOf(structure: Structure, item: StructureNode, outerStale = 0): ItemPlan {
  const kind = item.kind === 'scalar' ? 'scalar' : 'object';
  const staleBefore = Math.max(outerStale, item.upgradedAt);
  return {
    node: item,
    path: item.path,
    kind,
    row: kind === 'object' ? objectPlan(structure, item, staleBefore) : scalarRow(item.seen),
    staleBefore,
    scope: () => {
      const scope = structure.scopeOf(item);
      if (kind === 'scalar') scope.reserve(DATA_COLUMN);
      return scope;
    },
  };
}

function scalarRow(seen: SeenValues): ObjectPlan {
  return {
    path: '',
    keys: [DATA_COLUMN],
    columns: [{ kind: 'scalar', seen }],
    index: new Map([[DATA_COLUMN, 0]]),
    width: 1,
    headers: [DATA_COLUMN],
    contents: ['text'],
    hasLists: false,
  };
}

function objectPlan(structure: Structure, node: StructureNode, stale: number): ObjectPlan {
  const keys = [...node.props.keys()];
  const columns: ColumnPlan[] = [];
  const headers: string[] = [];
  const contents: ('null' | 'text' | 'link')[] = [];
  for (const child of node.props.values()) {
    if (child.kind === 'object') {
      const plan = objectPlan(structure, child, stale);
      columns.push({ kind: 'object', plan });
      headers.push(...plan.headers);
      contents.push(...plan.contents);
    } else {
      headers.push(child.name ?? '');
      contents.push(child.item !== undefined ? 'link' : child.kind === 'null' ? 'null' : 'text');
      if (child.item === undefined)
        columns.push({ kind: child.kind === 'null' ? 'null' : 'scalar', seen: child.seen });
      else columns.push({ kind: 'array', table: planOf(structure, child.item, stale) });
    }
  }
  const index = new Map(keys.map((key, i) => [key, i]));
  const hasLists = columns.some(hasListIn);
  return { path: node.path, keys, columns, index, width: headers.length, headers, contents, hasLists };
}

export function hasListIn(column: ColumnPlan): boolean {
  return column.kind === 'array' || (column.kind === 'object' && column.plan.hasLists);
}

/** Yields a plan and those of all lists below it. */
export function* itemPlans(plan: ItemPlan): Iterable<ItemPlan> {
  yield plan;
  const rows = [plan.row];
  for (let row = rows.pop(); row !== undefined; row = rows.pop()) {
    for (const column of row.columns) {
      if (column.kind === 'object') rows.push(column.plan);
      else if (column.kind === 'array') yield* itemPlans(column.table);
    }
  }
}

/** Returns what was seen in each cell of a row; undefined for the links of lists. */
export function seenCells({ columns }: ObjectPlan): readonly (SeenValues | undefined)[] {
  return columns.flatMap((column) =>
    column.kind === 'object' ? seenCells(column.plan) : [column.kind === 'array' ? undefined : column.seen],
  );
}

/** Cells written by the old plan are right under the new one. */
export function sameLayout(old: ItemPlan, plan: ItemPlan): boolean {
  if (old.staleBefore !== plan.staleBefore || old.row.width !== plan.row.width) return false;
  for (let i = 0; i < plan.row.width; i++) {
    if (old.row.headers[i] !== plan.row.headers[i]) return false;
    const content = old.row.contents[i];
    if (content !== plan.row.contents[i] && content !== 'null') return false;
  }
  return true;
}
