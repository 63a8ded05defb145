import type { Contexts, Evaluate } from '../shared/evaluate.ts';
import { entriesOf, flattenContext, isObject, objectOf, type AnyObject } from '../../lib/json/index.ts';
import type { JobInvocation } from './run.ts';
import { fieldsOf } from './filter.ts';

/**
 * Returns the contexts of the functions of a job invocation: the common ones (`attr`, `time`), its own (`window`,
 * `state`), and
 * - `placeholder`: the values of its placeholders by name, inherited ones too: `{"placeholder": "user-id"}`;
 * - `parent`: in a child, the row that started it, nested keys joined by `.`: `{"parent": "user.email"}`.
 */
export function contextsOf(run: JobInvocation, common: Contexts): Contexts {
  const known = run.own === undefined ? common : { ...common, ...run.own };
  const [row] = run.rows;
  if (row === undefined && run.parameters.length === 0) return known;
  const placeholder = objectOf(run.parameters.map(({ name, value }) => [name, value] as const));
  return row === undefined
    ? { ...known, placeholder }
    : { ...known, placeholder, parent: flattenContext(fieldsOf(row)) };
}

/**
 * Evaluates the functions in the values of a map.
 *
 * @param contexts called only when there is something to evaluate
 * @param at JSON path of the map
 * @throws {FunctionError} with the path of the value
 */
export function evaluateMap(
  map: AnyObject,
  evaluate: Evaluate,
  contexts: () => Contexts,
  at: string,
): AnyObject {
  const entries = entriesOf(map);
  if (!entries.some(([, value]) => isObject(value))) return map;
  const known = contexts();
  return objectOf(entries.map(([key, value]) => [key, evaluate(value, known, `${at}.${key}`)] as const));
}
