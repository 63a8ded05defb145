import { Answer } from '../answer.ts';
import type { Route } from '../route.ts';
import type { OpenApi } from './document.ts';

/** The description of the API, for programs and for people. */
export function docsRoutes(document: () => object): Route[] {
  const shared = { method: 'GET', tag: 'Service', access: 'public', scope: 'plain', status: 200 } as const;
  let page: ((origin: string) => string) | undefined;
  return [
    {
      ...shared,
      path: '/openapi.json',
      summary: 'This description of the API, as OpenAPI 3.1',
      handle: () => new Answer(200, JSON.stringify(document()), { 'content-type': 'application/json' }),
    },
    {
      ...shared,
      path: '/docs',
      summary: 'This description of the API, as a page',
      isOutside: true,
      async handle({ origin }) {
        const { docsPage } = await import('./page.ts');
        // The document is made of our own routes, in the form of the standard.
        page ??= docsPage(document() as OpenApi);
        return new Answer(200, page(origin), PAGE_HEADERS);
      },
    },
  ];
}

/** The page may load nothing, and what it shows is text: these make sure of it. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
};
