import { option, text } from '../../lib/option.ts';
import { compileSource } from '../language/index.ts';
import { includedParams, includeParams } from './include-params.ts';
import type { PaginationMethod } from './paginator.ts';
import { requestOf } from './request.ts';
import { invalid, read } from './pagination-settings.ts';

/**
 * Follows the address of the next page in the `Link` header (RFC 8288).
 *
 * The API answers rows, and beside them:
 *
 *     Link: <https://api.example.com/users?page=2>; rel="next", <https://api.example.com/users?page=9>; rel="last"
 *
 * Configuration:
 *
 *     { "pagination": { "method": "link" } }
 *
 * Requests, until there is no link of that relation:
 *
 *     GET /users
 *     GET https://api.example.com/users?page=2
 *
 * A relative link is resolved against the page it came with.
 */
export const linkHeader: PaginationMethod = {
  method: 'link',
  options: {
    type: 'object',
    properties: {
      rel: text('Relation', 'Relation of the link to follow.', { default: 'next', examples: ['next'] }),
      plain: option(
        'Relation as one text',
        'Compares the relation by its letters, as simple clients do: neither `Next` nor `next last` is `next`, and the last of several links counts.',
        { type: 'boolean', default: false, examples: [true] },
      ),
      includeParams,
    },
  },
  create(options, job, { at }) {
    const rel = read.text(options, 'rel', at) ?? 'next';
    const isPlain = read.flag(options, 'plain', at) === true;
    const link = compileSource(isPlain ? { link: rel, plain: true } : { link: rel }, {
      at: `${at}.rel`,
      invalid,
    });
    const request = requestOf(job);
    const base = includedParams(options, at)(request);
    return {
      needs: { sources: [link] },
      traits: { kind: 'follow', at, follows: ['header link'] },
      first: () => ({ request, state: null }),
      next: ({ read: [address] }) =>
        typeof address === 'string'
          ? { request: { ...base, endpoint: address, fromResponse: true }, state: null }
          : { stop: { code: 'noLinkHeader', rel } },
    };
  },
};
