import { definition, object, optionalText } from '../../lib/option.ts';
import { getKey, isEmpty, isObject, keysOf, type AnyObject } from '../../lib/json/index.ts';
import { nearest } from '../../lib/suggest.ts';
import { none } from './none.ts';
import type { PaginatedJob, PaginationMethod } from './paginator.ts';
import { invalid, read } from './pagination-settings.ts';

/**
 * Chooses one of several paginations by job.
 *
 * The API answers lists by offset and searches by page number.
 *
 * Configuration; a job without `scroller` takes the `default`, and with neither it has no pagination:
 *
 *     { "pagination": { "method": "multiple", "default": "lists",
 *         "scrollers": { "lists": { "method": "offset", "limit": 2 }, "search": { "method": "pagenum" } } } }
 *     { "jobs": [{ "endpoint": "users" }, { "endpoint": "search", "scroller": "search" }] }
 *
 * Requests:
 *
 *     GET /users?limit=2&offset=0
 *     GET /users?limit=2&offset=2
 *     GET /search?page=1
 *     GET /search?page=2
 *
 * Each pagination may have stop rules of its own, and may itself be `multiple`.
 */
export const multiple: PaginationMethod = {
  method: 'multiple',
  options: {
    type: 'object',
    required: ['scrollers'],
    properties: {
      scrollers: object('Paginations by name', 'The paginations that jobs choose from with `scroller`.', {
        minProperties: 1,
        additionalProperties: definition('pagination'),
        examples: [{ lists: { method: 'offset', limit: 100 }, search: { method: 'pagenum' } }],
      }),
      default: optionalText('Default pagination', 'Name of the pagination of jobs that choose none.', [
        'lists',
      ]),
    },
  },
  create(options, job, { at, nested }) {
    const chosen = chooseScroller(options, job, at);
    return chosen === undefined
      ? none.create(options, job, { at, nested })
      : nested(chosen.options, `${at}.scrollers.${chosen.name}`, job);
  },
};

interface Scroller {
  readonly name: string;
  readonly options: AnyObject;
}

/**
 * Chooses the pagination of a job: its own `scroller`, else the `default`, else none.
 *
 * @throws {PaginationError} when there is none of that name
 */
export function chooseScroller(options: AnyObject, job: PaginatedJob, at: string): Scroller | undefined {
  const scrollers = scrollersOf(options, at);
  const own = job.scroller !== undefined && !isEmpty(job.scroller);
  const name = own ? job.scroller : (read.text(options, 'default', at) ?? '');
  if (name === undefined || name === '') return undefined;
  const chosen = getKey(scrollers, name);
  if (isObject(chosen)) return { name, options: chosen };
  if (chosen !== undefined) return { name, options: {} };
  const names = keysOf(scrollers);
  const meant = nearest(name, names);
  const message = own
    ? `The job's scroller \`${name}\` is not defined; defined are ${names.join(', ')}.`
    : `The default scroller \`${name}\` is not defined; defined are ${names.join(', ')}.`;
  const hint =
    meant === undefined
      ? `Add it to \`${at}.scrollers\`, or name a defined one.`
      : `Did you mean \`${meant}\`?`;
  throw invalid(own ? at : `${at}.default`, message, hint);
}

/** Returns all scrollers, each checked to be a map; `[]` is an empty map. */
function scrollersOf(options: AnyObject, at: string): AnyObject {
  const scrollers = read.object(options, 'scrollers', at);
  if (scrollers === undefined)
    throw invalid(
      `${at}.scrollers`,
      '`scrollers` is missing or empty.',
      'Give at least one pagination by name.',
    );
  for (const name of keysOf(scrollers)) read.object(scrollers, name, `${at}.scrollers`);
  return scrollers;
}
