import { compilePath } from '../json/index.ts';
import { linkFollower, linkOf, linkOptions } from './follow-link.ts';
import type { PaginationMethod } from './paginator.ts';
import { requestOf } from './request.ts';
import { read } from './settings.ts';

/**
 * The address of the next page in the body (spec extractor 2.5).
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
      urlKey: {
        title: 'Path of the link',
        description: 'Path of the property of the response that holds the address of the next page.',
        type: 'string',
        default: 'next_page',
        examples: ['links.next'],
      },
      delimiter: {
        title: 'Path delimiter',
        description: 'What separates the keys in `urlKey`, for keys that have a dot in their name.',
        type: 'string',
        default: '.',
        examples: ['/'],
      },
      ...linkOptions,
    },
  },
  create(options, job, { at }) {
    const urlKey = read.text(options, 'urlKey', at) ?? 'next_page';
    const delimiter = read.text(options, 'delimiter', at) ?? '.';
    const follow = linkFollower(options, job, at);
    return {
      needs: { paths: [compilePath(urlKey, { delimiter, at: `${at}.urlKey` })] },
      traits: { kind: 'follow', at },
      first: () => ({ request: requestOf(job), state: null }),
      next(page) {
        const link = linkOf(page.values[0], urlKey, at);
        return link === undefined
          ? { stop: { code: 'noLink', path: urlKey } }
          : { request: follow(link), state: null };
      },
    };
  },
};
