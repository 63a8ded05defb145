import type { Evaluate } from '../shared/evaluate.ts';
import { isList, isObject, isScalar, type Json } from '../../lib/json/index.ts';
import type { ExtractionJob } from './job.ts';
import type { Placeholder } from './placeholders.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { jobError } from './read-job.ts';
import type { Parameters } from './run.ts';

/** How often one row may start one child; more is a mistake in the placeholders. */
export const MAX_RUNS = 1_000_000;

/**
 * Returns the invocations of a child for one parent row: one for each combination of the values of its placeholders,
 * the first placeholder varying slowest. An empty list gives no invocation. A child that has no placeholders and
 * inherits none is invoked once for each row; the reference leaves it out.
 *
 * @param rows the rows above the child, the nearest first
 * @param evaluate evaluates the object form; gets the context `placeholder` with `value`
 * @throws {JobError} when a value is missing or is no scalar
 * @throws {FunctionError} when a function fails
 */
export function childRuns(
  child: ExtractionJob,
  rows: readonly Json[],
  inherited: Parameters,
  evaluate: Evaluate,
): readonly Parameters[] {
  const choices = child.placeholders.map((placeholder) => parametersOf(placeholder, rows, evaluate));
  const count = choices.reduce((product, choice) => product * choice.length, 1);
  if (count > MAX_RUNS)
    throw jobError(
      `${child.at}.placeholders`,
      `The lists of the placeholders give ${count} combinations for one parent row; at most ${MAX_RUNS} are run`,
      'Split the child into several with one list each.',
    );
  return combinations(choices).map((own) => override(inherited, own));
}

/** Returns one parameter, or one for each item of a list. */
function parametersOf(placeholder: Placeholder, rows: readonly Json[], evaluate: Evaluate): Parameters {
  const { name, call, at } = placeholder;
  const path = placeholder.path.text;
  const value = findValue(placeholder, rows);
  if (call !== undefined) return [{ name, path, value: evaluated(placeholder, call, value, evaluate) }];
  if (!isList(value)) return [{ name, path, value: scalarOrNull(value, `The value at “${path}”`, at) }];
  return value.map((item) => ({
    name,
    path,
    value: scalarOrNull(item, `An item of the list at “${path}”`, at),
  }));
}

function findValue({ name, level, path, at }: Placeholder, rows: readonly Json[]): Json {
  const row = rows[level - 1];
  const value = row === undefined ? undefined : path.find(row);
  if (value !== undefined) return value;
  throw jobError(
    at,
    `The placeholder “${name}” found nothing at “${path.text}” in the parent row`,
    'Correct the path, or leave such rows out with “recursionFilter”.',
  );
}

/** Evaluates the object form of a placeholder: a function knows no null and no list. */
function evaluated(placeholder: Placeholder, call: Json, value: Json, evaluate: Evaluate): Json {
  const { name, at } = placeholder;
  if (!isScalar(value))
    throw jobError(
      at,
      `The function of the placeholder “${name}” needs one value, and there is ${kindOf(value)} at “${placeholder.path.text}”`,
      'Leave such rows out with “recursionFilter”, or take the value without a function.',
    );
  const result = evaluate(call, { placeholder: { value } }, at);
  if (isScalar(result) || result === null) return result;
  throw jobError(
    at,
    `The placeholder “${name}” gives ${kindOf(result)}, not a value`,
    'Besides “path” it may have “function” and “args”, or “placeholder”: "value".',
  );
}

function scalarOrNull(value: Json, what: string, at: string): Json {
  if (!isObject(value) && !isList(value)) return value;
  throw jobError(
    at,
    `${what} is ${kindOf(value)}; a placeholder needs a text, a number, a boolean or null`,
    'Point the path at a value inside it.',
  );
}

/** Returns the cartesian product; one empty combination of nothing. */
function combinations(choices: readonly Parameters[]): readonly Parameters[] {
  return choices.reduce<readonly Parameters[]>(
    (done, choice) => done.flatMap((before) => choice.map((parameter) => [...before, parameter])),
    [[]],
  );
}

/** Overrides inherited values by own ones of the same name; others follow. */
function override(inherited: Parameters, own: Parameters): Parameters {
  if (inherited.length === 0) return own;
  const byName = new Map(inherited.map((parameter) => [parameter.name, parameter]));
  for (const parameter of own) byName.set(parameter.name, parameter);
  return [...byName.values()];
}
