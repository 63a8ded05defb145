/** Behind the `#`, which browsers send to nobody: so the code is in no log of an address. */
export function consoleLink(url: string, code: string): string {
  return `${url.replace(/\/+$/, '')}/#code=${code}`;
}
