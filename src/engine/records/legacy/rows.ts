import { rowLine } from '../../../lib/csv/write.ts';
import { RecordError } from '../../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isList,
  isObject,
  isScalar,
  keysOf,
  md5,
  objectOf,
  serialize,
  sizeOf,
  toText,
  type AnyObject,
  type Json,
  type JsonText,
} from '../../../lib/json/index.ts';
import type { Log } from '../../../lib/log.ts';
import type { PageTables } from '../lines.ts';
import { DATA_COLUMN, isHollow } from './learn.ts';
import { createPlan, type LegacyPlan } from './plan.ts';
import type { LegacyStruct } from './struct.ts';

/** The column of a nested table that holds the link id of the row around. */
const PARENT_COLUMN = 'JSON_parentId';

/** Writes the rows of a learned struct as lines. */
export interface LegacyWriter {
  /** Writes rows of a type; its table is opened even when there are none. */
  write(type: string, rows: Iterable<Json>, extra: AnyObject, tables: PageTables): void;
}

/** @param extraColumns by data type: all extra columns of the table, in order */
export function createLegacyWriter(
  struct: LegacyStruct,
  extraColumns: ReadonlyMap<string, readonly string[]>,
  jsonText: JsonText,
  log: Log,
): LegacyWriter {
  const plans = new Map<string, LegacyPlan>();
  const itemPlans = new Map<string, LegacyPlan>();

  const planOf = (type: string, columns: readonly string[], replaced: readonly string[]): LegacyPlan => {
    const key = JSON.stringify([type, columns, replaced]);
    const plan = plans.get(key) ?? createPlan(struct, type, columns, replaced);
    plans.set(key, plan);
    return plan;
  };

  const itemPlanOf = (type: string): LegacyPlan => {
    const plan = itemPlans.get(type) ?? createPlan(struct, type, [PARENT_COLUMN], [PARENT_COLUMN]);
    itemPlans.set(type, plan);
    return plan;
  };

  const writeTable = (plan: LegacyPlan, rows: Iterable<Json>, extra: AnyObject, tables: PageTables): void => {
    const lines = tables.open(plan.layout);
    for (const row of rows)
      lines.add(rowLine(cellsOf(plan, withExtra(row, extra, jsonText), () => '', tables)));
  };

  /** @param outer link id of the row around a nested object; empty for a row of a table */
  const cellsOf = (plan: LegacyPlan, row: AnyObject, outer: () => string, tables: PageTables): string[] => {
    const cells = Array.from(plan.layout.columns, () => '');
    let link: string | undefined;
    const linkOf = (): string => (link ??= `${plan.type}_${md5(serialize(row) + outer())}`);
    for (const { property, kind, cell, nested } of plan.fields) {
      const value = getKey(row, property);
      if (value === undefined || isBlank(value)) continue;
      if (nested !== undefined && isObject(value)) {
        const inner = cellsOf(nested.plan, value, linkOf, tables);
        inner.forEach((text, index) => {
          const target = nested.cells[index] ?? -1;
          if (target >= 0 && text !== '') cells[target] = text;
        });
      } else if (kind.startsWith('arrayOf')) {
        cells[cell] = linkOf();
        writeTable(
          itemPlanOf(`${plan.type}.${property}`),
          isList(value) ? value : [value],
          { [PARENT_COLUMN]: linkOf() },
          tables,
        );
      } else cells[cell] = isScalar(value) ? toText(value) : unexpected(plan.type, property, value);
    }
    return cells;
  };

  const unexpected = (type: string, property: string, value: Json): string => {
    log.error(
      `A list or an object in “${type}.${property}”, where a single value was expected, is written as JSON text`,
    );
    return jsonText(value);
  };

  return {
    write(type, rows, extra, tables) {
      checkExtra(type, extra);
      writeTable(planOf(type, extraColumns.get(type) ?? keysOf(extra), keysOf(extra)), rows, extra, tables);
    },
  };
}

/** Returns the row as an object, with the extra columns it does not have already. */
function withExtra(row: Json, extra: AnyObject, jsonText: JsonText): AnyObject {
  const object = isObject(row) ? row : { [DATA_COLUMN]: isList(row) ? jsonText(row) : row };
  return sizeOf(extra) === 0 ? object : objectOf([...entriesOf(object), ...entriesOf(extra)]);
}

/** Tells whether a value leaves its cells blank and starts no child rows. */
function isBlank(value: Json): boolean {
  return value === null || (isList(value) ? value.length === 0 : isHollow(value));
}

/** @throws {RecordError} */
function checkExtra(type: string, extra: AnyObject): void {
  for (const [column, value] of entriesOf(extra)) {
    if (!isList(value) || value.length === 0) continue;
    throw new RecordError(
      'records.invalid',
      `The extra column “${column}” of “${type}” is a list, and a cell holds a single value`,
      {
        hint: 'Take one value of it, or map the rows with “mappings”.',
      },
    );
  }
}
