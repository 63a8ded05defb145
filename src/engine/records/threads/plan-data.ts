import { hasListIn, itemPlans, type ColumnPlan, type ItemPlan, type ObjectPlan } from '../plan.ts';
import { StructureNode, type ValueKind } from '../structure.ts';
import { SeenValues } from '../types/seen-values.ts';

/** A plan of a table as another thread can get it. */
export interface PlanData {
  readonly path: string;
  readonly kind: ItemPlan['kind'];
  readonly items: ValueKind;
  readonly row: ObjectData;
}

interface ObjectData {
  readonly path: string;
  readonly columns: readonly ColumnData[];
}

interface ColumnData {
  readonly key: string;
  readonly kind: ColumnPlan['kind'];
  readonly object?: ObjectData;
  readonly table?: PlanData;
}

export function planData({ path, kind, node, row }: ItemPlan): PlanData {
  return { path, kind, items: node.kind, row: objectData(row) };
}

function objectData({ path, keys, columns }: ObjectPlan): ObjectData {
  return {
    path,
    columns: columns.map((column, i) => ({
      key: keys[i] ?? '',
      kind: column.kind,
      ...(column.kind === 'object' ? { object: objectData(column.plan) } : {}),
      ...(column.kind === 'array' ? { table: planData(column.table) } : {}),
    })),
  };
}

/** Returns a plan for writing lines: it has no names of columns, which are in the header alone. */
export function planFrom({ path, kind, items, row }: PlanData): ItemPlan {
  const node = new StructureNode(path);
  node.kind = items;
  return {
    node,
    path,
    kind,
    row: objectFrom(row),
    staleBefore: 0,
    scope: () => {
      throw new Error('names of columns are given where the structure is');
    },
  };
}

function objectFrom({ path, columns: list }: ObjectData): ObjectPlan {
  const columns = list.map(({ kind, object, table }): ColumnPlan => {
    if (object !== undefined) return { kind: 'object', plan: objectFrom(object) };
    if (table !== undefined) return { kind: 'array', table: planFrom(table) };
    return { kind: kind === 'null' ? 'null' : 'scalar', seen: new SeenValues() };
  });
  const keys = list.map(({ key }) => key);
  return {
    path,
    keys,
    columns,
    index: new Map(keys.map((key, i) => [key, i])),
    width: columns.reduce((sum, column) => sum + (column.kind === 'object' ? column.plan.width : 1), 0),
    headers: [],
    contents: [],
    hasLists: columns.some(hasListIn),
  };
}

/** Returns a plan and those of all lists below it, in an order that two copies of it share. */
export function tablesOf(plan: ItemPlan): readonly ItemPlan[] {
  return [...itemPlans(plan)];
}
