import { createHash } from 'node:crypto';
import { notFound } from '../domain/api-error.ts';
import { Answer } from './answer.ts';
import { consoleFiles } from './console/files.ts';
import type { Route } from './route.ts';

/** Makes the routes of the API's description, for programs and for people: a page of Swagger UI. */
export function docsRoutes(document: () => object): Route[] {
  const files = consoleFiles();
  const shared = { method: 'GET', tag: 'Service', access: 'public', scope: 'plain', status: 200 } as const;
  let text: string | undefined;
  let page: string | undefined;
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
      handle() {
        page ??= pageOf(shownOf(document() as OpenApi)); // made of our own routes
        return new Answer(200, page, PAGE_HEADERS);
      },
    },
    ...['swagger-ui.js', 'swagger-ui.css'].map((name): Route => ({
      ...shared,
      path: `/docs/${name}`,
      summary: 'What the page is shown by',
      isOutside: true,
      isHidden: true,
      async handle({ request }) {
        const asset = await files.asset(name, request.headers['accept-encoding'] ?? '');
        if (asset === undefined) throw notFound('Not found');
        return new Answer(200, asset.body, { ...asset.headers, ...FILE_HEADERS });
      },
    })),
  ];
}

interface OpenApi {
  readonly paths: Readonly<Record<string, unknown>>;
  /** Security schemes, and nothing else. */
  readonly components?: object;
}

/**
 * Returns the document for the page: without sign-in, as the page sends no requests, and with the form of a path
 * below a branch described once, at its head.
 */
function shownOf(document: OpenApi): OpenApi {
  const { paths } = document;
  const isOwn = (path: string): boolean => {
    const plain = path.replace('/branch/{branch}', '');
    return plain === path || !(plain in paths);
  };
  const own = Object.fromEntries(Object.entries(paths).filter(([path]) => isOwn(path)));
  return { ...document, components: {}, paths: own };
}

const pageOf = (document: OpenApi): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Storage and configuration service</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"><p>The API as an <a href="v2/storage/openapi.json">OpenAPI document</a>.</p></div>
<script type="application/json" id="document">${JSON.stringify(document).replaceAll('<', '\\u003c')}</script>
<script src="docs/swagger-ui.js"></script>
<script>${SCRIPT}</script>
</body>
</html>
`;

const SCRIPT = `
SwaggerUIBundle({
  spec: JSON.parse(document.getElementById('document').textContent),
  domNode: document.getElementById('page'),
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  deepLinking: true,
  filter: true,
  supportedSubmitMethods: [],
});
`;

const NO_SNIFF = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' } as const;

/**
 * Headers of the page. It cannot be framed and has no origin: so the scripts that show it have no access to the
 * session of the console, and may load and send nothing.
 */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    'sandbox allow-scripts',
    "default-src 'none'",
    "style-src 'self'",
    `script-src 'self' 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-resource-policy': 'same-origin',
  ...NO_SNIFF,
};

/** Headers of the files of a page without an origin, which the browser treats as a foreign one. */
const FILE_HEADERS = {
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'public, max-age=3600',
  ...NO_SNIFF,
};
