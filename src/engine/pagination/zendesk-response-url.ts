import { getKey } from '../../lib/json/index.ts';
import { linkFollower, linkOf, linkOptions, linkSource, urlKey } from './follow-link.ts';
import { leadsOf } from './language.ts';
import type { PaginationMethod } from './paginator.ts';
import { parseQuery } from './parse-query.ts';
import { requestOf } from './request.ts';
import { truncated } from '../../lib/read-settings.ts';

/**
 * Works like `response.url`, for exports by time that always give a next link and refuse one whose `start_time` lies
 * less than some minutes ago.
 *
 * The API answers:
 *
 *     { "tickets": [{ "id": 1 }], "next_page": "https://api.example.com/tickets.json?start_time=1700000000" }
 *
 * Configuration:
 *
 *     { "pagination": { "method": "zendesk.response.url" } }
 *
 * Requests, until `start_time` is later than six minutes ago:
 *
 *     GET /tickets.json?start_time=0
 *     GET https://api.example.com/tickets.json?start_time=1700000000
 */
export const zendeskResponseUrl: PaginationMethod = {
  method: 'zendesk.response.url',
  options: {
    type: 'object',
    properties: {
      urlKey,
      ...linkOptions,
    },
  },
  create(options, job, context) {
    const { at } = context;
    const source = linkSource(options, context);
    const follow = linkFollower(options, job, at);
    return {
      needs: { sources: [source] },
      traits: { kind: 'follow', at, follows: leadsOf(source), mayOverlap: true },
      first: () => ({ request: requestOf(job), state: null }),
      next(page) {
        const link = linkOf(page.read[0], source);
        if (link === undefined) return { stop: { code: 'noLink', path: source.text } };
        const start = startTime(link);
        if (start !== undefined && start > page.now / 1000 - NEWEST_START_SECONDS)
          return { stop: { code: 'recentStart' } };
        return { request: follow(link), state: null };
      },
    };
  },
};

const NEWEST_START_SECONDS = 6 * 60;

/** Returns `start_time` of a link or of a bare query string, in Unix seconds. */
function startTime(link: string): number | undefined {
  const query = link.slice(link.indexOf('?') + 1).replace(/#.*$/s, '');
  return truncated(getKey(parseQuery(query), 'start_time'));
}
