import { trimEnd } from '../lib/trim.ts';

/** Returns the link with the code behind the `#`, which browsers do not send: so it is in no access log. */
export function consoleLink(url: string, code: string): string {
  return `${trimEnd(url, '/')}/#code=${code}`;
}
