import { text } from '../../lib/option.ts';
import { linkFollower, linkOf, linkOptions, linkSource, urlKey } from './follow-link.ts';
import { leadsOf } from './language.ts';
import type { PaginationMethod } from './paginator.ts';
import { requestOf } from './request.ts';
import { read } from './pagination-settings.ts';

/**
 * Follows the address of the next page in the body.
 *
 * The API answers with a link until there are no more pages:
 *
 *     { "items": [{ "id": 1 }], "links": { "next": "https://api.example.com/users?page=2" } }
 *
 * Configuration:
 *
 *     { "pagination": { "method": "response.url", "urlKey": "links.next" } }
 *
 * Requests:
 *
 *     GET /users
 *     GET https://api.example.com/users?page=2
 *
 * The link may be relative to `baseUrl`. Parameters that are sent with it (`includeParams`) override those of the
 * same name in the link.
 */
export const responseUrl: PaginationMethod = {
  method: 'response.url',
  options: {
    type: 'object',
    properties: {
      urlKey,
      delimiter: text(
        'Path delimiter',
        'What separates the keys in `urlKey`, for keys that have a dot in their name.',
        { default: '.', examples: ['/'] },
      ),
      ...linkOptions,
    },
  },
  create(options, job, context) {
    const { at } = context;
    const source = linkSource(options, context, { delimiter: read.text(options, 'delimiter', at) });
    const follow = linkFollower(options, job, at);
    return {
      needs: { sources: [source] },
      traits: { kind: 'follow', at, follows: leadsOf(source) },
      first: () => ({ request: requestOf(job), state: null }),
      next(page) {
        const link = linkOf(page.read[0], source);
        return link === undefined
          ? { stop: { code: 'noLink', path: source.text } }
          : { request: follow(link), state: null };
      },
    };
  },
};
