import type { Env } from '../../../lib/env.ts';
import { Answer } from '../answer.ts';
import { SAFE } from './page.ts';

/** Result of a login, for the tab in which a person logged in. */
export interface LoginPage {
  readonly title: string;
  readonly text: string;
}

/** Returns the page. It has no script, and nothing of it is kept. */
export function loginPage(env: Env, status: number, { title, text }: LoginPage): Answer {
  const nonce = Buffer.from(env.randomBytes(18)).toString('base64');
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
  const html = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style nonce="${nonce}">:root{color-scheme:light dark}body{font:1.05rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}h1{font-size:1.5rem}</style>
<main><h1>${escaped(title)}</h1>
<p>${escaped(text)}</p></main>
</html>
`;
  return new Answer(status, html, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-store',
    ...SAFE,
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
