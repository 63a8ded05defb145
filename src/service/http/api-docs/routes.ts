import { createHash } from 'node:crypto';
import { SAFE } from '../console/page.ts';
import { Answer } from '../answer.ts';
import type { Route } from '../route.ts';
import type { OpenApi } from './document.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

/** The description of the API, for programs and for people. */
export function docsRoutes(document: () => object): Route[] {
  const shared = { method: 'GET', tag: 'Service', access: 'public', scope: 'plain', status: 200 } as const;
  let text: string | undefined;
  let page: ((origin: string) => string) | undefined;
  return [
    {
      ...shared,
      path: '/openapi.json',
      summary: 'This description of the API, as OpenAPI 3.1',
      handle: () => {
        text ??= JSON.stringify(document());
        return new Answer(200, text, { 'content-type': 'application/json' });
      },
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

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The page may load nothing, runs its own script alone, and stands in no other page: it has the origin of the console. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src ${hashOf(STYLE)}`,
    `script-src ${hashOf(SCRIPT)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  ...SAFE,
};
