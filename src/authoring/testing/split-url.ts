/** Splits an absolute address into the host with its port, and the request target, byte for byte. */
export function splitUrl(url: string): { readonly host: string; readonly target: string } {
  const match = /^https?:\/\/(?:[^/?#]*@)?([^/?#]+)([^#]*)/i.exec(url);
  const [, host = '', rest = ''] = match ?? [];
  return { host, target: rest.startsWith('/') ? rest : `/${rest}` };
}
