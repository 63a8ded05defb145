import {
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  withKey,
  type AnyObject,
  type Json,
  type JsonObject,
} from '../lib/json/index.ts';
import type { Imported } from './importing/report.ts';

/**
 * Gives each job of a configuration, and of the rows beside it, the types of its columns, unless it says otherwise.
 *
 * @param configuration what `config.json` holds, or a resource with `configuration` and `rows`
 */
export function withTypedJobs(configuration: AnyObject): AnyObject {
  let typed = changed(configuration, ['parameters', 'config', 'jobs'], typedJobs);
  typed = changed(typed, ['configuration', 'parameters', 'config', 'jobs'], typedJobs);
  return changed(typed, ['rows'], (rows) =>
    isList(rows) ? rows.map((row) => (isObject(row) ? withTypedJobs(row) : row)) : rows,
  );
}

/** Does so with what an importer has made: plain objects, of which nothing but JSON is written. */
export function typedImport(imported: Imported): Imported {
  const configuration = withTypedJobs(imported.configuration as JsonObject) as Imported['configuration'];
  return { ...imported, configuration };
}

function typedJobs(jobs: Json): Json {
  if (!isList(jobs)) return jobs;
  return jobs.map((job) => {
    if (!isObject(job)) return job;
    const typed = getKey(job, 'types') === undefined ? objectOf([...entriesOf(job), ['types', true]]) : job;
    return changed(typed, ['children'], typedJobs);
  });
}

/** Returns an object with another value at a place, where there is one. */
function changed(
  object: AnyObject,
  [key = '', ...rest]: readonly string[],
  change: (value: Json) => Json,
): AnyObject {
  const value = getKey(object, key);
  if (value === undefined) return object;
  if (rest.length === 0) return withKey(object, key, change(value));
  return isObject(value) ? withKey(object, key, changed(value, rest, change)) : object;
}
