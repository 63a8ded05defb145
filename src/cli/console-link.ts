import { trimEnd } from '../lib/trim.ts';

/** Behind the `#`, which browsers send to nobody: so the code is in no log of an address. */
export function consoleLink(url: string, code: string): string {
  return `${trimEnd(url, '/')}/#code=${code}`;
}
