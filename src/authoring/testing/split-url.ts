/** Host with its port, and the request target, of an absolute address, byte for byte. */
export function splitUrl(url: string): { readonly host: string; readonly target: string } {
  const match = /^https?:\/\/(?:[^/?#]*@)?([^/?#]+)([^#]*)/i.exec(url);
  const [, host = '', rest = ''] = match ?? [];
  return { host, target: rest.startsWith('/') ? rest : `/${rest}` };
}
