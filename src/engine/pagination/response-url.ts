import { option, text } from '../../lib/option.ts';
import { compileSource } from '../language/index.ts';
import { linkFollower, linkOf, linkOptions, linkSource, urlKey } from './follow-link.ts';
import { leadsOf } from './language.ts';
import type { PaginationMethod } from './paginator.ts';
import { requestOf } from './request.ts';
import { invalid, read } from './pagination-settings.ts';

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
 * The link may be relative to `baseUrl`, or with `relativeTo` to the page. Parameters that are sent with it (`includeParams`) override those of the
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
      relativeTo: option(
        'Base of a relative link',
        'What a link that is relative is resolved against: `baseUrl`, or the address of the `page` that it came with.',
        { enum: ['baseUrl', 'page', '', null], default: 'baseUrl', examples: ['page'] },
      ),
      ...linkOptions,
    },
  },
  create(options, job, context) {
    const { at } = context;
    const source = linkSource(options, context, { delimiter: read.text(options, 'delimiter', at) });
    const follow = linkFollower(options, job, at);
    const isOfPage = read.word(options, 'relativeTo', at, ['baseUrl', 'page']) === 'page';
    const isQuery = read.flag(options, 'paramIsQuery', at) ?? false;
    const page = isOfPage && !isQuery ? [compileSource({ answer: 'url' }, { at, invalid })] : [];
    return {
      needs: { sources: [source, ...page] },
      traits: { kind: 'follow', at, follows: leadsOf(source) },
      first: () => ({ request: requestOf(job), state: null }),
      next({ read: [value, address] }) {
        const link = linkOf(value, source);
        if (link === undefined) return { stop: { code: 'noLink', path: source.text } };
        const whole = typeof address === 'string' ? URL.parse(link, address)?.href : undefined;
        return { request: follow(whole ?? link), state: null };
      },
    };
  },
};
