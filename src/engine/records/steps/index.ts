import type { CallFunction } from '../../shared/evaluate.ts';
import { RecordError } from '../../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { compileCondition, needsOf, type Condition, type SourceNeeds } from '../../language/index.ts';
import { compileColumns } from './columns.ts';
import { compileExpand } from './expand.ts';
import { compileFields, type FieldStep } from './fields.ts';
import { ROW_KINDS, RowView, type RecordPageFacts } from './view.ts';
import type { RowWatch } from './watch.ts';

export type { RecordPageFacts as PageFacts } from './view.ts';
export { RowWatch, type Miss } from './watch.ts';

/** Changes to the rows of a job before they are written: `expand`, `where`, `columns`, `exclude`, `rename`, `case`. */
export interface RowSteps {
  readonly needs: SourceNeeds;
  /** Contexts and other parts of a page that the steps name, so that only those are kept for a second reading. */
  readonly names: ReadonlySet<string>;
  /** JSON paths and names of computed columns. */
  readonly columns: readonly (readonly [at: string, name: string])[];
  /** Condition that rows have to meet, in words; undefined if all are kept. */
  readonly where: Condition | undefined;
  /** Patterns of `exclude` and paths of `rename` that no row had. */
  unused(): readonly { readonly key: 'exclude' | 'rename'; readonly text: string }[];
  /** Changes chunks of rows of one page, the same each time. */
  of(page: RecordPageFacts, watch?: RowWatch): (rows: readonly Json[]) => readonly Json[];
}

/** Present time of the functions of the steps: the time at which the page came. */
export interface StepClock {
  now: number;
}

function fieldStep(settings: AnyObject, at: string): FieldStep | undefined {
  return compileFields(
    {
      exclude: getKey(settings, 'exclude'),
      rename: getKey(settings, 'rename'),
      case: getKey(settings, 'case'),
    },
    at,
  );
}

/** Returns a function from the path of a field to its final name; undefined for a field that is left out. */
export function fieldNames(settings: AnyObject, at: string): (path: string) => string | undefined {
  const step = fieldStep(settings, at);
  return (path) => (step === undefined ? path : step.nameOf(path));
}

/**
 * Compiles the settings of a job that change its rows.
 *
 * @param settings keys of the job
 * @param at JSON path of the job
 * @param callAt makes the functions, by a clock
 * @returns undefined where there are none
 * @throws {RecordError} for the first that cannot be used
 */
export function compileSteps(
  settings: AnyObject,
  at: string,
  callAt: (clock: () => number) => CallFunction,
): RowSteps | undefined {
  refuseRead(settings, at);
  if (writesNone(settings, at)) return NO_TABLE;
  const clock: StepClock = { now: 0 };
  const options = {
    call: callAt(() => clock.now),
    kinds: ROW_KINDS,
    invalid: (path: string, message: string, hint?: string) =>
      new RecordError('records.invalid', message.replace(/\.$/, ''), { where: { path }, hint }),
  };
  const expand = compileExpand(getKey(settings, 'expand'), { ...options, at: `${at}.expand` });
  const where = compileWhere(getKey(settings, 'where'), { ...options, at: `${at}.where` });
  const columns = compileColumns(getKey(settings, 'columns'), { ...options, at: `${at}.columns` });
  const fields = fieldStep(settings, at);
  if (expand === undefined && where === undefined && columns === undefined && fields === undefined)
    return undefined;
  const whereAt = `${at}.where`;
  const needs = needsOf([
    ...(expand?.sources ?? []),
    ...(columns?.sources ?? []),
    ...(where === undefined ? [] : [where]),
  ]);
  return {
    needs,
    names: namesIn(settings),
    columns: columns?.places ?? [],
    where,
    unused: () => fields?.unused() ?? [],
    of(page, watch) {
      const view = new RowView(page, watch);
      const isWanted = (row: Json): boolean => {
        view.see(row);
        view.at = whereAt;
        return where?.holds(view) ?? true;
      };
      return (rows) => {
        clock.now = page.now;
        let out = expand === undefined ? rows : expand.change(rows, view, watch);
        if (watch !== undefined) watch.sample ??= out[0];
        if (where !== undefined) {
          const came = out.length;
          out = out.filter(isWanted);
          if (watch !== undefined) {
            watch.asked += came;
            watch.leftOut += came - out.length;
          }
        }
        if (columns === undefined) return fields === undefined ? out : out.map(fields.change);
        return out.map((row) => {
          view.see(row);
          return columns.put(row, fields === undefined ? row : fields.change(row), view, watch);
        });
      };
    },
  };
}

/** The rows of a job without a table are seen by its pagination and its children, and nothing is written. */
const NO_TABLE: RowSteps = {
  needs: needsOf([]),
  names: new Set(),
  columns: [],
  where: undefined,
  unused: () => [],
  of: () => () => [],
};

function writesNone(settings: AnyObject, at: string): boolean {
  const table = getKey(settings, 'table');
  if (table === false) return true;
  if (table === undefined || isEmpty(table) || table === true) return false;
  throw new RecordError('records.invalid', '“table” is true or false', {
    where: { path: `${at}.table` },
    hint: 'Write "table": false for a job whose rows only start its children; “dataType” names a table.',
  });
}

function compileWhere(
  node: Json | undefined,
  options: Parameters<typeof compileCondition>[1],
): Condition | undefined {
  return node === undefined || isEmpty(node) ? undefined : compileCondition(node, options, 'all');
}

/**
 * Refuses the number of rows so far in a setting: it is unknown for a page that is fetched ahead. @throws {RecordError}
 */
function refuseRead(value: Json, at: string): void {
  const place = placeOfRead(value);
  if (place === undefined) return;
  throw new RecordError('records.invalid', 'The number of rows so far is not known where rows are changed', {
    where: { path: at + place },
    hint: 'Here are “status”, “page”, “rows”, “bytes” and “url” of the answer.',
  });
}

/** Returns the path from a value to the first of these numbers in it. */
function placeOfRead(value: Json): string | undefined {
  if (isList(value)) {
    for (const [i, item] of value.entries()) {
      const inner = placeOfRead(item);
      if (inner !== undefined) return `[${i}]${inner}`;
    }
  } else if (isObject(value)) {
    for (const [key, item] of entriesOf(value)) {
      if (key === 'answer' && item === 'read') return '.answer';
      const inner = placeOfRead(item);
      if (inner !== undefined) return `.${key}${inner}`;
    }
  }
  return undefined;
}

/** Returns the keys at any depth: a superset of the kinds of sources. */
function namesIn(settings: AnyObject): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: Json): void => {
    if (isList(value)) for (const item of value) visit(item);
    else if (isObject(value)) {
      for (const [key, item] of entriesOf(value)) {
        names.add(key);
        visit(item);
      }
    }
  };
  visit(settings);
  return names;
}
