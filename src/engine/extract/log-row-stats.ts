import type { Job } from '../jobs/index.ts';
import { encodeExact, getKey, isObject, keysOf, type Json } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import { nearMiss } from '../pagination/index.ts';
import type { Miss, RowSteps, RowWatch } from '../records/steps/index.ts';
import { shownText } from '../../lib/shown-text.ts';

const SHOWN_FIELDS = 20;

/** Logs the effects of a job's row settings, and the paths that they never found. */
export function logRowStats(
  job: Job,
  { steps, watch }: { readonly steps: RowSteps | undefined; readonly watch: RowWatch },
  log: Log,
): void {
  if (steps === undefined || (watch.sample ?? watch.record) === undefined) return;
  const fields = { job: job.name };
  const { asked, leftOut, expanded, childless } = watch;
  if (childless > 0) {
    const level = childless === expanded ? 'warn' : 'info';
    log[level](`${childless} of ${expanded} rows have nothing that “expand” could make rows of`, fields);
  }
  if (asked > 0 && steps.where !== undefined) {
    // a condition that looks at no row is meant to keep none: the job is there for its children
    const isMeant = steps.where.needs.origins.length === 0;
    const level = leftOut === asked && !isMeant ? 'warn' : 'info';
    const children =
      leftOut > 0 && job.children.length > 0
        ? '; their children were asked for all the same, as “recursionFilter” is for them'
        : '';
    log[level](
      `${leftOut} of ${asked} rows left out by “where” (kept: ${steps.where.text})${children}`,
      fields,
    );
  }
  const told = new Set<string>();
  for (const miss of watch.misses()) {
    const warning = missWarning(job, miss, steps, watch);
    if (warning === undefined) continue;
    told.add(miss.at);
    log.warn(warning, { ...fields, path: miss.at });
  }
  for (const [at, name] of steps.columns) {
    if (watch.isFilled(at) || told.has(at) || (asked > 0 && asked === leftOut)) continue;
    log.warn(`The column “${name}” got no value in any row`, { ...fields, path: at });
  }
  for (const { key, text } of steps.unused())
    log.warn(`“${text}” in “${key}” is no field of any row. ${fieldsOf(watch.sample ?? null)}`, {
      ...fields,
      path: `${job.at}.${key}`,
    });
}

/** Returns the warning of a field that no row has. If it may be absent, it is a mistake only beside a similar name. */
function missWarning(job: Job, { path, at }: Miss, steps: RowSteps, watch: RowWatch): string | undefined {
  const isRecord = at === `${job.at}.expand` || at === `${job.at}.expand.with`;
  const sample = (isRecord ? watch.record : watch.sample) ?? null;
  const meant = nearMiss(path, sample);
  const isWhere = at === `${job.at}.where`;
  if (meant === undefined && isWhere && asksForAbsence(getKey(job.rowSettings, 'where') ?? null))
    return undefined;
  if (meant === undefined && !isWhere && watch.isFilled(at)) return undefined;
  const column = steps.columns.find(([, name]) => isWhere && name === path.text);
  const has =
    meant !== undefined
      ? `they have “${meant}”. Correct the path`
      : column !== undefined
        ? 'It is a column of this job, and columns are computed from the rows that “where” keeps. Write its source into the condition'
        : fieldsOf(sample);
  return `No row has “${path.text}”${meant === undefined ? `. ${has}` : `; ${has}`}`;
}

function fieldsOf(row: Json): string {
  if (!isObject(row)) return 'The rows are no objects: write “.” for the row itself';
  const names = keysOf(row);
  const shown = names.slice(0, SHOWN_FIELDS).map((name) => `“${shownText(name)}”`);
  return `They have ${shown.join(', ')}${names.length > SHOWN_FIELDS ? ` and ${names.length - SHOWN_FIELDS} more` : ''}`;
}

/** Tells whether a condition is about absence: an API may leave out empty values. */
function asksForAbsence(where: Json): boolean {
  return /"is":"(?:absent|present|empty|notEmpty|false|differs)"|"not":/.test(encodeExact(where));
}
