import { parseLinkHeader } from '../language/link-header.ts';
import type { Observation, PaginationMethod } from './paginator.ts';
import { requestOf, withoutParams } from './request.ts';
import { resolveReference } from '../language/resolve-reference.ts';
import { read } from './settings.ts';
import { includeParams } from './shared-options.ts';

/**
 * The address of the next page in the `Link` header (RFC 8288).
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
      rel: {
        title: 'Relation',
        description: 'Relation of the link to follow.',
        type: 'string',
        default: 'next',
        examples: ['next'],
      },
      includeParams,
    },
  },
  create(options, job, { at }) {
    const rel = (read.text(options, 'rel', at) ?? 'next').toLowerCase();
    const request = requestOf(job);
    const base = (read.flag(options, 'includeParams', at) ?? false) ? request : withoutParams(request);
    return {
      needs: { headers: ['link'] },
      traits: { kind: 'follow', at },
      first: () => ({ request, state: null }),
      next(page) {
        const link = linkOf(page, rel);
        return link === undefined
          ? { stop: { code: 'noLinkHeader', rel } }
          : { request: { ...base, endpoint: link, fromResponse: true }, state: null };
      },
    };
  },
};

/** The first link of that relation whose context is the page itself. */
function linkOf(page: Observation, rel: string): string | undefined {
  const link = parseLinkHeader(page.headers['link'] ?? '').find(
    ({ rels, anchor }) => rels.includes(rel) && (anchor === undefined || isPage(anchor, page.url)),
  );
  return link === undefined ? undefined : resolveReference(link.target, page.url);
}

/** A part of the page (`#part`) is not the page. */
function isPage(anchor: string, url: string): boolean {
  return !anchor.includes('#') && resolveReference(anchor, url) === url;
}
