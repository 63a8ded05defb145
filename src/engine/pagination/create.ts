import type { CallFunction } from '../shared/evaluate.ts';
import type { JobRequest } from '../shared/message.ts';
import { getKey, isInteger, isObject, type AnyObject, type Json } from '../../lib/json/index.ts';
import { nearest } from '../../lib/suggest.ts';
import { PAGINATION_METHODS } from './methods.ts';
import { chooseScroller, multiple } from './multiple.ts';
import { none } from './none.ts';
import type { GuardOptions } from './page-guard.ts';
import type { PaginatedJob, PaginationMethod, Paginator } from './paginator.ts';
import { invalid, read } from './pagination-settings.ts';
import { withRestart } from './restart.ts';
import { emptyBody } from './stops/empty-body.ts';
import { forceStop, type ParseTime } from './stops/force-stop.ts';
import { limitStop } from './stops/limit-stop.ts';
import { emptyPage, emptyPageOf } from './stops/empty-page.ts';
import { nextPageFlag } from './stops/next-page-flag.ts';
import { stopWhen } from './stops/stop-when.ts';
import { withStops } from './stops/compose.ts';

export interface PaginatorContext {
  /** {@link PAGINATION_METHODS} by default. */
  readonly methods?: readonly PaginationMethod[];
  /** Reads the relative times of `forceStop.time`. */
  readonly parseTime: ParseTime;
  /** Calls the functions in sources; without it they are refused. */
  readonly call?: CallFunction | undefined;
  /** The job's request as written, in which functions have no values yet. */
  readonly written?: JobRequest;
  /** JSON path of the options, for messages; `parameters.api.pagination` by default. */
  readonly at?: string;
}

/**
 * Creates the paginator of one run of a job, with its stop rules around it: empty body, `limitStop`, `forceStop`,
 * `nextPageFlag`, `stopWhen`, `emptyPage`, then the method. Options that are no map or have no method mean one request.
 *
 * @param options the `pagination` node of the configuration
 * @param job the job's first request, functions evaluated
 * @throws {PaginationError} when the options are wrong
 */
export function createPaginator(options: Json, job: PaginatedJob, context: PaginatorContext): Paginator {
  const at = context.at ?? DEFAULT_AT;
  const node: AnyObject = isObject(options) ? options : {};
  checkPages(node, at);
  const nested = (inner: Json, innerAt: string, of: PaginatedJob = job): Paginator =>
    createPaginator(inner, of, { ...context, at: innerAt });
  const method = methodOf(node, context.methods ?? PAGINATION_METHODS, at);
  const given = { at, nested, call: context.call, written: context.written };
  const paginator = withRestart(node, job, given, (from) => method.create(node, from, given));
  const rules = [
    emptyBody,
    limitStop(node, { at, call: context.call }),
    forceStop(node, at, context.parseTime),
    nextPageFlag(node, { at, call: context.call }),
    stopWhen(node, { at, call: context.call }),
    emptyPage(node, at),
  ];
  return withStops(
    paginator,
    rules.filter((rule) => rule !== undefined),
  );
}

/**
 * Returns the facts that the guard needs of a pagination. With `multiple`, the pagination that the job chose comes
 * first.
 *
 * @throws {PaginationError} when `maxPages` is not a whole number
 */
export function guardOptionsOf(options: Json, job: PaginatedJob, at: string = DEFAULT_AT): GuardOptions {
  if (!isObject(options)) return {};
  const maxPages = read.count(options, 'maxPages', at);
  const own: GuardOptions = {
    ...(maxPages === undefined ? {} : { maxPages }),
    ...(emptyPageOf(options, at) === 'goOn' ? { emptyGoesOn: true } : {}),
    ...(read.flag(options, 'firstMayRepeat', at) === true ? { firstMayRepeat: true } : {}),
  };
  if (getKey(options, 'method') !== multiple.method) return own;
  const chosen = chooseScroller(options, job, at);
  return chosen === undefined
    ? own
    : { ...own, ...guardOptionsOf(chosen.options, job, `${at}.scrollers.${chosen.name}`) };
}

const DEFAULT_AT = 'parameters.api.pagination';

function methodOf(options: AnyObject, methods: readonly PaginationMethod[], at: string): PaginationMethod {
  const name = read.text(options, 'method', at) ?? none.method;
  const found = methods.find(({ method }) => method === name);
  if (found !== undefined) return found;
  if (name === none.method) return none;
  const names = methods.map(({ method }) => method);
  const meant = nearest(name, names);
  throw invalid(
    `${at}.method`,
    `The pagination method \`${name}\` is not known.`,
    `${meant === undefined ? '' : `Did you mean \`${meant}\`? `}Known are ${names.join(', ')}.`,
  );
}

/** Checks `pages`: it has no effect here, but a wrong value is refused. */
function checkPages(options: AnyObject, at: string): void {
  const value = getKey(options, 'pages');
  if (value === undefined || value === null || isInteger(value)) return;
  if (typeof value === 'string' && /^\d+$/.test(value)) return;
  const hint = 'It has no effect here; to end after some pages write `"forceStop": { "pages": 10 }`.';
  throw invalid(`${at}.pages`, '`pages` must be a whole number.', hint);
}
