import type { ExchangeRequest } from '../engine/recording/exchange.ts';

/** Returns the longest common beginning of addresses, up to a slash. */
export function commonBase(urls: readonly string[]): string {
  const [first, ...others] = urls.map((url) => url.replace(/[?#].*$/s, ''));
  if (first === undefined) return '';
  let length = first.length;
  for (const url of others) {
    while (!url.startsWith(first.slice(0, length))) length--;
  }
  const end = first.slice(0, length).lastIndexOf('/') + 1;
  return end > (/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i.exec(first)?.[0].length ?? Infinity)
    ? first.slice(0, end)
    : '';
}

/** Formats a request: `GET users?page=2`, with the body behind it. */
export function lineOf({ method, url, body }: ExchangeRequest, base: string): string {
  const address = url.startsWith(base) ? url.slice(base.length) : url;
  return [method, address, body].filter((part) => part !== undefined && part !== '').join(' ');
}
