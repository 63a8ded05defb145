import type { Contexts, Evaluate } from '../shared/evaluate.ts';
import {
  entriesOf,
  isList,
  isObject,
  objectOf,
  toJsonText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import type { ExtractionJob } from './job.ts';
import { jobError } from './read-job.ts';
import { parentName, type JobInvocation, type InvocationParameter } from './run.ts';
import { readUserData } from './user-data.ts';
import { contextsOf, evaluateMap } from './values.ts';
import type { JobWarning } from './warnings.ts';

/** Inputs of the extra columns, besides the job. */
export interface ExtraOptions {
  /** `userData` of the configuration: a map, or a scalar for the column `userData`. Reaches no children. */
  readonly userData?: Json | undefined;
  /** JSON path of it, such as `parameters.config.userData`. */
  readonly userDataAt: string;
  readonly evaluate: Evaluate;
  /** `attr` and `time`; a child also gets `placeholder` and `parent`. */
  readonly contexts: Contexts;
  readonly warn: (warning: JobWarning) => void;
}

/**
 * Returns the columns that every row of a job invocation gets: user data of the configuration, user data of the job,
 * then `parent_<path>` for each placeholder of a parent row. A later one takes the place of an earlier one of the same
 * name. It evaluates functions, so it is called once for each invocation. An object is kept as JSON text, with a
 * warning.
 *
 * @returns raw column name to a scalar or null
 * @throws {JobError} for a value that is a list
 * @throws {FunctionError} when a function fails
 */
export function extraColumns(job: ExtractionJob, run: JobInvocation, options: ExtraOptions): AnyObject {
  const common = job.level === 0 ? readUserData(options.userData, 'userData') : undefined;
  return objectOf([
    ...columns(common, options.userDataAt, run, options),
    ...columns(job.userData, `${job.at}.userData`, run, options),
    ...run.parameters.flatMap(parentColumn),
  ]);
}

function parentColumn({ path, value }: InvocationParameter): (readonly [string, Json])[] {
  return path === undefined ? [] : [[parentName(path), value]];
}

function columns(
  map: AnyObject | undefined,
  at: string,
  run: JobInvocation,
  options: ExtraOptions,
): [string, Json][] {
  if (map === undefined) return [];
  const values = evaluateMap(map, options.evaluate, () => contextsOf(run, options.contexts), at);
  return entriesOf(values).map(([name, value]) => [name, cellOf(value, `${at}.${name}`, name, options)]);
}

function cellOf(value: Json, at: string, name: string, { warn }: ExtraOptions): Json {
  if (isList(value))
    throw jobError(
      at,
      `The user data “${name}” is a list, and a column holds one value`,
      'Join it by the function “implode”.',
    );
  if (!isObject(value)) return value;
  warn({ path: at, message: `The user data “${name}” is an object: the column holds it as JSON text` });
  return toJsonText(value);
}
