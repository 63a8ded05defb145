import type { Env } from '../../../lib/env.ts';
import { Answer } from '../answer.ts';
import type { ConsoleFiles } from './files.ts';

/**
 * Paths of the console: each leads to the same page, and the page shows the view of the address.
 * `console/app/views.ts` has the views.
 */
export const PLACES = [
  'tables',
  'sql',
  'sources',
  'new',
  'runs',
  'jobs',
  'files',
  'alerts',
  'tokens',
] as const;

/** Returns the page. @param base path of the address that browsers use, without a slash at the end */
export async function pageAnswer(files: ConsoleFiles, env: Env, base: string): Promise<Answer> {
  const html = await files.page();
  if (html === undefined) return new Answer(200, NOT_BUILT, headersOf(''));
  // The editor makes a style element of its own; no other is allowed.
  const nonce = Buffer.from(env.randomBytes(18)).toString('base64');
  const page = html
    .replaceAll('"./assets/', `"${base}/assets/`)
    .replace('%NONCE%', nonce)
    .replace('%BASE%', base);
  return new Answer(200, page, headersOf(` 'nonce-${nonce}'`));
}

function headersOf(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce}`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-cache',
    'cross-origin-opener-policy': 'same-origin',
    ...SAFE,
  };
}

export const SAFE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>The console is not built</title>
<h1>The console is not built</h1>
<p>This service runs from its sources. <code>npm run build</code> builds the console; then load this page again.</p>
<p>The API answers, and is <a href="docs">described here</a>.</p>
</html>
`;
